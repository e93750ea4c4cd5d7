/* Parameters are sent with their lengths, in binary form, or as C strings in text form. Prepared
 * statements have names with a keyed hash of what they are: behind a pooler, another client's
 * statement of the same name would otherwise be executed. One thread at a time. */
#include "store/postgres/session/send.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "store/postgres/session/failure.h"
#include "store/postgres/session/queue.h"

enum { NAME_BYTES = 32, TEXT_FORMAT = 0, BINARY_FORMAT = 1 };

struct parameters {
    Oid *types;
    const char **values;
    int *lengths;
    int *formats;
};

/* libpq finds the end of values in text form at their first NUL byte, and the server refuses those
 * in binary form with an error that would fail the whole batch. */
static bool has_nul(const struct pg_parameter *parameter)
{
    bool is_text = parameter->is_text || parameter->type == PG_TEXT;
    return is_text && !parameter->is_null && parameter->bytes.len > 0 &&
           memchr(parameter->bytes.data, '\0', parameter->bytes.len) != NULL;
}

enum server_outcome pg_send_check(struct pg_session *session, const struct pg_statement *statement,
                                  struct err *err)
{
    check(statement->parameters_n <= PG_PARAMETERS_MOST);
    for (size_t i = 0; i < statement->parameters_n; i++) {
        if (!has_nul(&statement->parameters[i]))
            continue;
        session->failure = (struct pg_failure){.sqlstate = "22021",
                                               .statement = session->queue.statements,
                                               .before_sending = true,
                                               .parameter = i};
        return server_failure_set(SERVER_REFUSED, session->url.target, statement->what,
                                  SLICE_LIT("a text contains U+0000"), err);
    }
    return SERVER_OK;
}

static void bind_parameter(struct arena *arena, const struct pg_parameter *parameter,
                           struct parameters *bound, size_t at)
{
    struct slice bytes = parameter->number_len > 0 ? (struct slice){(const char *)parameter->number,
                                                                    parameter->number_len}
                                                   : parameter->bytes;
    check(bytes.len <= INT32_MAX);
    bound->types[at] = (Oid)parameter->type;
    bound->lengths[at] = (int)bytes.len;
    bound->formats[at] = parameter->is_text ? TEXT_FORMAT : BINARY_FORMAT;
    if (parameter->is_null)
        bound->values[at] = NULL;
    else if (parameter->is_text)
        bound->values[at] = arena_copy(arena, bytes).data;
    else
        bound->values[at] = bytes.len == 0 ? "" : bytes.data;
}

/* In the scratch arena. */
static struct parameters bind_parameters(struct pg_session *session,
                                         const struct pg_statement *statement)
{
    size_t n = statement->parameters_n;
    arena_reset(session->scratch);
    struct parameters bound = {
        .types = arena_array(session->scratch, n, sizeof(Oid)),
        .values = arena_array(session->scratch, n, sizeof(const char *)),
        .lengths = arena_array(session->scratch, n, sizeof(int)),
        .formats = arena_array(session->scratch, n, sizeof(int)),
    };
    for (size_t i = 0; i < n; i++)
        bind_parameter(session->scratch, &statement->parameters[i], &bound, i);
    return bound;
}

/* ---- prepared statements ---- */

static bool is_prepared(const struct pg_session *session, uint64_t hash)
{
    for (size_t i = 0; i < session->prepared_n; i++)
        if (session->prepared[i] == hash)
            return true;
    return false;
}

void pg_send_remember(struct pg_session *session, uint64_t hash)
{
    if (session->prepared_n == session->prepared_capacity) {
        size_t capacity = session->prepared_capacity == 0 ? 64 : 2 * session->prepared_capacity;
        session->prepared = reallocarray(session->prepared, capacity, sizeof(*session->prepared));
        check(session->prepared != NULL);
        session->prepared_capacity = capacity;
    }
    session->prepared[session->prepared_n++] = hash;
}

static bool send_prepare(struct pg_session *session, const struct pg_statement *statement,
                         const char *name, uint64_t hash, const struct parameters *bound)
{
    struct pg_queue *queue = &session->queue;
    if (is_prepared(session, hash) || pg_queue_prepares(queue, hash))
        return true;
    pg_queue_append(queue, (struct pg_entry){.kind = PG_ENTRY_HIDDEN,
                                             .statement = queue->statements,
                                             .is_prepared = true,
                                             .prepares = hash,
                                             .what = statement->what});
    return PQsendPrepare(session->conn, name, statement->sql, (int)statement->parameters_n,
                         bound->types) != 0;
}

/* Of the text and of the types, which the server fixes when it prepares the statement. */
static uint64_t hash_statement(const struct pg_statement *statement, const struct parameters *bound)
{
    struct slice types = {(const char *)bound->types, statement->parameters_n * sizeof(Oid)};
    return hash_text(slice_of(statement->sql)) ^ (types.len == 0 ? 0 : hash_text(types) * 3);
}

bool pg_send_statement(struct pg_session *session, const struct pg_statement *statement)
{
    struct parameters bound = bind_parameters(session, statement);
    int n = (int)statement->parameters_n;
    int result_format = statement->binary_results ? BINARY_FORMAT : TEXT_FORMAT;
    if (!statement->is_prepared || !session->uses_prepared)
        return PQsendQueryParams(session->conn, statement->sql, n, bound.types, bound.values,
                                 bound.lengths, bound.formats, result_format) != 0;
    char name[NAME_BYTES];
    uint64_t hash = hash_statement(statement, &bound);
    snprintf(name, sizeof(name), "berth_%016llx", (unsigned long long)hash);
    return send_prepare(session, statement, name, hash, &bound) &&
           PQsendQueryPrepared(session->conn, name, n, bound.values, bound.lengths, bound.formats,
                               result_format) != 0;
}
