/* Work between batches: prunes the log, and replaces old sessions. Writer thread only.
 *
 * Rows are deleted from the last one that was deleted on, because the scan would otherwise begin
 * with the dead index entries of all earlier prunings, as long as an old snapshot keeps them. */
#include "store/postgres/store_internal.h"

enum { LOG_ROWS_KEPT = 10000, PRUNED_AT_ONCE = 1000 };

static const char PRUNE[] =
    "DELETE FROM berth_log WHERE number > $1::bigint AND number <= $2::bigint";

static void prune(struct postgres_store *store)
{
    int64_t until = store->followed.number - LOG_ROWS_KEPT;
    struct err ignored = postgres_ignored(store);
    if (!store->has_state || until < store->pruned + PRUNED_AT_ONCE)
        return;
    const struct pg_parameter parameters[] = {pg_int8(store->pruned), pg_int8(until)};
    const struct pg_statement statement = {.sql = PRUNE,
                                           .parameters = parameters,
                                           .parameters_n = 2,
                                           .is_prepared = true,
                                           .what = "written"};
    if (postgres_ensure_session(store, store->follower, &ignored) &&
        pg_session_execute(store->follower, &statement, NULL, postgres_deadline(store), &ignored) ==
            PG_OK)
        store->pruned = until;
}

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
    if (!store->read.is_open && !store->is_locked && recycle(store, store->writer) &&
        recycle(store, store->follower))
        prune(store);
}
