/* The queue of answers that the server owes. Each entry is one message sequence of the extended
 * protocol; the session's own entries (a statement being prepared, a transaction's settings) are
 * hidden between those of the caller. Single statements are pipelines of one, so that there is one
 * path for results, failures and deadlines.
 *
 * After a failure the rest of the pipeline is read and thrown away, so the caller never sees a
 * pipeline that has failed. An answer of ERROR to a statement before a COMMIT proves that the
 * COMMIT was skipped, since both are before the same synchronisation point. FATAL proves nothing: a
 * pooler reports so that it has lost a server, which may have gone further. One
 * thread at a time. */
#include "store/postgres/session/pipeline.h"

#include "base/clock.h"
#include "store/postgres/session/exchange.h"
#include "store/postgres/session/failure.h"
#include "store/postgres/session/queue.h"
#include "store/postgres/session/send.h"
#include "store/postgres/session/session_settings.h"

enum {
    NOTHING_MOST = 3, /* libpq reports the end of a statement once or twice, unless it is broken */
};

enum server_outcome pg_pipeline_begin(struct pg_session *session, struct err *err)
{
    check(!session->queue.is_open);
    session->failure = (struct pg_failure){0};
    pg_exchange_free_kept(session);
    if (session->conn == NULL || PQenterPipelineMode(session->conn) == 0)
        return pg_exchange_lose(session, NULL, err);
    session->queue.is_open = true;
    session->queue.count = session->queue.next = session->queue.statements = 0;
    return SERVER_OK;
}

/* ---- queueing ---- */

static enum server_outcome queue_statement(struct pg_session *session,
                                           const struct pg_statement *statement,
                                           enum pg_entry_kind kind, struct err *err)
{
    if (!session->queue.is_open)
        return pg_exchange_lose(session, statement->what, err);
    enum server_outcome result = pg_send_check(session, statement, err);
    if (result != SERVER_OK)
        return result;
    if (statement->is_commit)
        session->base.commit = SERVER_COMMIT_SENT;
    if (!pg_send_statement(session, statement))
        return pg_exchange_lose(session, statement->what, err);
    pg_queue_append(&session->queue, (struct pg_entry){.kind = kind,
                                                       .statement = session->queue.statements,
                                                       .is_commit = statement->is_commit,
                                                       .is_prepared = statement->is_prepared &&
                                                                      session->uses_prepared,
                                                       .what = statement->what});
    session->queue.statements += kind == PG_ENTRY_STATEMENT;
    return SERVER_OK;
}

/* Behind a pooler, nothing may be executed by another server than the one that the session knows:
 * what memory knows of its state, of its transactions and of its ids may be wrong there. */
static enum server_outcome queue_check(struct pg_session *session, struct err *err)
{
    struct pg_statement same = {.sql = PG_SERVER_IS_SAME, .what = "used"};
    struct pg_parameter values[PG_SERVER_PARAMETERS];
    if (!session->server.is_pooled || !session->is_identified)
        return SERVER_OK;
    pg_server_values(&session->base.id, values);
    same.parameters = values;
    same.parameters_n = PG_SERVER_PARAMETERS;
    enum server_outcome result = queue_statement(session, &same, PG_ENTRY_HIDDEN, err);
    if (result == SERVER_OK)
        session->queue.entries[session->queue.count - 1].checks_server = true;
    return result;
}

/* Without a transaction of its own, a pipeline is one. */
static bool begins_transaction(const struct pg_session *session,
                               const struct pg_statement *statement)
{
    return session->queue.is_open && session->queue.count == 0 && !statement->is_streamed &&
           PQtransactionStatus(session->conn) == PQTRANS_IDLE;
}

/* Nothing is queued for a statement that cannot be sent. */
enum server_outcome pg_pipeline_queue(struct pg_session *session,
                                      const struct pg_statement *statement, struct err *err)
{
    bool begins = begins_transaction(session, statement);
    enum server_outcome result = begins ? pg_send_check(session, statement, err) : SERVER_OK;
    if (begins && result == SERVER_OK)
        result = queue_check(session, err);
    return result == SERVER_OK ? queue_statement(session, statement, PG_ENTRY_STATEMENT, err)
                               : result;
}

enum server_outcome pg_pipeline_queue_text(struct pg_session *session, const char *sql,
                                           const struct pg_parameter *parameters, size_t count,
                                           const char *what, struct err *err)
{
    const struct pg_statement statement = {.sql = sql,
                                           .parameters = parameters,
                                           .parameters_n = count,
                                           .binary_results = true,
                                           .is_prepared = true,
                                           .what = what};
    return pg_pipeline_queue(session, &statement, err);
}

