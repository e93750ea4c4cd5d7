/* Databases, WALs and journals live in memory; only what was synced is in the real file.
 *
 * Each such file has one image, shared by all connections of the process. A write goes to the image
 * and is remembered as a dirty range; xSync writes the dirty ranges to the real file, cuts it to
 * the image's size, and syncs it. So a process that is killed leaves what a power cut would leave.
 * The wal-index is memory anyway and is passed through, as are locks and deletions. Files are not
 * mapped (no xFetch).
 *
 * Some unsynced writes reach the disk early: a few of their sectors, or all. A sync may be made to
 * fail: then some of what was dirty has reached the disk, and the rest is dropped, as the system
 * marks pages clean that it could not write: no later sync writes it. A write may be made to fail,
 * done in part, wholly or not at all. One lock around all images: any thread. */
#include "powercut_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 65536,
    SECTOR_BYTES = 512
}; /* SQLite's own VFS takes no more than 128 KiB at once */

struct range {
    sqlite3_int64 from;
    sqlite3_int64 to;
};

struct image {
    char *path;
    unsigned char *bytes;
    sqlite3_int64 size;
    sqlite3_int64 capacity;
    struct range *dirty;
    size_t dirty_count;
    size_t dirty_capacity;
    unsigned failures; /* of syncs */
    struct image *next;
};

struct cut_file {
    sqlite3_file base;
    struct image *image; /* NULL: passed through */
    unsigned reported;   /* of the image's failures */
    sqlite3_file *real;  /* behind this struct, in the same allocation */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images;
static sqlite3_vfs *root;
static sqlite3_vfs vfs;
static unsigned share;
static unsigned sync_fails; /* of 1024, as the next */
static unsigned write_fails;
static unsigned long long chance;
static void (*after_change)(void);

static void *grow(void *at, size_t bytes)
{
    void *grown = realloc(at, bytes);
    if (grown == NULL)
        abort();
    return grown;
}

static unsigned below(unsigned limit)
{
    chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)((chance >> 33) % limit);
}

static bool reaches_disk_early(void)
{
    return below(256) < share;
}

static struct image *find_image(const char *path)
{
    struct image *image = images;
    while (image != NULL && strcmp(image->path, path) != 0)
        image = image->next;
    return image;
}

static void resize(struct image *image, sqlite3_int64 size)
{
    if (size > image->capacity) {
        sqlite3_int64 capacity = size * 2 + 65536;
        image->bytes = grow(image->bytes, (size_t)capacity);
        image->capacity = capacity;
    }
    if (size > image->size)
        memset(image->bytes + image->size, 0, (size_t)(size - image->size));
    image->size = size;
}

static int piece(sqlite3_int64 left)
{
    return left < PIECE_BYTES ? (int)left : PIECE_BYTES;
}

static int load_image(const char *path, sqlite3_file *real, struct image **out)
{
    sqlite3_int64 size;
    int rc = real->pMethods->xFileSize(real, &size);
    if (rc != SQLITE_OK)
        return rc;
    struct image *image = calloc(1, sizeof(*image));
    if (image == NULL || (image->path = strdup(path)) == NULL)
        abort();
    resize(image, size);
    for (sqlite3_int64 at = 0; rc == SQLITE_OK && at < size; at += PIECE_BYTES)
        rc = real->pMethods->xRead(real, image->bytes + at, piece(size - at), at);
    image->next = images;
    images = image;
    *out = image;
    return rc;
}

static void drop_image(const char *path)
{
    for (struct image **at = &images; *at != NULL; at = &(*at)->next) {
        if (strcmp((*at)->path, path) != 0)
            continue;
        struct image *image = *at;
        *at = image->next;
        /* Files still open on it keep it, as they keep a deleted file. */
        image->path[0] = '\0';
        return;
    }
}

static struct cut_file *cut(sqlite3_file *file)
{
    return (struct cut_file *)file;
}

static int cut_close(sqlite3_file *file)
{
    /* The image stays: what was not synced is still there for whoever opens the file again. */
    return cut(file)->real->pMethods->xClose(cut(file)->real);
}

