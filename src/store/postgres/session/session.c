/* A connection with what belongs to it: settings, facts about the server, single statements, and
 * streams. Single statements are pipelines of one (pipeline.c). One thread at a time. */
#include "store/postgres/session/session.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "log/log.h"
#include "store/postgres/session/connect.h"
#include "store/postgres/session/exchange.h"
#include "store/postgres/session/failure.h"
#include "store/postgres/session/pipeline.h"
#include "store/postgres/session/session_settings.h"
#include "store/server/io.h"

static struct pg_url copy_url(struct arena *arena, const struct pg_url *url)
{
    struct pg_url copy = {
        .count = url->count,
        .keywords = arena_zalloc(arena, (url->count + 1) * sizeof(char *)),
        .values = arena_zalloc(arena, (url->count + 1) * sizeof(char *)),
        .target = arena_copy(arena, url->target),
    };
    for (size_t i = 0; i < url->count; i++) {
        copy.keywords[i] = arena_copy(arena, slice_of(url->keywords[i])).data;
        copy.values[i] = arena_copy(arena, slice_of(url->values[i])).data;
    }
    return copy;
}

struct pg_session *pg_session_create(const struct server_session_options *options)
{
    struct pg_session *session = calloc(1, sizeof(*session));
    check(session != NULL);
    session->arena = arena_create();
    session->scratch = arena_create();
    session->url = copy_url(session->arena, options->address->url);
    server_session_init(&session->base, options, session->arena);
    return session;
}

void pg_session_set_prepared(struct pg_session *session, enum pg_prepared_use use)
{
    session->prepared_use = use;
}

void pg_session_close(struct pg_session *session)
{
    pg_exchange_drop(session);
}

void pg_session_destroy(struct pg_session *session)
{
    if (session == NULL)
        return;
    pg_exchange_drop(session);
    for (size_t i = 0; i < ROWS_CELLS_MAX; i++)
        buf_free(&session->arrays[i].bytes);
    free(session->queue.entries);
    free(session->prepared);
    arena_destroy(session->scratch);
    arena_destroy(session->arena);
    free(session);
}

bool pg_session_is_open(const struct pg_session *session)
{
    return session->conn != NULL;
}

int pg_session_socket(const struct pg_session *session)
{
    return PQsocket(session->conn);
}

/* An idle connection that can be read has a message, such as why it will be ended, or its end. */
void pg_session_notice_end(struct pg_session *session)
{
    enum { READS_MOST = 3 };
    if (session->conn == NULL || session->queue.is_open)
        return;
    for (int i = 0; i < READS_MOST; i++) {
        if (server_io_wait(session->base.options.meanwhile, PQsocket(session->conn), POLLIN, -1,
                           0) != SERVER_IO_READY)
            return;
        if (PQconsumeInput(session->conn) == 0)
            break;
    }
    pg_exchange_drop(session);
}

bool pg_session_in_transaction(const struct pg_session *session)
{
    PGTransactionStatusType status = PQtransactionStatus(session->conn);
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE;
}

struct slice pg_session_target(const struct pg_session *session)
{
    return session->url.target;
}

const struct pg_failure *pg_session_failure(const struct pg_session *session)
{
    return &session->failure;
}

enum server_reason pg_session_reason(const struct pg_session *session)
{
    return pg_failure_reason(session->failure.sqlstate);
}

const struct pg_server *pg_session_server(const struct pg_session *session)
{
    return &session->server;
}

struct pg_rows *pg_session_kept(struct pg_session *session)
{
    return session->kept;
}

/* ---- statements ---- */

/* Sends what is queued and reads the first result. */
static enum server_outcome finish_single(struct pg_session *session, struct pg_rows *rows,
                                         uint64_t deadline_us, struct err *err)
{
    struct pg_rows found = {0};
    enum server_outcome result = pg_pipeline_send(session, deadline_us, err);
    if (result == SERVER_OK)
        result = pg_pipeline_wait(session, &found, deadline_us, err);
    if (result == SERVER_OK)
        result = pg_pipeline_finish(session, deadline_us, err);
    if (result == SERVER_OK && rows != NULL)
        *rows = found;
    else
        pg_rows_free(&found);
    return result;
}

enum server_outcome pg_session_execute(struct pg_session *session,
                                       const struct pg_statement *statement, struct pg_rows *rows,
                                       uint64_t deadline_us, struct err *err)
{
    enum server_outcome result = pg_pipeline_begin(session, err);
    if (result == SERVER_OK)
        result = pg_pipeline_queue(session, statement, err);
    if (result == SERVER_OK)
        return finish_single(session, rows, deadline_us, err);
    pg_pipeline_abandon(session);
    return result;
}

