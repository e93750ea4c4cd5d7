/* Ends the connection of an instance that holds the lock and does nothing with it, because it was
 * stopped or its machine is gone. The server's own limits do not apply to a client that stops
 * within a pipeline, so the next in line does it.
 *
 * The next in line waits for half of the limit, looks for a holder that has done nothing for the
 * other half, and waits again: one that had just begun to do nothing is found at the second look,
 * when the limit has passed. */
#include "log/log.h"
#include "store/postgres/exchanges.h"
#include "store/postgres/store_internal.h"

void postgres_end_stalled_by(struct postgres_store *store, struct pg_session *session,
                             struct err *err)
{
    struct stalled ended = {0};
    atomic_fetch_add(&store->lock_timeouts, 1);
    if (pg_stalled_end(session, store->stalled_us / 2, err->arena, &ended, postgres_deadline(store),
                       err) != SERVER_OK)
        return;
    for (size_t i = 0; i < ended.count; i++)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
                  "the database '%.*s': the connection of %.*s, which held the lock for the next "
                  "batch without using it, was ended",
                  SLICE_ARG(store->url.target), SLICE_ARG(ended.names[i]));
    atomic_fetch_add(&store->stalled_ended, ended.count);
}

void postgres_end_stalled(struct postgres_store *store)
{
    struct err ignored = postgres_ignored(store);
    if (!store->read.is_open && postgres_ensure_session(store, store->follower, &ignored))
        postgres_end_stalled_by(store, store->follower, &ignored);
}