static int cut_read(sqlite3_file *file, void *to, int amount, sqlite3_int64 offset)
{
    struct image *image = cut(file)->image;
    if (image == NULL)
        return cut(file)->real->pMethods->xRead(cut(file)->real, to, amount, offset);
    pthread_mutex_lock(&lock);
    sqlite3_int64 there = image->size - offset;
    if (there < 0)
        there = 0;
    if (there > amount)
        there = amount;
    if (there > 0)
        memcpy(to, image->bytes + offset, (size_t)there);
    pthread_mutex_unlock(&lock);
    memset((char *)to + there, 0, (size_t)(amount - there));
    return there == amount ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static void remember(struct image *image, sqlite3_int64 from, sqlite3_int64 to)
{
    if (image->dirty_count > 0 && image->dirty[image->dirty_count - 1].to == from) {
        image->dirty[image->dirty_count - 1].to = to;
        return;
    }
    if (image->dirty_count == image->dirty_capacity) {
        image->dirty_capacity = image->dirty_capacity * 2 + 64;
        image->dirty = grow(image->dirty, image->dirty_capacity * sizeof(*image->dirty));
    }
    image->dirty[image->dirty_count++] = (struct range){from, to};
}

/* All of the range, or each of its sectors as chance has it, in the real file. */
static int reach_disk(struct image *image, sqlite3_file *real, struct range range)
{
    bool is_torn = below(2) == 0;
    int rc = SQLITE_OK;
    if (range.to > image->size)
        range.to = image->size;
    for (sqlite3_int64 at = range.from; rc == SQLITE_OK && at < range.to;) {
        sqlite3_int64 end = is_torn ? (at / SECTOR_BYTES + 1) * SECTOR_BYTES : at + PIECE_BYTES;
        end = end < range.to ? end : range.to;
        if (!is_torn || below(2) == 0)
            rc = real->pMethods->xWrite(real, image->bytes + at, (int)(end - at), at);
        at = end;
    }
    return rc;
}

static void changed(void)
{
    if (after_change != NULL)
        after_change();
}

static int cut_write(sqlite3_file *file, const void *from, int amount, sqlite3_int64 offset)
{
    struct image *image = cut(file)->image;
    sqlite3_file *real = cut(file)->real;
    if (image == NULL)
        return real->pMethods->xWrite(real, from, amount, offset);
    int rc = SQLITE_OK;
    pthread_mutex_lock(&lock);
    bool fails = below(1024) < write_fails;
    if (fails)
        amount = (int)below((unsigned)amount * 2) % (amount + 1);
    if (offset + amount > image->size)
        resize(image, offset + amount);
    memcpy(image->bytes + offset, from, (size_t)amount);
    remember(image, offset, offset + amount);
    if (reaches_disk_early())
        rc = reach_disk(image, real, (struct range){offset, offset + amount});
    pthread_mutex_unlock(&lock);
    changed();
    return fails ? SQLITE_IOERR_WRITE : rc;
}

static int cut_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct image *image = cut(file)->image;
    if (image == NULL)
        return cut(file)->real->pMethods->xTruncate(cut(file)->real, size);
    pthread_mutex_lock(&lock);
    resize(image, size);
    pthread_mutex_unlock(&lock);
    return SQLITE_OK;
}

static int flush(struct image *image, sqlite3_file *real)
{
    for (size_t i = 0; i < image->dirty_count; i++) {
        struct range range = image->dirty[i];
        if (range.to > image->size)
            range.to = image->size;
        for (sqlite3_int64 at = range.from; at < range.to; at += PIECE_BYTES) {
            int rc = real->pMethods->xWrite(real, image->bytes + at, piece(range.to - at), at);
            if (rc != SQLITE_OK)
                return rc;
        }
    }
    image->dirty_count = 0;
    return real->pMethods->xTruncate(real, image->size);
}

static int fail_flush(struct image *image, sqlite3_file *real)
{
    for (size_t i = 0; i < image->dirty_count; i++)
        if (below(2) == 0)
            reach_disk(image, real, image->dirty[i]);
    image->dirty_count = 0;
    image->failures++;
    return SQLITE_IOERR_FSYNC;
}

static int cut_sync(sqlite3_file *file, int flags)
{
    struct image *image = cut(file)->image;
    sqlite3_file *real = cut(file)->real;
    int rc = SQLITE_OK;
    if (image != NULL) {
        pthread_mutex_lock(&lock);
        bool fails = below(1024) < sync_fails;
        rc = fails ? fail_flush(image, real) : flush(image, real);
        /* Each open file reports the loss once. */
        if (rc == SQLITE_OK && cut(file)->reported != image->failures)
            rc = SQLITE_IOERR_FSYNC;
        cut(file)->reported = image->failures;
        pthread_mutex_unlock(&lock);
        changed();
    }
    /* The machine stays on: the page cache is disk enough, and a real sync would only cost time. */
    (void)flags;
    return rc;
}

static int cut_file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    struct image *image = cut(file)->image;
    if (image == NULL)
        return cut(file)->real->pMethods->xFileSize(cut(file)->real, size);
    pthread_mutex_lock(&lock);
    *size = image->size;
    pthread_mutex_unlock(&lock);
    return SQLITE_OK;
}