enum server_outcome pg_session_run(struct pg_session *session, const char *sql, const char *what,
                                   uint64_t deadline_us, struct err *err)
{
    struct pg_statement statement = {.sql = sql, .what = what};
    return pg_session_execute(session, &statement, NULL, deadline_us, err);
}

enum server_outcome pg_session_begin(struct pg_session *session, const char *sql,
                                     uint64_t deadline_us, struct err *err)
{
    enum server_outcome result = pg_pipeline_begin(session, err);
    if (result == SERVER_OK)
        result = pg_pipeline_queue_begin(session, sql, err);
    return result == SERVER_OK ? finish_single(session, NULL, deadline_us, err) : result;
}

/* ---- streams ---- */

enum server_outcome pg_stream_begin(struct pg_session *session,
                                    const struct pg_statement *statement, uint64_t deadline_us,
                                    struct err *err)
{
    struct pg_statement unprepared = *statement;
    unprepared.is_prepared = false; /* the mode below is that of the first entry in the queue */
    unprepared.is_streamed = true;
    enum server_outcome result = pg_pipeline_begin(session, err);
    if (result == SERVER_OK)
        result = pg_pipeline_queue(session, &unprepared, err);
    if (result != SERVER_OK) {
        pg_pipeline_abandon(session);
        return result;
    }
    check(PQsetSingleRowMode(session->conn) == 1);
    return pg_pipeline_send(session, deadline_us, err);
}

enum server_outcome pg_stream_next(struct pg_session *session, struct pg_rows *rows,
                                   uint64_t deadline_us, struct err *err)
{
    pg_rows_free(rows);
    enum server_outcome result = pg_pipeline_next(session, rows, deadline_us, err);
    if (result == SERVER_OK && PQresultStatus(rows->result) == PGRES_SINGLE_TUPLE)
        return SERVER_OK;
    if (result != SERVER_OK && result != SERVER_END)
        return result;
    pg_rows_free(rows);
    result = pg_pipeline_finish(session, deadline_us, err);
    return result == SERVER_OK ? SERVER_END : result;
}

/* ---- connecting ---- */

/* Applies the settings, and learns whether this is the server itself: only then is the process the
 * one that the connection was opened to. */
static enum server_outcome configure(struct pg_session *session, uint64_t deadline_us,
                                     struct err *err)
{
    struct pg_parameter values[PG_SETTINGS_OWN + 1];
    size_t n = pg_settings_values(&session->base.options, values);
    values[n] = pg_int4(PQbackendPID(session->conn));
    struct pg_statement statement = {.sql = PG_SETTINGS_OF_SESSION,
                                     .parameters = values,
                                     .parameters_n = n + 1,
                                     .what = "configured"};
    struct pg_rows rows = {0};
    enum server_outcome result = pg_session_execute(session, &statement, &rows, deadline_us, err);
    if (result != SERVER_OK)
        return result;
    struct pg_server *server = &session->server;
    int64_t backend = 0;
    struct slice address = pg_rows_bytes(&rows, 0, 1);
    bool is_int = pg_rows_int(&rows, 0, 0, &backend);
    *server = (struct pg_server){
        .version = PQserverVersion(session->conn),
        .backend = is_int ? (int)backend : 0,
        .is_pooled = pg_rows_bytes(&rows, 0, 2).data == NULL,
        .uses_tls = PQsslInUse(session->conn) != 0,
    };
    snprintf(server->address, sizeof(server->address), "%.*s", SLICE_ARG(address));
    pg_rows_free(&rows);
    return SERVER_OK;
}

static const char IDENTITY[] =
    "SELECT pg_postmaster_start_time(), (SELECT system_identifier FROM pg_control_system()),"
    " " PG_TIMELINE;

/* A server that does not let the user read it has no identity. */
static enum server_outcome identify(struct pg_session *session, uint64_t deadline_us,
                                    struct err *err)
{
    const struct pg_statement statement = {
        .sql = IDENTITY, .binary_results = true, .what = "identified"};
    struct server_id *id = &session->base.id;
    struct err refused = {.arena = err->arena};
    struct pg_rows rows = {0};
    int64_t system = 0;
    int64_t timeline = 0;
    enum server_outcome result =
        pg_session_execute(session, &statement, &rows, deadline_us, &refused);
    if (result == SERVER_LOST || result == SERVER_TIMEOUT)
        return server_failure_set(result, session->url.target, "used", refused.message, err);
    struct slice started = pg_rows_bytes(&rows, 0, 0);
    bool is_known = result == SERVER_OK && started.len == sizeof(id->started) &&
                    pg_rows_int(&rows, 0, 1, &system);
    bool is_primary = is_known && pg_rows_int(&rows, 0, 2, &timeline);
    session->base.is_standby = is_known && !is_primary;
    if (is_primary) {
        memcpy(&id->started, started.data, sizeof(id->started));
        id->system = (uint64_t)system;
        id->timeline = (uint32_t)timeline;
    }
    pg_rows_free(&rows);
    return SERVER_OK;
}

