/* See server.h. One thread. */
#include "server.h"

#include <stdlib.h>

#include "process.h"
#include "statements.h"

struct server server;

enum { KEEPALIVE_US = 15000000, SLOW_FOR_MS = 20000 };

/* ---- sessions ---- */

static void free_messages(struct session *session)
{
    while (session->first != NULL) {
        struct message *gone = session->first;
        session->first = gone->next;
        free(gone);
    }
    session->last = NULL;
}

void fake_server_terminate(struct session *session)
{
    transaction_roll_back(session);
    free_messages(session);
    while (session->prepared != NULL) {
        struct prepared *gone = session->prepared;
        session->prepared = gone->next;
        free(gone->sql);
        free(gone->name);
        free(gone);
    }
    if (session->conn != NULL)
        libpq_break(session->conn, false);
    session->is_used = false;
    session->conn = NULL;
}

void fake_server_begin(struct rng *rng, int nodes)
{
    states_begin(&server.states);
    server.rng = rng;
    server.node_count = nodes;
    server.changes = 1;
    server.last_pid = 1;
    server.session_count = 0;
    server.timeline = 1;
    server.holds_until_us = 0;
    server.slow_commit = server.slow_answer = 0;
    for (int n = 0; n < SERVER_NODES; n++) {
        server.applied[n] = 0;
        server.started[n] = n;
        server.is_down[n] = server.is_apart[n] = false;
    }
}

void fake_server_end(void)
{
    fake_server_terminate_all(-1);
    states_end(&server.states);
}

struct session *fake_server_connect(struct pg_conn *conn, int node)
{
    check(node >= 0 && node < server.node_count);
    if (server.is_down[node])
        return NULL;
    for (int s = 0; s < SERVER_SESSIONS; s++) {
        struct session *session = &server.sessions[s];
        if (session->is_used)
            continue;
        if (s == server.session_count)
            server.session_count++;
        session->is_used = true;
        session->pid = ++server.last_pid;
        session->node = node;
        session->process = conn->process;
        session->conn = conn;
        session->skips = session->is_blocked = session->awaits = false;
        session->maria = (struct maria_session){0};
        session->blocked_by = NULL;
        session->lock_timeout_us = session->idle_timeout_us = 0;
        session->idle_us = process_now_us();
        session->slow_until_us = 0;
        return session;
    }
    return NULL;
}

void fake_server_receive(struct session *session, struct message *messages)
{
    if (session->first == NULL)
        session->first = messages;
    else
        session->last->next = messages;
    while (messages->next != NULL)
        messages = messages->next;
    session->last = messages;
}

void fake_server_hang_up(struct session *session)
{
    session->gone_us = session->conn->is_swallowed ? process_now_us() + KEEPALIVE_US : 0;
    session->conn = NULL;
}

/* ---- messages ---- */

void fake_server_deliver(struct session *session, struct pg_result *result)
{
    if (session->conn != NULL && !session->conn->is_swallowed)
        libpq_deliver(session->conn, result);
    else
        result_free(result);
}

static void deliver_rows(struct session *session, struct pg_result *result)
{
    for (int i = 0; i < result->rows; i++)
        fake_server_deliver(session, result_single(result, i));
    result->rows = 0;
    fake_server_deliver(session, result);
}

static void prepare(struct session *session, const struct message *message)
{
    struct prepared *prepared = calloc(1, sizeof(*prepared));
    check(prepared != NULL);
    *prepared = (struct prepared){.next = session->prepared,
                                  .name = slice_dup(slice_of(message->name)),
                                  .sql = slice_dup(slice_of(message->sql))};
    session->prepared = prepared;
    fake_server_deliver(session, result_create(PGRES_COMMAND_OK));
    fake_server_deliver(session, result_end());
}

static const char *sql_of(const struct session *session, const struct message *message)
{
    if (message->sql != NULL)
        return message->sql;
    for (const struct prepared *at = session->prepared; at != NULL; at = at->next)
        if (strcmp(at->name, message->name) == 0)
            return at->sql;
    check(false);
    return NULL;
}

/* The transaction is rolled back at once; one that was begun explicitly ends later. */
static void fail(struct session *session, struct pg_result *error)
{
    bool is_explicit = session->transaction.is_explicit;
    transaction_roll_back(session);
    if (is_explicit) {
        transaction_begin(session, true, false);
        session->transaction.has_failed = true;
    }
    session->skips = true;
    fake_server_deliver(session, error);
    fake_server_deliver(session, result_end());
}

bool fake_server_has_waited_too_long(const struct session *session)
{
    return session->is_blocked && !session->awaits && session->lock_timeout_us > 0 &&
           process_now_us() - session->blocked_us >= session->lock_timeout_us;
}

void fake_server_block(struct session *session)
{
    if (!session->is_blocked)
        session->blocked_us = process_now_us();
    session->is_blocked = true;
    session->blocked_at = server.changes;
}

void fake_server_unblock(struct session *session)
{
    session->is_blocked = session->awaits = false;
    session->blocked_by = NULL;
}

/* False: the message is to be executed later. */
static bool execute(struct session *session, const struct message *message)
{
    struct call call = {session, sql_of(session, message), message, NULL};
    if (!session->transaction.is_open)
        transaction_begin(session, false, false);
    enum outcome outcome =
        fake_server_has_waited_too_long(session)
            ? call_fail(&call, "55P03", "canceling statement due to lock timeout")
            : statement_execute(&call);
    static const char *const outcomes[] = {"done", "waits", "fails"};
    if (outcome != OUTCOME_BLOCKED || !session->is_blocked)
        process_trace("instance %d, session %d%s: %s: %.90s", session->process->number,
                      session->pid, session->conn == NULL ? " (gone)" : "", outcomes[outcome],
                      call.sql);
    if (outcome == OUTCOME_BLOCKED) {
        fake_server_block(session);
        result_free(call.result);
        return false;
    }
    fake_server_unblock(session);
    if (outcome == OUTCOME_ERROR) {
        fail(session, call.result);
        return true;
    }
    if (call.result == NULL)
        call.result = result_create(PGRES_COMMAND_OK);
    if (message->single_rows)
        deliver_rows(session, call.result);
    else
        fake_server_deliver(session, call.result);
    fake_server_deliver(session, result_end());
    return true;
}

