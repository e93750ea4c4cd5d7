/* Keeps the WAL short without making a commit wait.
 *
 * A thread (copier.h) copies the WAL into the file while commits continue, pass after pass; each
 * pass copies what was committed during the previous one. Once so little is left that the writer's
 * own connection needs only a few milliseconds, that connection copies the rest between two
 * batches: then nothing is left, and the next commit starts the WAL over. If readers block a copy
 * (a running backup), it does what it can and is retried; it never waits. If commits are faster
 * than the copier, they are slowed down a little, more so the longer the WAL is.
 *
 * The system reports a failed sync once, and treats the data it could not write as written. Pages
 * copied before would then not be copied again. So the wal-index is changed to say that nothing has
 * been copied, while the WAL still contains all pages. The writer only. */

#include "base/clock.h"
#include "base/wait.h"
#include "log/log.h"
#include "store/sqlite/internal.h"

enum {
    FRAMES =
        24000, /* 94 MiB with pages of 4 KiB: a page that changes often is copied only once; with
                  half of this limit a commit costs an eighth more. store_options.wal_frames */
    TOO_LONG_TIMES = 2,  /* multiple of it at which the file is cut */
    CUT_BYTES = 4 << 20, /* at once: with 128 MiB, a commit would wait 30 ms */
    AT_ONCE_FRAMES =
        2048, /* 8 MiB, of few different pages: some milliseconds of the writer's time */
    PASSES_MAX =
        64, /* other processes commit as fast as the copier copies, and are not slowed down */
    PAUSE_US = 100000,
    SHORT_PAUSE_US = 1000, /* with a short WAL */
    BRAKE_US_A_FRAME = 1,  /* beyond the WAL's limit */
    BRAKE_MAX_US = 8000,
};

struct wal_length {
    uint32_t frames;
    uint32_t left; /* not copied yet */
};

static bool measure_wal(const struct sqlite_store *store, struct wal_length *wal)
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

/* The number of frames at which the WAL should start over. */
static uint32_t limit_frames(const struct sqlite_store *store)
{
    return store->wal_frames > 0 ? store->wal_frames : FRAMES;
}

/* A file that has grown far beyond the limit because of a reader is cut, a little in each upkeep,
 * once the WAL has started over. A shorter file is never cut: a sync costs twice as much if the
 * file grows. No other process writes meanwhile, and none reads beyond the last frame. */
void sqlite_cut_wal(struct sqlite_store *store)
{
    struct store_stamp stamp;
    sqlite3_file *wal = NULL;
    sqlite3_int64 size = 0;
    struct sentinel *sentinel = store->sentinel;
    if (sentinel == NULL || sentinel->index == NULL || store->writer.handle == NULL ||
        !sentinel_read(sentinel, &stamp) || copier_is_busy(&sentinel->copier))
        return;
    sqlite3_int64 room = (sqlite3_int64)TOO_LONG_TIMES * limit_frames(store) *
                         (sqlite3_int64)sentinel_stamp_frame_bytes(&stamp);
    sqlite3_file_control(store->writer.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    if (wal == NULL || wal->pMethods == NULL || wal->pMethods->xFileSize(wal, &size) != SQLITE_OK ||
        size <= room || !sentinel_lock_writing(sentinel, true))
        return;
    if (sentinel_read(sentinel, &stamp) && (sqlite3_int64)sentinel_stamp_wal_end(&stamp) < room)
        wal->pMethods->xTruncate(wal, size - room > CUT_BYTES ? size - CUT_BYTES : room);
    sentinel_lock_writing(sentinel, false);
}

/* Another process reads an old state: each further attempt would sync for a few frames. */
static void pause_copying(struct sqlite_store *store)
{
    store->copying.passes = 0;
    store->copying.again_at_us =
        (int64_t)clock_monotonic_us() + (store->wal_frames > 0 ? SHORT_PAUSE_US : PAUSE_US);
}

/* Whether the file can be trusted to contain what the wal-index says was copied. */
static bool mend_failed_sync(struct sqlite_store *store)
{
    struct copier *copier = &store->sentinel->copier;
    if (copier->sync_failed && !store->copying.is_logged) {
        store->copying.is_logged = true;
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "the database '%s' cannot be synced: its WAL is kept until a sync succeeds",
                  store->path);
    }
    if (!copier->sync_failed)
        return true;
    if (!sentinel_forget_copied(store->sentinel))
        return false;
    copier->sync_failed = false;
    pause_copying(store);
    return false;
}

static bool copier_rests(struct sqlite_store *store)
{
    struct copier *copier = &store->sentinel->copier;
    bool was_started = copier->is_started;
    if (copier_is_busy(copier))
        return false;
    /* The writer itself reads a state before its commit, so a few frames are always left. */
    if (was_started && (copier->left_frames < 0 || copier->left_frames > AT_ONCE_FRAMES))
        pause_copying(store);
    return true;
}

static void note_success(struct sqlite_store *store)
{
    if (store->copying.is_logged)
        log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "the database '%s' can be synced again",
                  store->path);
    store->copying = (struct copying){0};
}

static void copy_now(struct sqlite_store *store, int mode)
{
    int logged = -1;
    int copied = -1;
    int timeout_ms = store->writer.wait.timeout_ms;
    store->writer.wait.timeout_ms = 0;
    int rc = sqlite3_wal_checkpoint_v2(store->writer.handle, "main", mode, &logged, &copied);
    store->writer.wait.timeout_ms = timeout_ms;
    counter_add(&store->checkpoints, 1);
    if (sqlite3_extended_errcode(store->writer.handle) == SQLITE_IOERR_FSYNC)
        store->sentinel->copier.sync_failed = true;
    else if (rc == SQLITE_OK && copied == logged)
        note_success(store);
    else
        pause_copying(store);
}

static void start_pass(struct sqlite_store *store)
{
    if (!copier_start(&store->sentinel->copier, &store->sentinel->db))
        return;
    store->copying.passes++;
    counter_add(&store->checkpoints, 1);
}

void sqlite_checkpoint(struct sqlite_store *store)
{
    struct wal_length wal;
    uint32_t limit = limit_frames(store);
    /* The first pass begins early, so that the WAL ends near its limit. */
    if (!measure_wal(store, &wal) || wal.frames < limit / 4 * 3 || !copier_rests(store) ||
        !mend_failed_sync(store) || (int64_t)clock_monotonic_us() < store->copying.again_at_us ||
        !measure_wal(store, &wal))
        return;
    bool is_due = wal.frames >= limit;
    bool is_late = wal.frames >= limit + limit / 5;
    if (wal.left > (is_due ? AT_ONCE_FRAMES : limit / 3) && store->copying.passes < PASSES_MAX) {
        start_pass(store);
        return;
    }
    /* Everything is copied: the next commit starts the WAL over. */
    if (!is_due || (wal.left == 0 && !is_late))
        return;
    copy_now(store, is_late ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE);
}

void sqlite_brake(struct sqlite_store *store)
{
    struct wal_length wal;
    uint32_t limit = limit_frames(store);
    limit += limit / 5;
    if (!measure_wal(store, &wal) || wal.frames <= limit ||
        !copier_is_busy(&store->sentinel->copier))
        return;
    int64_t us = (int64_t)(wal.frames - limit) * BRAKE_US_A_FRAME;
    us = us > BRAKE_MAX_US ? BRAKE_MAX_US : us;
    wait_sleep_us((uint64_t)us);
}
