/* What goes wrong with servers and connections, and what other programs do. One thread. */
#include <stdlib.h>

#include "process.h"
#include "server.h"
#include "transactions.h"

enum { LATE_MS = 15000 }; /* what is still on its way arrives within that time */

void fake_server_cut(struct session *session)
{
    int arrive = 0;
    for (struct message *at = session->first; at != NULL; at = at->next)
        arrive++;
    arrive = rng_below(server.rng, arrive + 1);
    struct message **at = &session->first;
    session->last = NULL;
    for (; *at != NULL && arrive > 0; arrive--) {
        session->last = *at;
        at = &(*at)->next;
    }
    while (*at != NULL) {
        struct message *gone = *at;
        *at = gone->next;
        free(gone);
    }
    session->gone_us = 0;
    if (rng_below(server.rng, 3) == 0)
        session->slow_until_us = process_now_us() + (uint64_t)rng_below(server.rng, LATE_MS) * 1000;
    if (session->conn != NULL)
        libpq_break(session->conn, rng_below(server.rng, 2) == 0);
    session->conn = NULL;
}

void fake_server_swallow(struct session *session)
{
    if (session->conn != NULL)
        session->conn->is_swallowed = true;
}

void fake_server_terminate_all(int node)
{
    for (int s = 0; s < server.session_count; s++)
        if (server.sessions[s].is_used && (node < 0 || server.sessions[s].node == node))
            fake_server_terminate(&server.sessions[s]);
    if (node < 0 || server.holder.node == node)
        server.holds_until_us = 0;
    for (int n = 0; n < SERVER_NODES; n++)
        server.started[n] += node < 0 || node == n ? SERVER_NODES : 0;
}

void fake_server_hold(int node, int64_t provider, uint64_t until_us)
{
    const struct change image = {.kind = CHANGE_PROVIDER_INSERT, .provider.id = provider};
    struct call call = {.session = &server.holder};
    uint64_t keys[ROW_KEYS];
    (void)row_keys(TABLE_PROVIDERS, &image, keys);
    server.holder.node = node;
    server.holder.transaction.key_count = 0;
    if (transaction_is_taken(&call, keys, 1))
        return;
    check(transaction_take(&call, keys, 1) == OUTCOME_DONE);
    server.holds_until_us = until_us;
}

bool fake_server_apply(int node)
{
    if (server.applied[node] == server.states.newest || server.is_apart[node])
        return false;
    const struct state *state = states_at(&server.states, ++server.applied[node]);
    if (state != NULL)
        transaction_applied(node, state);
    server.changes++;
    return true;
}

bool fake_server_go_back(uint64_t by)
{
    if (!states_go_back(&server.states, by))
        return false;
    fake_server_terminate_all(-1);
    server.timeline++;
    for (int n = 0; n < SERVER_NODES; n++)
        server.applied[n] = server.states.newest;
    server.changes++;
    return true;
}

void fake_server_prune(unsigned most, uint64_t before_us)
{
    struct state *draft = states_draft(&server.states);
    unsigned count = 0;
    while (count < most && count + 1 < draft->log_count &&
           draft->log[count]->committed_us < before_us)
        count++;
    if (count == 0)
        return;
    draft->log_count -= count;
    memmove(draft->log, draft->log + count, draft->log_count * sizeof(draft->log[0]));
    states_append(&server.states, draft, (struct written){0});
    for (int n = 0; n < SERVER_NODES; n++)
        if (server.applied[n] + 1 == server.states.newest)
            server.applied[n]++;
    server.changes++;
}