enum server_outcome pg_pipeline_queue_begin(struct pg_session *session, const char *sql,
                                            struct err *err)
{
    struct pg_statement begin = {.sql = sql};
    struct pg_statement settings = {.sql = PG_SETTINGS_OF_TRANSACTION, .what = "configured"};
    struct pg_parameter values[PG_SETTINGS_OWN];
    settings.parameters = values;
    settings.parameters_n = pg_settings_values(&session->base.options, values);
    enum server_outcome result = queue_statement(session, &begin, PG_ENTRY_STATEMENT, err);
    if (result == SERVER_OK)
        result = queue_check(session, err);
    if (result == SERVER_OK && session->server.is_pooled)
        result = queue_statement(session, &settings, PG_ENTRY_HIDDEN, err);
    return result;
}

enum server_outcome pg_pipeline_start(struct pg_session *session, struct err *err)
{
    if (!session->queue.is_open || PQpipelineSync(session->conn) == 0)
        return pg_exchange_lose(session, NULL, err);
    pg_queue_append(&session->queue, (struct pg_entry){.kind = PG_ENTRY_SYNC});
    return SERVER_OK;
}

enum server_outcome pg_pipeline_send(struct pg_session *session, uint64_t deadline_us,
                                     struct err *err)
{
    enum server_outcome started = pg_pipeline_start(session, err);
    return started == SERVER_OK ? pg_exchange_flush(session, NULL, deadline_us, err) : started;
}

/* ---- results ---- */

static enum server_outcome leave_pipeline(struct pg_session *session, struct err *err)
{
    session->queue.is_open = false;
    return PQexitPipelineMode(session->conn) == 0 ? pg_exchange_lose(session, NULL, err)
                                                  : SERVER_OK;
}

/* Reads and discards everything up to the synchronisation point, and leaves the pipeline. */
static enum server_outcome drain(struct pg_session *session, uint64_t deadline_us, struct err *err)
{
    int nothing = 0;
    while (nothing < NOTHING_MOST) {
        PGresult *result;
        enum server_outcome got = pg_exchange_result(session, NULL, -1, deadline_us, &result, err);
        if (got != SERVER_OK)
            return got;
        bool at_sync = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        nothing = result == NULL ? nothing + 1 : 0;
        PQclear(result);
        if (at_sync)
            return leave_pipeline(session, err);
    }
    return pg_exchange_lose(session, NULL, err);
}

static bool severity_is(const PGresult *result, const char *severity)
{
    const char *found = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    return found != NULL && strcmp(found, severity) == 0;
}

/* Another client of a pooler has made or dropped statements, or a statement's columns have changed:
 * a new connection can repeat the transaction. */
static bool is_about_prepared(const struct pg_entry *entry, const char *sqlstate)
{
    static const char *const states[] = {"26000", "42P05", "0A000"};
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]) && entry->is_prepared; i++)
        if (strcmp(sqlstate, states[i]) == 0)
            return true;
    return false;
}

/* Whether the connection cannot be used any more although the server lives, and why. */
static bool is_useless(struct pg_session *session, const struct pg_entry *entry,
                       const char **reason)
{
    const char *sqlstate = session->failure.sqlstate;
    bool is_prepared_lost = is_about_prepared(entry, sqlstate);
    if (is_prepared_lost)
        session->prepared_fail = strcmp(sqlstate, "0A000") != 0;
    if (entry->checks_server && strcmp(sqlstate, "22P02") == 0)
        *reason = "the pooler has connected to another server";
    return is_prepared_lost || entry->checks_server;
}

/* The server has answered ERROR: it lives, and skips the rest of the pipeline. */
static enum server_outcome take_error(struct pg_session *session, const struct pg_entry *entry,
                                      const PGresult *answer, uint64_t deadline_us, struct err *err)
{
    if (session->base.commit == SERVER_COMMIT_SENT)
        session->base.commit = SERVER_COMMIT_NONE;
    const char *reason = PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY);
    bool is_lost = is_useless(session, entry, &reason);
    enum server_outcome result =
        is_lost ? SERVER_LOST : pg_failure_classify(session->failure.sqlstate);
    server_failure_set(result, session->url.target, entry->what,
                       server_failure_line(err->arena, reason == NULL ? "no reason given" : reason),
                       err);
    /* if draining fails, the connection is closed and the failure is still the statement's */
    if (is_lost)
        pg_exchange_drop(session);
    else
        (void)!drain(session, deadline_us, err);
    return result;
}

static enum server_outcome take_failure(struct pg_session *session, const struct pg_entry *entry,
                                        const PGresult *answer, uint64_t deadline_us,
                                        struct err *err)
{
    pg_failure_read(&session->failure, answer);
    session->failure.statement = entry->statement;
    if (severity_is(answer, "ERROR"))
        return take_error(session, entry, answer, deadline_us, err);
    const char *reason = PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY);
    if (reason == NULL)
        reason = PQresultErrorMessage(answer);
    server_failure_set(SERVER_LOST, session->url.target, entry->what,
                       server_failure_line(err->arena, reason), err);
    pg_exchange_drop(session);
    return SERVER_LOST;
}

