/* The wal-index header as a stamp.
 *
 * SQLite writes copy 2 of the header, a barrier, then copy 1; a commit becomes visible to readers,
 * and its COMMIT returns, once both are written. So a process that knows of a commit finds copy 1
 * changed, and if copy 1 equals a stamp, word by word, the database is in that state, or in a later
 * one whose commit has not been reported to anyone. The header has a counter raised by each commit,
 * the WAL's salts, its last frame and running checksums: equal bytes are equal states. Other
 * changes (the WAL starts over after a checkpoint, a rebuilt index) make a stamp stale without
 * need, which costs one empty transaction.
 *
 * The mapping is obtained through xShmMap of the connection's own sqlite3_file, and mapped a second
 * time, so that readers may use it after the connection is closed. The -shm file is never opened
 * here, because closing it would release SQLite's POSIX locks. The connection holds no read
 * transaction, which would block checkpoints. Because it has nothing else to do, the copier uses it
 * to copy the WAL.
 *
 * sentinel_is_current(): any thread. The rest: the writer thread. */
#include "store/sqlite/sentinel.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    INDEX_REGION_BYTES = 32768,
    HEADER_WORDS = 6,   /* 48 bytes; copy 2 follows copy 1 */
    CHANGE_AT = 8,      /* iChange */
    PAGE_AT = 14,       /* szPage */
    FRAMES_AT = 16,     /* mxFrame */
    BACKFILL_WORD = 12, /* bytes 96 to 99, after the two copies */
    WAL_HEADER_BYTES = 32,
    WRITE_LOCK = 0, /* in the order of the locks after byte 120 */
    CHECKPOINT_LOCK = 1,
    READ_FILE_LOCK = 3,
};

_Static_assert(HEADER_WORDS * sizeof(uint64_t) == sizeof(struct store_stamp), "one header a stamp");

static const volatile void *find_region(struct db *db)
{
    sqlite3_file *file = NULL;
    sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (file == NULL || file->pMethods == NULL || file->pMethods->iVersion < 2 ||
        file->pMethods->xShmMap == NULL)
        return NULL;
    void volatile *region = NULL;
    return file->pMethods->xShmMap(file, 0, INDEX_REGION_BYTES, 0, &region) == SQLITE_OK ? region
                                                                                         : NULL;
}

static void map_index(struct sentinel *sentinel)
{
    sentinel->region = find_region(&sentinel->db);
    if (sentinel->region == NULL)
        return;
    /* An old size of 0 requests a second mapping of the same pages. */
    void *again =
        mremap((void *)(uintptr_t)sentinel->region, 0, INDEX_REGION_BYTES, MREMAP_MAYMOVE);
    if (again != MAP_FAILED)
        sentinel->index = again;
}

bool sentinel_shares_file(const struct sentinel *sentinel, struct db *other)
{
    /* Connections of one process to one file share one mapping. */
    return sentinel->index != NULL ? find_region(other) == sentinel->region
                                   : sentinel_check_file(sentinel) == SENTINEL_SAME;
}

static char *path_beside(const char *path, const char *suffix)
{
    char *real = realpath(path, NULL);
    char *beside = NULL;
    if (real != NULL && asprintf(&beside, "%s%s", real, suffix) < 0)
        beside = NULL;
    free(real);
    return beside;
}

static ino_t inode_of(const char *path)
{
    struct stat file;
    return path != NULL && lstat(path, &file) == 0 ? file.st_ino : 0;
}

static void remember_files(struct sentinel *sentinel)
{
    struct stat file;
    if (stat(sentinel->db.path, &file) == 0) {
        sentinel->device = file.st_dev;
        sentinel->inode = file.st_ino;
    }
    sentinel->wal_path = path_beside(sentinel->db.path, "-wal");
    sentinel->index_path = path_beside(sentinel->db.path, "-shm");
    sentinel->wal_inode = inode_of(sentinel->wal_path);
    sentinel->index_inode = inode_of(sentinel->index_path);
}

