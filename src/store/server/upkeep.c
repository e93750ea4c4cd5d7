/* Work between batches: replaces old sessions. The writer only. */
#include "store/server/store_internal.h"

/* Connects again at once, so that the next batch need not wait. False: that is not possible, and
 * the next use of the session reports why. */
static bool recycle(struct server_store *store, struct server_session *session)
{
    struct err ignored = server_ignored(store);
    if (!server_session_is_old(session, store->recycle_us))
        return true;
    server_session_close(session);
    return server_ensure_session(store, session, &ignored);
}

void server_upkeep(struct store *base)
{
    struct server_store *store = server_store_of(base);
    bool writer_is_used = store->is_locked || store->is_locking || store->sending != NULL;
    if (!store->read.is_open && (writer_is_used || recycle(store, store->writer)))
        (void)recycle(store, store->follower);
    server_look_for_asks(store);
}