/* A COMMIT of a failed transaction succeeds as a ROLLBACK. */
static enum server_outcome take_commit(struct pg_session *session, const struct pg_entry *entry,
                                       PGresult *answer, uint64_t deadline_us, struct err *err)
{
    bool is_done = strcmp(PQcmdStatus(answer), "COMMIT") == 0;
    session->base.commit = is_done ? SERVER_COMMIT_DONE : SERVER_COMMIT_NONE;
    if (is_done)
        return SERVER_OK;
    session->failure = (struct pg_failure){.sqlstate = "25P02", .statement = entry->statement};
    server_failure_set(SERVER_FAILED, session->url.target, entry->what,
                       SLICE_LIT("the transaction had failed before, and was rolled back"), err);
    (void)!drain(session, deadline_us, err);
    return SERVER_FAILED;
}

/* The answer to the synchronisation point: without a transaction of their own, the statements are
 * committed here, which can fail. */
static enum server_outcome take_sync(struct pg_session *session, uint64_t deadline_us,
                                     struct err *err)
{
    struct pg_entry entry = {.statement = session->queue.statements};
    PGresult *answer;
    enum server_outcome got = pg_exchange_result(session, NULL, -1, deadline_us, &answer, err);
    if (got != SERVER_OK)
        return got;
    if (PQresultStatus(answer) == PGRES_PIPELINE_SYNC)
        got = leave_pipeline(session, err);
    else if (answer == NULL)
        got = pg_exchange_lose(session, NULL, err);
    else
        got = take_failure(session, &entry, answer, deadline_us, err);
    PQclear(answer);
    return got;
}

/* The answer to the entry, which is a result and the NULL that ends it. With SERVER_OK, *answer
 * belongs to the caller. */
static enum server_outcome take_answer(struct pg_session *session, const struct pg_entry *entry,
                                       int wake_fd, uint64_t deadline_us, PGresult **answer,
                                       struct err *err)
{
    struct pg_queue *queue = &session->queue;
    enum server_outcome got = SERVER_OK;
    *answer = queue->failed;
    queue->failed = NULL;
    if (*answer == NULL)
        got = pg_exchange_result(session, entry->what, wake_fd, deadline_us, answer, err);
    if (got != SERVER_OK)
        return got;
    ExecStatusType status = PQresultStatus(*answer);
    if (status == PGRES_SINGLE_TUPLE)
        return SERVER_OK;
    bool is_failure = status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
    if (queue->is_at_once && entry->is_commit && !is_failure)
        is_failure = strcmp(PQcmdStatus(*answer), "COMMIT") != 0;
    if (is_failure && *answer != NULL && queue->is_at_once) {
        queue->failed = *answer;
        *answer = NULL;
        return SERVER_WOKEN;
    }
    if (is_failure) {
        got = *answer == NULL ? pg_exchange_lose(session, entry->what, err)
                              : take_failure(session, entry, *answer, deadline_us, err);
    } else if (entry->is_commit) {
        got = take_commit(session, entry, *answer, deadline_us, err);
    }
    if (got == SERVER_OK) {
        PGresult *end;
        got = pg_exchange_result(session, entry->what, -1, deadline_us, &end, err);
        check(got != SERVER_OK || end == NULL);
    }
    if (got == SERVER_OK) {
        session->queue.next++;
        if (entry->prepares != 0)
            pg_send_remember(session, entry->prepares);
        return SERVER_OK;
    }
    PQclear(*answer);
    *answer = NULL;
    return got;
}

/* The answer to the next entry. *is_hidden: it is the session's own, and there is no result. */
static enum server_outcome next_entry(struct pg_session *session, int wake_fd, uint64_t deadline_us,
                                      PGresult **answer, bool *is_hidden, struct err *err)
{
    struct pg_queue *queue = &session->queue;
    *is_hidden = false;
    if (!queue->is_open)
        return pg_exchange_lose(session, NULL, err);
    check(queue->next < queue->count); /* pg_pipeline_send() ends it with one more */
    struct pg_entry entry = queue->entries[queue->next];
    if (entry.kind == PG_ENTRY_SYNC)
        return SERVER_END;
    enum server_outcome got = take_answer(session, &entry, wake_fd, deadline_us, answer, err);
    *is_hidden = got == SERVER_OK && entry.kind != PG_ENTRY_STATEMENT;
    if (*is_hidden) {
        PQclear(*answer);
        *answer = NULL;
    }
    return got;
}

