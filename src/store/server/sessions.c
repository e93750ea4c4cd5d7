/* Connects the sessions of a store. The writer only. */
#include "base/clock.h"
#include "store/server/store_internal.h"

uint64_t server_deadline(const struct server_store *store)
{
    return clock_monotonic_us() + store->timeout_us;
}

uint64_t server_lock_timeout(const struct server_store *store)
{
    uint64_t timeout_us = store->timeout_us / 2 + store->stalled_us / 2;
    return timeout_us > store->timeout_us ? timeout_us : store->timeout_us;
}

uint64_t server_lock_deadline(const struct server_store *store)
{
    return clock_monotonic_us() + server_lock_timeout(store);
}

struct err server_ignored(struct server_store *store)
{
    arena_reset(store->scratch);
    return (struct err){.arena = store->scratch};
}

void server_make_mark(struct server_store *store, unsigned char mark[static LOG_MARK_LEN])
{
    turns_make_mark(store->instance, store->batches++, turns_node(store->writer->node), mark);
}

bool server_refuse_standby(const struct server_store *store, struct err *err)
{
    return err_set(err, 503, NULL, "the database '%.*s' %s", SLICE_ARG(store->address.target),
                   store->address.dialect->standby);
}

bool server_refuse_replaced(const struct server_store *store, const char *done, struct err *err)
{
    (void)server_failure_set(SERVER_LOST, store->address.target, done,
                             SLICE_LIT("another server has taken over meanwhile"), err);
    return false;
}

/* It is the writer's that instances compare with each other. */
static void note_connected(struct server_store *store, const struct server_session *session)
{
    if (session == store->writer)
        server_lineage_set_writer(store->lineage, session->node);
    if (session == store->writer || session == store->follower)
        store->has_reconnected = true;
}

bool server_ensure_session(struct server_store *store, struct server_session *session,
                           struct err *err)
{
    if (server_session_has_moved(session) && !server_session_in_transaction(session))
        server_session_close(session);
    if (server_session_is_open(session))
        return true;
    if (server_session_connect(session, server_deadline(store), err) == SERVER_OK &&
        session->dialect->make_ready(session, server_deadline(store), err) == SERVER_OK) {
        note_connected(store, session);
        return true;
    }
    server_session_close(session);
    return false;
}

void server_set_meanwhile(struct store *base, const struct store_meanwhile *meanwhile)
{
    struct server_store *store = server_store_of(base);
    check(!store->meanwhile.is_running);
    store->meanwhile = (struct server_meanwhile){0};
    if (meanwhile != NULL)
        store->meanwhile = (struct server_meanwhile){.run = meanwhile->run, .cls = meanwhile->cls};
}

bool server_ensure_writer(struct server_store *store, struct err *err)
{
    server_session_notice_end(store->writer);
    return server_ensure_session(store, store->writer, err);
}

/* Until it succeeds, fails in a way that does not pass, or is not to be tried again. */
static bool connect_writer(struct server_store *store, const struct store_retry *retry,
                           struct err *err)
{
    for (;;) {
        struct err failure = server_ignored(store);
        enum server_outcome outcome =
            server_session_connect(store->writer, server_deadline(store), &failure);
        if (outcome == SERVER_OK)
            outcome = store->writer->dialect->check_restored(store->writer, server_deadline(store),
                                                             &failure);
        if (outcome == SERVER_OK)
            return true;
        bool may_pass =
            outcome == SERVER_RETRY || outcome == SERVER_LOST || outcome == SERVER_TIMEOUT;
        if (!may_pass || retry == NULL || !retry->again(retry->cls, failure.message))
            return err_set(err, failure.status, failure.code, "%.*s", SLICE_ARG(failure.message));
    }
}

bool server_reach_server(struct server_store *store, const struct store_retry *retry,
                         struct err *err)
{
    server_session_set_stop(store->writer, retry == NULL ? -1 : retry->stop_fd);
    bool reached =
        connect_writer(store, retry, err) &&
        store->writer->dialect->make_ready(store->writer, server_deadline(store), err) == SERVER_OK;
    server_session_set_stop(store->writer, -1);
    if (reached)
        server_lineage_set_writer(store->lineage, store->writer->node);
    return reached;
}