static enum server_outcome refuse_old(struct pg_session *session,
                                      const struct server_old_primary *old, struct err *err)
{
    const struct server_id *id = &session->base.id;
    struct slice reason = arena_printf(
        err->arena,
        "the server at %s port %s is an old primary on timeline %u, and timeline %u has been used "
        "since; if it was restored on purpose, restart berthd",
        PQhost(session->conn), PQport(session->conn), id->timeline, old->newest);
    if (!old->is_told)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT, "the database '%.*s': %.*s",
                  SLICE_ARG(session->url.target), SLICE_ARG(reason));
    return server_failure_set(SERVER_RETRY, session->url.target, "used", reason, err);
}

/* SERVER_RETRY with *is_old: an old primary, which is not to be used. */
static enum server_outcome examine_server(struct pg_session *session, uint64_t deadline_us,
                                          bool *is_old, struct err *err)
{
    struct server_lineage *lineage = session->base.options.lineage;
    struct server_old_primary old;
    enum server_outcome result = configure(session, deadline_us, err);
    if (result == SERVER_OK && lineage != NULL)
        result = identify(session, deadline_us, err);
    *is_old = result == SERVER_OK && lineage != NULL &&
              !server_lineage_join(lineage, &session->base.id, &old);
    if (*is_old)
        result = refuse_old(session, &old, err);
    if (result != SERVER_OK)
        pg_exchange_drop(session);
    return result == SERVER_LOST ? SERVER_RETRY : result;
}

/* The one notice that matters has no SQLSTATE of its own, and its text is translated; the function
 * that sends it has had its name since 9.1. */
static void take_notice(void *cls, const PGresult *notice)
{
    struct pg_session *session = cls;
    const char *function = PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
    session->base.is_unreplicated |= function != NULL && strcmp(function, "SyncRepWaitForLSN") == 0;
}

/* Tries the hosts after an old primary as well. */
static enum server_outcome connect_and_examine(struct pg_session *session, uint64_t deadline_us,
                                               struct err *err)
{
    size_t attempt = 0;
    struct err old = {.arena = err->arena};
    for (;;) {
        bool is_old;
        struct err failure = {.arena = err->arena};
        enum server_outcome result =
            pg_connect(&session->url, session->base.options.application_name, deadline_us,
                       session->base.options.meanwhile, session->base.stop_fd, &attempt,
                       &session->conn, &session->failure, &failure);
        if (result == SERVER_OK)
            PQsetNoticeReceiver(session->conn, take_notice, session);
        if (result == SERVER_OK)
            result = examine_server(session, deadline_us, &is_old, &failure);
        else
            is_old = false;
        if (is_old && !err_is_set(&old))
            old = failure;
        if (is_old)
            continue;
        const struct err *why = err_is_set(&old) ? &old : &failure;
        if (result != SERVER_OK)
            err_set(err, why->status, why->code, "%.*s", SLICE_ARG(why->message));
        return result != SERVER_OK && err_is_set(&old) ? SERVER_RETRY : result;
    }
}

/* In other encodings, the server converts texts, and refuses those that it cannot convert; in
 * SQL_ASCII, it counts bytes instead of characters, and may contain anything. */
static enum server_outcome check_encoding(const struct pg_session *session, struct err *err)
{
    const char *encoding = PQparameterStatus(session->conn, "server_encoding");
    if (encoding == NULL || strcmp(encoding, "UTF8") == 0)
        return SERVER_OK;
    return server_failure_set(
        SERVER_FAILED, session->url.target, NULL,
        arena_printf(err->arena, "its encoding is %s, and must be UTF8", encoding), err);
}

enum server_outcome pg_session_connect(struct pg_session *session, uint64_t deadline_us,
                                       struct err *err)
{
    pg_exchange_drop(session);
    session->failure = (struct pg_failure){0};
    session->uses_prepared = false;
    enum server_outcome result = connect_and_examine(session, deadline_us, err);
    if (result == SERVER_OK)
        result = check_encoding(session, err);
    if (result != SERVER_OK) {
        pg_exchange_drop(session);
        return result;
    }
    session->is_identified = session->base.id.started != 0;
    enum pg_prepared_use wanted = session->prepared_use;
    session->uses_prepared =
        wanted == PG_PREPARED_ALWAYS ||
        (wanted == PG_PREPARED_AUTO && !session->server.is_pooled && !session->prepared_fail);
    return SERVER_OK;
}
