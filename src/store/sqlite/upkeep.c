/* What is done between batches: checkpoints, and noticing that another file took the path.
 *
 * Checkpoints run on the writer's own connection: another's would look like a foreign write to it.
 * They never wait; one that readers stand in the way of (a backup that runs) does what it can and
 * is tried again. Writer thread only. */
#include "store/sqlite/internal.h"

enum { EVERY_US = 100000, RETIRED_FOR_US = 60000000 };

void store_checkpoint(struct store *store, uint32_t frames)
{
    struct store_stamp stamp;
    struct sentinel *sentinel = store->sentinel;
    if (sentinel == NULL || sentinel->index == NULL || store->writer.handle == NULL ||
        !sentinel_read(sentinel, &stamp) || sentinel_stamp_frames(&stamp) < frames)
        return;
    bool late = sentinel_stamp_frames(&stamp) >= CHECKPOINT_LATE_FRAMES;
    /* All copied: the next commit starts the WAL over. */
    if (!late && sentinel_backfilled(sentinel) == sentinel_stamp_frames(&stamp))
        return;
    int64_t now_us = db_monotonic_us();
    if (now_us - store->checkpoint_at_us < EVERY_US)
        return;
    int logged = -1;
    int copied = -1;
    int timeout_ms = store->writer.wait.timeout_ms;
    store->writer.wait.timeout_ms = 0;
    int rc = sqlite3_wal_checkpoint_v2(
        store->writer.handle, "main", late ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE,
        &logged, &copied);
    /* Somebody reads an old state: each further try would sync for a few frames. */
    if (rc != SQLITE_OK || copied < logged)
        store->checkpoint_at_us = now_us;
    store->writer.wait.timeout_ms = timeout_ms;
}

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
    store_checkpoint(store, CHECKPOINT_FRAMES);
}
