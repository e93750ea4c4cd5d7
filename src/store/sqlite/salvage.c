/* Saves what only an open WAL still has, when its name or that of its file leads elsewhere, or when
 * another process has truncated it.
 *
 * The wal-index is trusted only as far as the open WAL confirms it: the checksums of its frames
 * continue from one to the next, and those of the last are in the index. Then no process has
 * written anywhere but to this WAL, and under the write lock none will while it is copied. If they
 * differ, other processes have continued in a file of their own that took the name; the same is
 * true if both WAL and index are new and the new WAL has frames. Their writes and those in this WAL
 * cannot be combined, so the file is left as it is, consistent.
 *
 * A WAL that took the place of ours, while the index is still ours, has not been written to by any
 * connection: it is a copy of an older one, which SQLite would apply to the file at the next
 * recovery, over newer pages. It is emptied before anything more is acknowledged. Writer thread
 * only. */
#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "store/sqlite/sentinel.h"

enum {
    WAL_HEADER_BYTES = 32,
    SALTS_AT = 16, /* in the WAL's header, 8 bytes */
    FRAME_SALTS_AT = 8,
    BIG_ENDIAN_AT = 3, /* the last bit of the magic number */
    SUMMED_HEADER_BYTES = 24,
    SUMMED_FRAME_BYTES = 8,
    STAMP_SUMS_AT = 24, /* in the index's header: aFrameCksum, aSalt */
    STAMP_SALTS_AT = 32,
    SALTS_BYTES = 8,
};

struct sums {
    uint32_t first, second;
};

/* "Checksum Algorithm" of "WAL-mode File Format". */
static void add_up(struct sums *sums, const unsigned char *bytes, size_t count, bool is_big_endian)
{
    for (size_t i = 0; i + 8 <= count; i += 8) {
        uint32_t words[2];
        memcpy(words, bytes + i, sizeof(words));
        for (int k = 0; k < 2; k++)
            words[k] = is_big_endian ? be32toh(words[k]) : le32toh(words[k]);
        sums->first += words[0] + sums->second;
        sums->second += words[1] + sums->first;
    }
}

static bool read_bytes(sqlite3_file *wal, unsigned char *to, size_t count, uint64_t at)
{
    return wal->pMethods->xRead(wal, to, (int)count, (sqlite3_int64)at) == SQLITE_OK;
}

static bool read_frames(sqlite3_file *wal, const struct store_stamp *stamp, unsigned char *frame,
                        size_t frame_bytes)
{
    unsigned char header[WAL_HEADER_BYTES];
    const unsigned char *salts = stamp->bytes + STAMP_SALTS_AT;
    struct sums sums = {0, 0};
    if (!read_bytes(wal, header, sizeof(header), 0) ||
        memcmp(header + SALTS_AT, salts, SALTS_BYTES) != 0)
        return false;
    bool is_big_endian = (header[BIG_ENDIAN_AT] & 1) != 0;
    add_up(&sums, header, SUMMED_HEADER_BYTES, is_big_endian);
    for (uint32_t i = 0; i < sentinel_stamp_frames(stamp); i++) {
        if (!read_bytes(wal, frame, frame_bytes, WAL_HEADER_BYTES + (uint64_t)i * frame_bytes) ||
            memcmp(frame + FRAME_SALTS_AT, salts, SALTS_BYTES) != 0)
            return false;
        add_up(&sums, frame, SUMMED_FRAME_BYTES, is_big_endian);
        add_up(&sums, frame + SENTINEL_FRAME_HEADER_BYTES,
               frame_bytes - SENTINEL_FRAME_HEADER_BYTES, is_big_endian);
    }
    return memcmp(&sums, stamp->bytes + STAMP_SUMS_AT, sizeof(sums)) == 0;
}

/* Whether the open WAL has exactly what the index says. */
static bool bears_out(struct sentinel *sentinel, const struct store_stamp *stamp)
{
    sqlite3_file *wal = NULL;
    if (sqlite3_file_control(sentinel->db.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) !=
            SQLITE_OK ||
        wal == NULL || wal->pMethods == NULL)
        return false;
    size_t frame_bytes = sentinel_stamp_frame_bytes(stamp);
    unsigned char *frame = malloc(frame_bytes);
    check(frame != NULL);
    bool ok = read_frames(wal, stamp, frame, frame_bytes);
    free(frame);
    return ok;
}

