/* Work between batches: checking whether another file took the path or was copied over ours, and
 * maintaining the WAL. The writer only. */
#include "base/clock.h"
#include "log/log.h"
#include "store/sqlite/internal.h"

enum { EVERY_US = 100000, RETIRED_FOR_US = 60000000 };

static void notice_overwriting(const struct sqlite_store *store)
{
    struct sentinel *sentinel = store->sentinel;
    if (sentinel != NULL && sentinel_sees_overwriting(sentinel))
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "the database '%s' was overwritten in place while berthd has it open, and is "
                  "probably damaged: stop berthd and restore a backup",
                  store->path);
}

void sqlite_upkeep(struct sqlite_store *store)
{
    check(!store->transaction.open);
    if (store->in_memory)
        return;
    int64_t now_us = (int64_t)clock_monotonic_us();
    if (now_us - store->file_checked_at_us >= EVERY_US) {
        sqlite_notice_file(store);
        notice_overwriting(store);
        sqlite_close_retired(store, now_us - RETIRED_FOR_US);
    }
    sqlite_checkpoint(store);
    sqlite_cut_wal(store);
}