/* As pg_pipeline_next(), for a result or for a single row. */
static enum server_outcome next_result(struct pg_session *session, int wake_fd,
                                       uint64_t deadline_us, PGresult **answer, struct err *err)
{
    bool is_hidden = true;
    enum server_outcome got = SERVER_OK;
    while (is_hidden)
        got = next_entry(session, wake_fd, deadline_us, answer, &is_hidden, err);
    return got;
}

static enum server_outcome next_rows(struct pg_session *session, struct pg_rows *rows, int wake_fd,
                                     uint64_t deadline_us, struct err *err)
{
    PGresult *answer = NULL;
    enum server_outcome got = next_result(session, wake_fd, deadline_us, &answer, err);
    if (got == SERVER_OK && rows != NULL)
        rows->result = answer;
    else
        PQclear(answer);
    return got;
}

enum server_outcome pg_pipeline_next(struct pg_session *session, struct pg_rows *rows,
                                     uint64_t deadline_us, struct err *err)
{
    return next_rows(session, rows, session->base.options.wake_fd, deadline_us, err);
}

enum server_outcome pg_pipeline_wait(struct pg_session *session, struct pg_rows *rows,
                                     uint64_t deadline_us, struct err *err)
{
    return next_rows(session, rows, -1, deadline_us, err);
}

void pg_pipeline_abandon(struct pg_session *session)
{
    if (!session->queue.is_open)
        return;
    check(session->queue.count == 0);
    session->queue.is_open = false;
    check(PQexitPipelineMode(session->conn) == 1);
}

/* After the answer to a COMMIT at the end, the loss of the connection is no failure of this
 * pipeline. */
static enum server_outcome end_pipeline(struct pg_session *session, uint64_t deadline_us,
                                        struct err *err)
{
    const struct pg_queue *queue = &session->queue;
    bool is_committed = queue->next > 0 && queue->entries[queue->next - 1].is_commit &&
                        session->base.commit == SERVER_COMMIT_DONE;
    struct err lost = {.arena = err->arena};
    enum server_outcome outcome = take_sync(session, deadline_us, is_committed ? &lost : err);
    bool is_lost = outcome == SERVER_LOST || outcome == SERVER_TIMEOUT;
    return is_committed && is_lost ? SERVER_OK : outcome;
}

enum server_outcome pg_pipeline_finish(struct pg_session *session, uint64_t deadline_us,
                                       struct err *err)
{
    if (!session->queue.is_open)
        return SERVER_OK;
    PGresult *answer = NULL;
    enum server_outcome got;
    while ((got = next_result(session, -1, deadline_us, &answer, err)) == SERVER_OK)
        PQclear(answer);
    return got == SERVER_END ? end_pipeline(session, deadline_us, err) : got;
}

/* ---- in steps ---- */

enum server_outcome pg_pipeline_poll(struct pg_session *session, uint64_t until_us,
                                     uint64_t deadline_us, struct err *err)
{
    const struct pg_queue *queue = &session->queue;
    const char *what = queue->next < queue->count ? queue->entries[queue->next].what : NULL;
    return queue->is_open ? pg_exchange_poll(session, what, until_us, deadline_us, err)
                          : pg_exchange_lose(session, NULL, err);
}

enum server_outcome pg_pipeline_drive(struct pg_session *session, struct pg_rows *rows,
                                      uint64_t until_us, uint64_t deadline_us, struct err *err)
{
    const struct pg_queue *queue = &session->queue;
    const uint64_t rest_us = queue->is_at_once ? until_us : deadline_us;
    enum server_outcome got = SERVER_OK;
    PGresult *answer = NULL;
    while (got == SERVER_OK) {
        bool is_hidden;
        if (queue->failed == NULL)
            got = pg_pipeline_poll(session, until_us, deadline_us, err);
        if (got != SERVER_OK)
            break;
        got = next_entry(session, -1, rest_us, &answer, &is_hidden, err);
        if (is_hidden)
            continue;
        if (got == SERVER_OK && rows != NULL)
            rows[queue->entries[queue->next - 1].statement].result = answer;
        else if (got == SERVER_OK)
            PQclear(answer);
    }
    return got == SERVER_END ? end_pipeline(session, rest_us, err) : got;
}

enum server_outcome pg_pipeline_receive(struct pg_session *session, struct pg_rows *rows,
                                        struct err *err)
{
    if (!session->queue.is_open || PQconsumeInput(session->conn) == 0)
        return pg_exchange_lose(session, NULL, err);
    session->queue.is_at_once = true;
    enum server_outcome got =
        pg_pipeline_drive(session, rows, clock_monotonic_us(), UINT64_MAX, err);
    session->queue.is_at_once = false;
    return got;
}

bool pg_pipeline_has_failed(const struct pg_session *session)
{
    return session->queue.failed != NULL;
}

bool pg_pipeline_is_sent(struct pg_session *session)
{
    return session->queue.is_open && PQflush(session->conn) == 0;
}
