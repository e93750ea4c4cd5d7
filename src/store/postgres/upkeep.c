/* Work between batches: replaces old sessions. The writer only. */
#include "store/postgres/store_internal.h"

/* Connects again at once, so that the next batch need not wait. False: that is not possible, and
 * the next use of the session reports why. */
static bool recycle(struct postgres_store *store, struct pg_session *session)
{
    struct err ignored = postgres_ignored(store);
    if (!pg_session_is_old(session, store->recycle_us))
        return true;
    pg_session_close(session);
    return postgres_ensure_session(store, session, &ignored);
}

void postgres_upkeep(struct store *base)
{
    struct postgres_store *store = postgres_of(base);
    bool writer_is_used = store->is_locked || store->is_locking || store->sending != NULL;
    if (!store->read.is_open && (writer_is_used || recycle(store, store->writer)))
        (void)recycle(store, store->follower);
}
