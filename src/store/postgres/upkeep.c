/* Work between batches: prunes the log. Rows are deleted from the last one that was deleted on,
 * because the scan would otherwise begin with the dead index entries of all earlier prunings, as
 * long as an old snapshot keeps them. Writer thread only. */
#include "store/postgres/store_internal.h"

enum { LOG_ROWS_KEPT = 10000, PRUNED_AT_ONCE = 1000 };

static const char PRUNE[] =
    "DELETE FROM berth_log WHERE number > $1::bigint AND number <= $2::bigint";

void postgres_upkeep(struct store *base)
{
    struct postgres_store *store = postgres_of(base);
    int64_t until = store->followed.number - LOG_ROWS_KEPT;
    struct err ignored = postgres_ignored(store);
    if (!store->has_state || store->read.is_open || until < store->pruned + PRUNED_AT_ONCE)
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