static int cut_control(sqlite3_file *file, int op, void *arg)
{
    /* These would alter or map the real file. */
    if (op == SQLITE_FCNTL_SIZE_HINT || op == SQLITE_FCNTL_CHUNK_SIZE ||
        op == SQLITE_FCNTL_MMAP_SIZE)
        return SQLITE_NOTFOUND;
    return cut(file)->real->pMethods->xFileControl(cut(file)->real, op, arg);
}

static int cut_lock(sqlite3_file *file, int level)
{
    return cut(file)->real->pMethods->xLock(cut(file)->real, level);
}

static int cut_unlock(sqlite3_file *file, int level)
{
    return cut(file)->real->pMethods->xUnlock(cut(file)->real, level);
}

static int cut_check_lock(sqlite3_file *file, int *held)
{
    return cut(file)->real->pMethods->xCheckReservedLock(cut(file)->real, held);
}

static int cut_sector_size(sqlite3_file *file)
{
    return cut(file)->real->pMethods->xSectorSize(cut(file)->real);
}

static int cut_characteristics(sqlite3_file *file)
{
    return cut(file)->real->pMethods->xDeviceCharacteristics(cut(file)->real);
}

static int cut_shm_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **out)
{
    return cut(file)->real->pMethods->xShmMap(cut(file)->real, region, bytes, extend, out);
}

static int cut_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return cut(file)->real->pMethods->xShmLock(cut(file)->real, offset, n, flags);
}

static void cut_shm_barrier(sqlite3_file *file)
{
    cut(file)->real->pMethods->xShmBarrier(cut(file)->real);
}

static int cut_shm_unmap(sqlite3_file *file, int delete)
{
    return cut(file)->real->pMethods->xShmUnmap(cut(file)->real, delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = cut_close,
    .xRead = cut_read,
    .xWrite = cut_write,
    .xTruncate = cut_truncate,
    .xSync = cut_sync,
    .xFileSize = cut_file_size,
    .xLock = cut_lock,
    .xUnlock = cut_unlock,
    .xCheckReservedLock = cut_check_lock,
    .xFileControl = cut_control,
    .xSectorSize = cut_sector_size,
    .xDeviceCharacteristics = cut_characteristics,
    .xShmMap = cut_shm_map,
    .xShmLock = cut_shm_lock,
    .xShmBarrier = cut_shm_barrier,
    .xShmUnmap = cut_shm_unmap,
};

static int cut_open(sqlite3_vfs *self, const char *path, sqlite3_file *file, int flags, int *out)
{
    (void)self;
    struct cut_file *opened = cut(file);
    *opened = (struct cut_file){.real = (sqlite3_file *)(opened + 1)};
    int rc = root->xOpen(root, path, opened->real, flags, out);
    if (rc != SQLITE_OK)
        return rc;
    int kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
    if (path != NULL && (flags & kept) != 0) {
        pthread_mutex_lock(&lock);
        opened->image = find_image(path);
        if (opened->image == NULL)
            rc = load_image(path, opened->real, &opened->image);
        if (opened->image != NULL)
            opened->reported = opened->image->failures;
        pthread_mutex_unlock(&lock);
    }
    opened->base.pMethods = &methods;
    return rc;
}

static int cut_delete(sqlite3_vfs *self, const char *path, int sync_directory)
{
    (void)self;
    pthread_mutex_lock(&lock);
    drop_image(path);
    pthread_mutex_unlock(&lock);
    return root->xDelete(root, path, sync_directory);
}

void powercut_register(unsigned early_share)
{
    root = sqlite3_vfs_find(NULL);
    vfs = *root;
    vfs.zName = "powercut";
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(struct cut_file) + root->szOsFile;
    vfs.xOpen = cut_open;
    vfs.xDelete = cut_delete;
    share = early_share;
    chance = (unsigned long long)getpid() * 2654435761u + (unsigned long long)time(NULL);
    if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK)
        abort();
}

void powercut_fail(unsigned syncs, unsigned writes, unsigned long long seed)
{
    pthread_mutex_lock(&lock);
    sync_fails = syncs;
    write_fails = writes;
    if (seed != 0)
        chance = seed;
    pthread_mutex_unlock(&lock);
}

void powercut_watch(void (*watch)(void))
{
    after_change = watch;
}

void powercut_hold(bool hold)
{
    if (hold)
        pthread_mutex_lock(&lock);
    else
        pthread_mutex_unlock(&lock);
}
