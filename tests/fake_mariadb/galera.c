/* What goes wrong with the nodes of a cluster, and begin and end of the fake. See maria.h. One
 * thread. */
#include <stdlib.h>

#include "fake_postgres/process.h"
#include "maria.h"

/* No id is given out that a row has, or has had since the node was started. */
static void raise_counters(int node, const struct state *state)
{
    for (int table = 0; table < ROWS_PARENTS; table++) {
        int64_t *counter = &maria.counters[node][table];
        int64_t highest = tables_highest_id(&state->tables, (enum table)table);
        *counter = highest > *counter ? highest : *counter;
    }
}

void maria_begin(void)
{
    memset(maria.counters, 0, sizeof(maria.counters));
    maria.cluster = 1 + rng_next(server.rng) % 1000000;
    maria.tears = 0;
    maria.ask_count = 0;
    server.hooks.run_statement = maria_run;
    server.hooks.on_applied = raise_counters;
}

void maria_end(void)
{
    maria_reads_forget();
    maria_parse_forget();
}

/* ---- sessions ---- */

void maria_begin_session(struct session *session, int backend)
{
    session->maria =
        (struct maria_session){.is_maria = true, .has_autocommit = true, .backend = backend};
    session->lock_timeout_us = session->idle_timeout_us = 0;
}

bool maria_move_session(struct session *session, int node)
{
    bool is_idle = session->conn != NULL && session->first == NULL;
    if (!is_idle || session->transaction.is_open || session->maria.is_beaten)
        return false;
    session->node = node;
    maria_begin_session(session, ++server.last_pid);
    process_trace("session %d is continued at node %d", session->pid, node);
    return true;
}

/* ---- a node that leaves, and returns ---- */

static bool is_committing(const struct session *session)
{
    return session->first != NULL && session->transaction.is_open &&
           session->transaction.key_count > 0 && strcmp(session->first->sql, "COMMIT") == 0;
}

bool maria_is_committing(void)
{
    for (int s = 0; s < server.session_count; s++)
        if (server.sessions[s].is_used && is_committing(&server.sessions[s]))
            return true;
    return false;
}

static void forget_messages(struct session *session)
{
    while (session->first != NULL) {
        struct message *gone = session->first;
        session->first = gone->next;
        free(gone);
    }
    session->last = NULL;
    session->maria.is_in_text = session->maria.has_committed = false;
}

/* The client is not told what has become of it. */
static void interrupt_commit(struct session *session)
{
    struct call call = {.session = session};
    bool is_replicated = rng_below(server.rng, 2) == 0;
    if (is_replicated && transaction_commit(&call) == OUTCOME_DONE)
        process_trace("session %d: its commit is replicated", session->pid);
    result_free(call.result);
    transaction_roll_back(session);
    if (rng_below(server.rng, 2) == 0) {
        fake_server_terminate(session);
        return;
    }
    forget_messages(session);
    fake_server_unblock(session);
    call.result = NULL;
    (void)maria_fail(&call, ERROR_IN_COMMIT,
                     "Got error 6 \"No such device or address\" during COMMIT");
    call.result->server_status = session->maria.has_autocommit ? 2 : 0;
    fake_server_deliver(session, call.result);
}

/* The node keeps the snapshots of its sessions, and those that have one go on in it once the node
 * is back. It keeps the other transactions as well, which the node's return may end: here, all end.
 */
static void end_transaction(struct session *session)
{
    if (session->transaction.has_snapshot)
        return;
    session->maria.is_beaten |= session->transaction.is_explicit;
    transaction_roll_back(session);
}

void maria_leave(int node)
{
    server.is_apart[node] = true;
    process_trace("node %d leaves the primary component", node);
    for (int s = 0; s < server.session_count; s++) {
        struct session *session = &server.sessions[s];
        if (!session->is_used || session->node != node)
            continue;
        if (is_committing(session))
            interrupt_commit(session);
        else
            end_transaction(session);
    }
    server.changes++;
}

