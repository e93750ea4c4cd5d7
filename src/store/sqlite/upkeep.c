/* What is done between batches: noticing that another file took the path, and looking after the
 * WAL. Writer thread only. */
#include "store/sqlite/internal.h"

enum { EVERY_US = 100000, RETIRED_FOR_US = 60000000 };

void store_upkeep(struct store *store)
{
    check(!store->transaction.open);
    if (store->in_memory)
        return;
    int64_t now_us = db_monotonic_us();
    if (now_us - store->file_checked_at_us >= EVERY_US) {
        store_notice_file(store);
        store_close_retired(store, now_us - RETIRED_FOR_US);
    }
    store_checkpoint(store);
    store_cut_wal(store);
}