struct sentinel *sentinel_open(const struct db_options *options, struct err *err)
{
    struct sentinel *sentinel = calloc(1, sizeof(*sentinel));
    check(sentinel != NULL);
    pthread_mutex_init(&sentinel->lock, NULL);
    /* Readers that have to query SQLite do not wait for a lock: busy means "not current". */
    struct db_options quiet = *options;
    quiet.create = false;
    quiet.paces_copy = true;
    int64_t pages;
    if (!db_open(&sentinel->db, &quiet, err) ||
        !db_query_int(&sentinel->db, "SELECT count(*) FROM sqlite_master", &pages, err)) {
        sentinel_close(sentinel, false);
        return NULL;
    }
    sentinel->data_version = db_prepare(&sentinel->db, "PRAGMA data_version", err);
    if (sentinel->data_version == NULL) {
        sentinel_close(sentinel, false);
        return NULL;
    }
    sentinel->db.wait.timeout_ms = 0;
    map_index(sentinel);
    remember_files(sentinel);
    return sentinel;
}

void sentinel_disconnect(struct sentinel *sentinel, bool abandon)
{
    copier_wait(&sentinel->copier);
    /* SQLite may truncate the index file once its last connection is closed: readers then see
     * zeros, which are not a valid state. */
    if (sentinel->index != NULL && !sentinel->is_closed)
        check(mmap((void *)(uintptr_t)sentinel->index, INDEX_REGION_BYTES, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == sentinel->index);
    pthread_mutex_lock(&sentinel->lock);
    sentinel->is_closed = true;
    db_close(&sentinel->db, abandon);
    pthread_mutex_unlock(&sentinel->lock);
}

void sentinel_close(struct sentinel *sentinel, bool abandon)
{
    sentinel_disconnect(sentinel, abandon);
    if (sentinel->index != NULL)
        munmap((void *)(uintptr_t)sentinel->index, INDEX_REGION_BYTES);
    pthread_mutex_destroy(&sentinel->lock);
    free(sentinel->wal_path);
    free(sentinel->index_path);
    free(sentinel);
}

static void load_words(const _Atomic uint64_t *at, uint64_t words[static HEADER_WORDS])
{
    for (int i = 0; i < HEADER_WORDS; i++)
        words[i] = atomic_load_explicit(at + i, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
}

static bool ask_data_version(struct sentinel *sentinel, struct store_stamp *stamp)
{
    memset(stamp, 0, sizeof(*stamp));
    pthread_mutex_lock(&sentinel->lock);
    int64_t version = -1;
    if (!sentinel->is_closed) {
        if (sqlite3_step(sentinel->data_version) == SQLITE_ROW)
            version = sqlite3_column_int64(sentinel->data_version, 0);
        if (sqlite3_reset(sentinel->data_version) != SQLITE_OK)
            version = -1;
    }
    pthread_mutex_unlock(&sentinel->lock);
    memcpy(stamp->bytes, &version, sizeof(version));
    return version >= 0;
}

bool sentinel_read(struct sentinel *sentinel, struct store_stamp *stamp)
{
    if (sentinel->index == NULL)
        return ask_data_version(sentinel, stamp);
    uint64_t first[HEADER_WORDS];
    uint64_t second[HEADER_WORDS];
    load_words(sentinel->index, first);
    load_words(sentinel->index + HEADER_WORDS, second);
    memcpy(stamp->bytes, first, sizeof(first));
    return memcmp(first, second, sizeof(first)) == 0;
}

bool sentinel_is_current(struct sentinel *sentinel, const struct store_stamp *stamp)
{
    if (sentinel->index == NULL) {
        struct store_stamp now;
        return ask_data_version(sentinel, &now) &&
               memcmp(now.bytes, stamp->bytes, sizeof(now.bytes)) == 0;
    }
    uint64_t difference = 0;
    for (size_t i = 0; i < HEADER_WORDS; i++) {
        uint64_t known;
        memcpy(&known, stamp->bytes + i * sizeof(known), sizeof(known));
        difference |= known ^ atomic_load_explicit(sentinel->index + i, memory_order_relaxed);
    }
    atomic_thread_fence(memory_order_acquire);
    return difference == 0;
}

static uint32_t stamp_u32(const struct store_stamp *stamp, size_t at)
{
    uint32_t value;
    memcpy(&value, stamp->bytes + at, sizeof(value));
    return value;
}

uint32_t sentinel_stamp_change(const struct store_stamp *stamp)
{
    return stamp_u32(stamp, CHANGE_AT);
}

uint32_t sentinel_stamp_frames(const struct store_stamp *stamp)
{
    return stamp_u32(stamp, FRAMES_AT);
}

size_t sentinel_stamp_frame_bytes(const struct store_stamp *stamp)
{
    uint16_t page;
    memcpy(&page, stamp->bytes + PAGE_AT, sizeof(page));
    return SENTINEL_FRAME_HEADER_BYTES +
           (page == 1 ? 65536u : page); /* "WAL-Index Header", szPage */
}

uint64_t sentinel_stamp_wal_end(const struct store_stamp *stamp)
{
    return WAL_HEADER_BYTES +
           (uint64_t)sentinel_stamp_frames(stamp) * sentinel_stamp_frame_bytes(stamp);
}

uint64_t sentinel_stamp_wal_bytes(const struct store_stamp *stamp)
{
    return sentinel_stamp_frames(stamp) == 0 ? 0 : sentinel_stamp_wal_end(stamp);
}

uint32_t sentinel_backfilled(const struct sentinel *sentinel)
{
    uint64_t word = atomic_load_explicit(sentinel->index + BACKFILL_WORD, memory_order_relaxed);
    uint32_t value;
    memcpy(&value, &word, sizeof(value));
    return value;
}

static sqlite3_file *file_of(struct sentinel *sentinel)
{
    sqlite3_file *file = NULL;
    sqlite3_file_control(sentinel->db.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return file != NULL && file->pMethods != NULL && sentinel->index != NULL ? file : NULL;
}

bool sentinel_lock_writing(struct sentinel *sentinel, bool lock)
{
    sqlite3_file *file = file_of(sentinel);
    int how = (lock ? SQLITE_SHM_LOCK : SQLITE_SHM_UNLOCK) | SQLITE_SHM_EXCLUSIVE;
    return file != NULL && file->pMethods->xShmLock(file, WRITE_LOCK, 1, how) == SQLITE_OK;
}

bool sentinel_forget_copied(struct sentinel *sentinel)
{
    /* "WAL-Index Locks": to write, to checkpoint, and to prevent reads from the file alone: such a
     * reader would start the WAL over as the next writer. */
    static const int locks[] = {WRITE_LOCK, CHECKPOINT_LOCK, READ_FILE_LOCK};
    enum { COUNT = sizeof(locks) / sizeof(locks[0]) };
    sqlite3_file *file = file_of(sentinel);
    if (file == NULL)
        return false;
    int held = 0;
    while (held < COUNT &&
           file->pMethods->xShmLock(file, locks[held], 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) ==
               SQLITE_OK)
        held++;
    bool ok = held == COUNT;
    if (ok)
        atomic_store((_Atomic uint32_t *)(uintptr_t)(sentinel->index + BACKFILL_WORD), 0);
    while (held > 0)
        file->pMethods->xShmLock(file, locks[--held], 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    return ok;
}

enum sentinel_file sentinel_check_file(const struct sentinel *sentinel)
{
    struct stat file;
    if (stat(sentinel->db.path, &file) != 0)
        return SENTINEL_GONE;
    return file.st_dev == sentinel->device && file.st_ino == sentinel->inode ? SENTINEL_SAME
                                                                             : SENTINEL_REPLACED;
}

bool sentinel_has_wal(struct sentinel *sentinel)
{
    struct store_stamp before;
    struct store_stamp after;
    struct stat file;
    if (sentinel->index == NULL)
        return true;
    bool is_known = sentinel_read(sentinel, &before);
    if (sentinel->wal_inode == 0 || lstat(sentinel->wal_path, &file) != 0 ||
        file.st_ino != sentinel->wal_inode)
        return false;
    /* Other processes may start the WAL over meanwhile, and cut it themselves. */
    if (is_known && (uint64_t)file.st_size < sentinel_stamp_wal_bytes(&before) &&
        sentinel_read(sentinel, &after) && memcmp(&before, &after, sizeof(before)) == 0)
        sentinel->wal_is_cut = true;
    return !sentinel->wal_is_cut;
}

bool sentinel_has_wal_and_index(struct sentinel *sentinel)
{
    return sentinel_has_wal(sentinel) &&
           (sentinel->index == NULL || inode_of(sentinel->index_path) == sentinel->index_inode);
}

void sentinel_remove_stale_wal(const struct sentinel *sentinel)
{
    struct stat file;
    if (sentinel->wal_path == NULL || sentinel->index_path == NULL ||
        stat(sentinel->wal_path, &file) != 0 || file.st_dev != sentinel->device ||
        file.st_ino != sentinel->wal_inode)
        return;
    unlink(sentinel->wal_path);
    unlink(sentinel->index_path);
}