void maria_return(int node)
{
    bool is_new = rng_below(server.rng, 3) == 0;
    server.is_apart[node] = false;
    process_trace("node %d is %s", node, is_new ? "replaced" : "back");
    if (is_new || server.applied[node] + STATES_KEPT / 2 <= server.states.newest) {
        fake_server_terminate_all(node);
        server.applied[node] = server.states.newest;
        memset(maria.counters[node], 0, sizeof(maria.counters[node]));
        maria.replaced++;
    }
    server.changes++;
}

/* ---- lost commits ---- */

/* Nodes that do not have the newest commit get everything before it. False: all have it. */
static bool catch_up_others(uint64_t newest)
{
    bool is_missed = false;
    for (int n = 0; n < server.node_count; n++) {
        if (server.applied[n] == newest || server.is_apart[n])
            continue;
        while (server.applied[n] + 1 < newest)
            (void)fake_server_apply(n);
        is_missed = true;
    }
    return is_missed;
}

static bool has_other_names(const struct tables *before, const struct tables *after)
{
    for (int t = 0; t <= TABLE_PROVIDERS; t++)
        if (after->rows[t].count != before->rows[t].count)
            return true;
    return false;
}

static bool has_ended_allocations(const struct tables *before, const struct tables *after)
{
    const struct rows *rows = &before->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (tables_find(after, TABLE_ALLOCATIONS, rows->row[i].image.allocation.id) == NULL)
            return true;
    return false;
}

/* Whether another program has written in one of the newest commits what no later write compares.
 * That is not in the log, so that only a look finds that it is gone. Until then, instances write
 * rows that refer to a name or a provider that is gone, move a tree without a provider that is
 * back, or claim what an allocation has that is back: its end has raised no provider's generation.
 *
 * That cannot be checked strictly, because it is so. To compare the names and parents that a row
 * refers to, each claim would have to read four more rows on the server, which most often has no
 * foreign key for them. And capacity is only known to memory: an allocation that is back exceeds it
 * unless each claim added up what its providers have given out. Both last until the next look. */
static bool are_foreign_and_unseen(uint64_t count)
{
    uint64_t at = server.states.newest;
    for (; count > 0 && at > 0; count--) {
        const struct state *state = states_at(&server.states, at);
        const struct state *before =
            state == NULL ? NULL : states_at(&server.states, state->follows);
        if (before == NULL)
            return true;
        if (state->line == NULL && (has_other_names(&before->tables, &state->tables) ||
                                    has_ended_allocations(&before->tables, &state->tables)))
            return true;
        at = state->follows;
    }
    return false;
}

/* The commit may have decided against a batch whose client is gone: that is not executed after all,
 * which nobody could know. */
static void end_without_client(void)
{
    for (int s = 0; s < server.session_count; s++)
        if (server.sessions[s].is_used && server.sessions[s].conn == NULL)
            fake_server_terminate(&server.sessions[s]);
}

bool maria_lose_newest(void)
{
    const uint64_t newest = server.states.newest;
    const struct state *state = states_newest(&server.states);
    if (newest == 0 || state->follows + 1 != newest || are_foreign_and_unseen(1) ||
        !catch_up_others(newest))
        return false;
    if (!states_go_back(&server.states, 1))
        return false;
    end_without_client();
    for (int n = 0; n < server.node_count; n++) {
        if (server.applied[n] == newest)
            fake_server_terminate_all(n);
        server.applied[n] = server.states.newest;
    }
    server.changes++;
    return true;
}

bool maria_lose_cluster(uint64_t by)
{
    bool is_other = are_foreign_and_unseen(by) || rng_below(server.rng, 2) == 0;
    if (!fake_server_go_back(by))
        return false;
    memset(maria.counters, 0, sizeof(maria.counters));
    maria.cluster += is_other;
    for (int n = 0; n < server.node_count; n++)
        server.is_apart[n] = false;
    return true;
}
