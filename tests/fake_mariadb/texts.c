/* Sessions of the fake MariaDB: how a text is executed, statement by statement, and what ends it.
 * See maria.h. One thread. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_postgres/process.h"
#include "maria.h"

struct maria maria;

/* ---- errors ---- */

enum outcome maria_fail(struct call *call, unsigned code, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    result_free(call->result);
    call->result = result_error("ERROR", "HY000", text);
    call->result->code = code;
    return OUTCOME_ERROR;
}

/* What the shared functions have called by PostgreSQL's name. */
static void translate(struct call *call)
{
    static const struct {
        const char *sqlstate;
        unsigned code;
    } codes[] = {{"40P01", ERROR_BEATEN}, {"55P03", ERROR_LOCKED}};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]) && call->result->code == 0; i++)
        if (strcmp(call->result->sqlstate, codes[i].sqlstate) == 0)
            call->result->code = codes[i].code;
    check(call->result->code != 0);
}

/* ---- texts ---- */

/* Whether it has to wait for what the cluster has committed before it. */
static bool is_behind(struct session *session, enum maria_kind kind)
{
    bool waits = (kind == MARIA_READS || kind == MARIA_BEGINS) && session->maria.waits &&
                 !session->transaction.is_explicit;
    if (!waits || !maria_is_galera())
        return false;
    if (!session->awaits) {
        session->awaited = server.states.newest;
        maria.stale += server.applied[session->node] < session->awaited;
    }
    session->awaits = true;
    return server.applied[session->node] < session->awaited;
}

/* Another node's commit has ended the transaction. Whether the session is told so. */
static bool is_told(struct session *session)
{
    bool may_tear = session->maria.is_in_text && !session->is_blocked;
    session->maria.is_beaten = false;
    maria.beaten++;
    if (!may_tear || maria.tears == 0 || !rng_permille(server.rng, maria.tears))
        return true;
    maria.torn++;
    process_trace("session %d: its transaction ends unnoticed", session->pid);
    return false;
}

/* What follows a COMMIT is another transaction, which may be told of the end of the one before, or
 * of its own: whatever has become of the COMMIT. */
static bool fails_behind_commit(const struct session *session)
{
    bool fails = session->maria.has_committed && maria.tears > 0 &&
                 rng_permille(server.rng, maria.tears / 20);
    maria.late += fails;
    return fails;
}

static void begin_implicitly(struct session *session, enum maria_kind kind)
{
    if (session->transaction.is_open || kind == MARIA_SETS || kind == MARIA_ENDS)
        return;
    bool is_explicit = !session->maria.has_autocommit && kind != MARIA_BEGINS;
    transaction_begin(session, is_explicit, false);
}

/* With autocommit, outside of a transaction. */
static enum outcome commit_implicitly(struct call *call)
{
    struct transaction *transaction = &call->session->transaction;
    if (!transaction->is_open || transaction->is_explicit)
        return OUTCOME_DONE;
    if (transaction->write_count == 0 && transaction->line_count == 0 &&
        transaction->epoch.epoch == 0) {
        transaction_roll_back(call->session);
        return OUTCOME_DONE;
    }
    return transaction_commit(call);
}

static enum outcome execute(struct call *call)
{
    struct session *session = call->session;
    const struct maria_statement statement = maria_statement_of(call);
    bool is_rollback = strcmp(call->sql, "ROLLBACK") == 0;
    if ((session->maria.is_beaten && (is_told(session) && !is_rollback)) ||
        fails_behind_commit(session))
        return maria_fail(call, ERROR_BEATEN, "Deadlock found when trying to get lock");
    if (fake_server_has_waited_too_long(session))
        return maria_fail(call, ERROR_LOCKED, "Lock wait timeout exceeded");
    if (server.is_apart[session->node] && statement.kind != MARIA_SETS && !is_rollback)
        return maria_fail(call, ERROR_NOT_PRIMARY, "WSREP has not yet prepared node");
    if (is_behind(session, statement.kind))
        return OUTCOME_BLOCKED;
    session->awaits = false;
    begin_implicitly(session, statement.kind);
    size_t writes = session->transaction.write_count;
    enum outcome outcome = statement.execute(call);
    if (outcome == OUTCOME_ERROR)
        session->transaction.write_count = writes;
    return outcome == OUTCOME_DONE ? commit_implicitly(call) : outcome;
}

/* The server executes nothing of the text behind the statement. */
static void end_text(struct session *session, struct message *message)
{
    while (message->next != NULL) {
        struct message *gone = message->next;
        message->next = gone->next;
        free(gone);
    }
    session->last = message;
    session->maria.is_in_text = session->maria.has_committed = false;
    session->maria.told = 0;
}

static unsigned status_of(const struct session *session)
{
    enum { IN_TRANSACTION = 1, AUTOCOMMIT = 2 };
    return (session->transaction.is_explicit ? IN_TRANSACTION : 0u) |
           (session->maria.has_autocommit ? AUTOCOMMIT : 0u);
}

/* A deadlock ends the transaction; other errors undo the statement. */
static void fail(struct session *session, struct message *message, struct call *call)
{
    translate(call);
    if (call->result->code == ERROR_BEATEN || !session->transaction.is_explicit)
        transaction_roll_back(session);
    end_text(session, message);
    call->result->server_status = status_of(session);
    fake_server_deliver(session, call->result);
}

bool maria_run(struct session *session, struct message *message)
{
    struct call call = {session, message->sql, message, NULL};
    maria_parse_begin();
    enum outcome outcome = execute(&call);
    static const char *const outcomes[] = {"done", "waits", "fails"};
    if (outcome != OUTCOME_BLOCKED || !session->is_blocked)
        process_trace("instance %d, session %d at node %d%s: %s%s%s: %.400s",
                      session->process->number, session->pid, session->node,
                      session->conn == NULL ? " (gone)" : "", outcomes[outcome],
                      outcome == OUTCOME_ERROR ? ", " : "",
                      outcome == OUTCOME_ERROR ? call.result->message : "", call.sql);
    if (outcome == OUTCOME_BLOCKED) {
        fake_server_block(session);
        result_free(call.result);
        return false;
    }
    fake_server_unblock(session);
    if (outcome == OUTCOME_ERROR) {
        fail(session, message, &call);
        return true;
    }
    if (call.result == NULL)
        call.result = result_create(PGRES_COMMAND_OK);
    call.result->has_more = message->has_more;
    call.result->server_status = status_of(session);
    call.result->told = message->has_more ? 0 : session->maria.told;
    session->maria.told = message->has_more ? session->maria.told : 0;
    session->maria.is_in_text = message->has_more;
    session->maria.has_committed =
        message->has_more && (session->maria.has_committed || strcmp(call.sql, "COMMIT") == 0);
    fake_server_deliver(session, call.result);
    return true;
}

/* ---- results ---- */

void maria_columns(struct call *call, const char *kinds)
{
    call->result = result_rows(false);
    for (; *kinds != '\0'; kinds++)
        result_column(call->result, *kinds == 'n' ? PG_INT8 : PG_TEXT);
}

void maria_add_int(struct call *call, int64_t value)
{
    result_add_int(call->result, value);
}

void maria_add_text(struct call *call, struct slice text)
{
    result_add_bytes(call->result, text);
}

void maria_add_null(struct call *call)
{
    result_add_null(call->result);
}

enum outcome maria_affected(struct call *call, size_t rows)
{
    call->result = result_create(PGRES_COMMAND_OK);
    call->result->affected = rows;
    call->session->maria.row_count = (int64_t)rows;
    return OUTCOME_DONE;
}