/* Statements without BEGIN are committed here. */
static void synchronise(struct session *session)
{
    struct call call = {.session = session};
    if (session->transaction.is_open && !session->transaction.is_explicit &&
        transaction_commit(&call) != OUTCOME_DONE)
        fail(session, call.result);
    struct pg_result *sync = result_create(PGRES_PIPELINE_SYNC);
    const struct transaction *transaction = &session->transaction;
    sync->transaction = !transaction->is_open     ? PQTRANS_IDLE
                        : transaction->has_failed ? PQTRANS_INERROR
                                                  : PQTRANS_INTRANS;
    session->skips = false;
    fake_server_deliver(session, sync);
}

static bool run_message(struct session *session, struct message *message)
{
    if (message->kind == MESSAGE_STATEMENT)
        return server.hooks.run_statement(session, message);
    if (message->kind == MESSAGE_SYNC) {
        synchronise(session);
        return true;
    }
    if (session->skips) {
        fake_server_deliver(session, result_create(PGRES_PIPELINE_ABORTED));
        fake_server_deliver(session, result_end());
        return true;
    }
    if (message->kind == MESSAGE_PREPARE) {
        prepare(session, message);
        return true;
    }
    return execute(session, message);
}

/* ---- scheduling ---- */

static bool is_idle_for_too_long(const struct session *session)
{
    return session->first == NULL && session->transaction.is_explicit &&
           session->idle_timeout_us > 0 &&
           process_now_us() - session->idle_us >= session->idle_timeout_us;
}

/* Its state is not kept any more. */
static bool is_snapshot_lost(const struct session *session)
{
    return session->transaction.has_snapshot &&
           session->transaction.snapshot + STATES_KEPT <= server.states.newest + 1;
}

static bool is_abandoned(const struct session *session)
{
    return session->conn == NULL && session->first == NULL && process_now_us() >= session->gone_us;
}

/* The row that it has waited for is free. */
static bool is_held_no_longer(const struct session *session)
{
    return session->blocked_by == &server.holder && process_now_us() >= server.holds_until_us;
}

bool fake_server_session_can_run(const struct session *session)
{
    if (!session->is_used || process_now_us() < session->slow_until_us)
        return false;
    if (is_abandoned(session) || is_idle_for_too_long(session))
        return true;
    if (session->first == NULL)
        return false;
    return !session->is_blocked || session->blocked_at != server.changes ||
           fake_server_has_waited_too_long(session) || is_held_no_longer(session);
}

/* When a session that is blocked stops waiting. */
static uint64_t blocked_until_us(const struct session *session)
{
    uint64_t until_us = session->lock_timeout_us > 0 && !session->awaits
                            ? session->blocked_us + session->lock_timeout_us
                            : UINT64_MAX;
    bool is_held = session->blocked_by == &server.holder && !session->awaits;
    return is_held && server.holds_until_us < until_us ? server.holds_until_us : until_us;
}

uint64_t fake_server_session_next_us(const struct session *session)
{
    uint64_t now_us = process_now_us();
    if (!session->is_used)
        return UINT64_MAX;
    if (now_us < session->slow_until_us)
        return session->slow_until_us;
    if (session->is_blocked && blocked_until_us(session) < UINT64_MAX)
        return blocked_until_us(session);
    if (session->first != NULL)
        return UINT64_MAX;
    if (session->conn == NULL)
        return session->gone_us;
    return session->transaction.is_explicit && session->idle_timeout_us > 0
               ? session->idle_us + session->idle_timeout_us
               : UINT64_MAX;
}

static bool is_commit(const struct session *session)
{
    const struct message *first = session->first;
    return (first->kind == MESSAGE_EXECUTE || first->kind == MESSAGE_STATEMENT) &&
           first->sql != NULL && strcmp(first->sql, "COMMIT") == 0 &&
           session->transaction.key_count > 0;
}

/* A COMMIT may take long, and so may its answer. */
static bool is_delayed(struct session *session)
{
    if (session->slow_until_us != 0 || !is_commit(session))
        return false;
    if (!rng_permille(server.rng, server.slow_commit))
        return false;
    session->slow_until_us = process_now_us() + (uint64_t)rng_below(server.rng, SLOW_FOR_MS) * 1000;
    server.slow_commits++;
    return true;
}

static void delay_answer(const struct session *session)
{
    if (!is_commit(session) || session->conn == NULL ||
        !rng_permille(server.rng, server.slow_answer))
        return;
    session->conn->answers_at_us =
        process_now_us() + (uint64_t)rng_below(server.rng, SLOW_FOR_MS) * 1000;
    server.slow_answers++;
}

void fake_server_session_run(struct session *session)
{
    if (is_abandoned(session) || is_idle_for_too_long(session) || is_snapshot_lost(session)) {
        fake_server_terminate(session);
        return;
    }
    if (is_delayed(session))
        return;
    delay_answer(session);
    struct message *message = session->first;
    if (!run_message(session, message) || !session->is_used)
        return;
    session->slow_until_us = 0;
    session->first = message->next;
    session->last = session->first == NULL ? NULL : session->last;
    session->idle_us = process_now_us();
    free(message);
}