/* Other processes have created both files again, and written. */
static bool others_have_written(const struct sentinel *sentinel)
{
    struct stat wal;
    struct stat index;
    return sentinel->wal_path != NULL && stat(sentinel->wal_path, &wal) == 0 &&
           stat(sentinel->index_path, &index) == 0 && wal.st_ino != sentinel->wal_inode &&
           index.st_ino != sentinel->index_inode && wal.st_size > 0;
}

static bool empty_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    bool ok = fd >= 0 && ftruncate(fd, 0) == 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Not beside another database, to which it may belong; SQLite reads no WAL that is a link. */
static bool empty_other_wal(const struct sentinel *sentinel)
{
    struct stat wal;
    if (sentinel_check_file(sentinel) != SENTINEL_SAME || sentinel->wal_path == NULL ||
        lstat(sentinel->wal_path, &wal) != 0 || wal.st_ino == sentinel->wal_inode ||
        !S_ISREG(wal.st_mode) || wal.st_size == 0)
        return true;
    return empty_file(sentinel->wal_path);
}

static bool copy_all(struct sentinel *sentinel)
{
    int logged = -1;
    int copied = -1;
    int rc = sqlite3_wal_checkpoint_v2(sentinel->db.handle, "main", SQLITE_CHECKPOINT_PASSIVE,
                                       &logged, &copied);
    if (sqlite3_extended_errcode(sentinel->db.handle) == SQLITE_IOERR_FSYNC)
        sentinel->copier.sync_failed = true;
    return rc == SQLITE_OK && logged == copied;
}

static enum sentinel_salvage salvage_locked(struct sentinel *sentinel)
{
    struct store_stamp stamp;
    if (!sentinel_read(sentinel, &stamp))
        return SENTINEL_BLOCKED;
    uint32_t frames = sentinel_stamp_frames(&stamp);
    bool has_all = frames == 0 || sentinel_backfilled(sentinel) == frames;
    if (others_have_written(sentinel) || (frames > 0 && !bears_out(sentinel, &stamp)))
        return has_all ? SENTINEL_SALVAGED : SENTINEL_LOST;
    if (!has_all && !copy_all(sentinel))
        return SENTINEL_BLOCKED;
    return empty_other_wal(sentinel) ? SENTINEL_SALVAGED : SENTINEL_BLOCKED;
}

bool sentinel_has_frames(struct sentinel *sentinel, sqlite3_file *wal,
                         const struct store_stamp *before)
{
    unsigned char header[SENTINEL_FRAME_HEADER_BYTES] = {0};
    const unsigned char *salts = before->bytes + STAMP_SALTS_AT;
    struct store_stamp after;
    if (sentinel->index == NULL || sentinel_stamp_frames(before) == 0)
        return true;
    uint64_t at = sentinel_stamp_wal_end(before) - sentinel_stamp_frame_bytes(before);
    int rc = wal->pMethods->xRead(wal, header, sizeof(header), (sqlite3_int64)at);
    bool is_there = memcmp(header + FRAME_SALTS_AT, salts, SALTS_BYTES) == 0;
    /* Unless the WAL has started over since. */
    if ((rc == SQLITE_OK || rc == SQLITE_IOERR_SHORT_READ) && !is_there &&
        sentinel_read(sentinel, &after) &&
        memcmp(after.bytes + STAMP_SALTS_AT, salts, SALTS_BYTES) == 0)
        sentinel->wal_is_cut = true;
    return !sentinel->wal_is_cut;
}

enum sentinel_salvage sentinel_salvage(struct sentinel *sentinel)
{
    copier_wait(&sentinel->copier);
    if (sentinel->copier.sync_failed && !sentinel_forget_copied(sentinel))
        return SENTINEL_BLOCKED;
    sentinel->copier.sync_failed = false;
    if (!sentinel_lock_writing(sentinel, true))
        return SENTINEL_BLOCKED;
    enum sentinel_salvage salvage = salvage_locked(sentinel);
    sentinel_lock_writing(sentinel, false);
    return salvage;
}
