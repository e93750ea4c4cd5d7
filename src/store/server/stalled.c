/* Ends the connection of an instance that holds the lock and does nothing with it, because it was
 * stopped or its machine is gone. The server's own limits do not apply to a client that stops
 * within a pipeline, so the next in line does it.
 *
 * The next in line waits for half of the limit, looks for a holder that has done nothing for the
 * other half, and waits again: one that had just begun to do nothing is found at the second look,
 * when the limit has passed. */
#include "log/log.h"
#include "store/server/dialect.h"
#include "store/server/store_internal.h"

void server_end_stalled_by(struct server_store *store, struct server_session *session,
                           struct err *err)
{
    struct stalled ended = {0};
    atomic_fetch_add(&store->lock_timeouts, 1);
    if (session->dialect->stalled_end(session, store->stalled_us / 2, err->arena, &ended,
                                      server_deadline(store), err) != SERVER_OK)
        return;
    for (size_t i = 0; i < ended.count; i++)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "the database '%.*s': the connection of %.*s, which held the lock for the next "
                  "batch without using it, was ended",
                  SLICE_ARG(store->address.target), SLICE_ARG(ended.names[i]));
    atomic_fetch_add(&store->stalled_ended, ended.count);
}

void server_end_stalled(struct server_store *store)
{
    struct err ignored = server_ignored(store);
    if (!store->read.is_open && server_ensure_session(store, store->follower, &ignored))
        server_end_stalled_by(store, store->follower, &ignored);
}
