/* Answers metrics and probes about the store. sqlite_check_schema() is for the writer thread; the
 * figures are for any thread, which may use the sentinel as readers do. */
#include "store/sqlite/internal.h"
#include "store/sqlite/migrate.h"

enum { STAMP_TRIES = 64 }; /* in each of these microseconds, another process commits */

bool sqlite_check_schema(struct sqlite_store *store, char revision[static STORE_REVISION_BYTES],
                         struct err *err)
{
    check(store->transaction.is_reading);
    return migrate_check_served(&store->writer, revision, err);
}

struct store_figures sqlite_figures(const struct sqlite_store *store)
{
    struct store_figures figures = {
        .log_head = counter_read(&store->log_head),
        .checkpoints = counter_read(&store->checkpoints),
        .skipped_rows = counter_read(&store->skipped_rows),
        .is_read_only = counter_read(&store->is_read_only) != 0,
    };
    struct sentinel *sentinel = atomic_load_explicit(&store->sentinel, memory_order_acquire);
    for (unsigned i = 0; sentinel != NULL && sentinel->index != NULL && i < STAMP_TRIES; i++) {
        struct store_stamp stamp;
        if (!sentinel_read(sentinel, &stamp))
            continue;
        figures.wal_bytes = sentinel_stamp_wal_bytes(&stamp);
        break;
    }
    return figures;
}
