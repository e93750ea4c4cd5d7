/* Keeping the WAL under 64 MiB.
 *
 * As a rule the writer's own connection copies it, between two batches: then nothing is left to be
 * copied, and the next commit starts the WAL over. (In a thread beside the writer the same copying
 * costs a quarter of the commits, which wait for the disk meanwhile: measured.) A copy that readers
 * stand in the way of (a backup that runs) does what it can and is tried again; none waits.
 *
 * What a reader has kept out of the file until the WAL outgrew its limit would make every claim
 * wait for seconds once the reader has gone, and other instances for the write lock. That is the
 * copier's work: pass after pass, until so little is left that the writer can do it at once, or
 * until a pass shows that commits come as fast as the copier copies. Writer thread only. */
#include "log/log.h"
#include "store/sqlite/internal.h"

enum {
    PAUSE_US = 100000,
    AT_ONCE_FRAMES = 2048, /* 8 MiB: some milliseconds of the writer's */
    /* 64 MiB. A shorter file is never cut: a sync of what grows costs twice that of what is there.
     */
    TOO_LONG_FRAMES = 16384,
};

struct wal_length {
    uint32_t frames;
    uint32_t left; /* not copied yet */
};

static bool measure_wal(const struct store *store, struct wal_length *wal)
{
    struct store_stamp stamp;
    struct sentinel *sentinel = store->sentinel;
    if (sentinel == NULL || sentinel->index == NULL || store->writer.handle == NULL ||
        !sentinel_read(sentinel, &stamp))
        return false;
    uint32_t copied = sentinel_backfilled(sentinel);
    wal->frames = sentinel_stamp_frames(&stamp);
    wal->left = copied < wal->frames ? wal->frames - copied : 0;
    return true;
}

/* Somebody reads an old state: each further try would sync for a few frames. */
static void pause_copying(struct store *store)
{
    store->copying.given_frames = 0;
    store->copying.again_at_us = db_monotonic_us() + PAUSE_US;
}

/* The system tells of a failed sync once, and keeps what it could not write as if it were written.
 * Pages that were copied before would not be copied again: as long as the WAL is not started over,
 * it has them all. */
static bool sync_has_failed(struct store *store)
{
    bool failed = store->sentinel->copier.sync_failed;
    if (failed && !store->copying.is_given_up) {
        store->copying.is_given_up = true;
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "the database '%s' cannot be synced: its WAL is kept until berthd starts again",
                  store->path);
    }
    return failed;
}

static bool copier_rests(struct store *store)
{
    struct copier *copier = &store->sentinel->copier;
    bool was_started = copier->is_started;
    if (copier_is_busy(copier))
        return false;
    /* The writer, too, reads a state before its commit: a few frames are always left. */
    if (was_started && (copier->left_frames < 0 || copier->left_frames > AT_ONCE_FRAMES))
        pause_copying(store);
    return true;
}

static bool give_to_copier(struct store *store, uint32_t left_frames)
{
    struct copying *copying = &store->copying;
    bool goes_on = copying->given_frames > 0;
    bool gains = !goes_on || left_frames < copying->given_frames / 4 * 3;
    if (left_frames <= (goes_on ? AT_ONCE_FRAMES : TOO_LONG_FRAMES) || !gains ||
        !copier_start(&store->sentinel->copier, &store->sentinel->db))
        return false;
    copying->given_frames = left_frames;
    counter_add(&store->checkpoints, 1);
    return true;
}

static void copy_now(struct store *store, int mode)
{
    int logged = -1;
    int copied = -1;
    int timeout_ms = store->writer.wait.timeout_ms;
    store->writer.wait.timeout_ms = 0;
    int rc = sqlite3_wal_checkpoint_v2(store->writer.handle, "main", mode, &logged, &copied);
    store->writer.wait.timeout_ms = timeout_ms;
    store->copying = (struct copying){0};
    counter_add(&store->checkpoints, 1);
    if (sqlite3_extended_errcode(store->writer.handle) == SQLITE_IOERR_FSYNC)
        store->sentinel->copier.sync_failed = true;
    if (rc != SQLITE_OK || copied < logged)
        pause_copying(store);
}

void store_checkpoint(struct store *store, uint32_t frames)
{
    struct wal_length wal;
    if (!measure_wal(store, &wal) || wal.frames < frames || !copier_rests(store) ||
        sync_has_failed(store) || db_monotonic_us() < store->copying.again_at_us ||
        !measure_wal(store, &wal))
        return;
    bool late = wal.frames >= CHECKPOINT_LATE_FRAMES;
    /* All copied: the next commit starts the WAL over. */
    if ((wal.left == 0 && !late) || give_to_copier(store, wal.left))
        return;
    int mode = late ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE;
    copy_now(store, wal.frames >= TOO_LONG_FRAMES ? SQLITE_CHECKPOINT_TRUNCATE : mode);
}
