/* A database file is a struct paced followed by the real file, in the allocation that SQLite makes
 * for it; every other file is the real one. A connection is used by one thread at a time. */
#include "store/sqlite/paced_copy.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "base/check.h"
#include "base/clock.h"

/* A piece is the amount that the disk writes in some milliseconds, within limits: at least half a
 * MiB of usual pages, at most eight. */
enum { PIECE_MIN_PAGES = 128, PIECE_MAX_PAGES = 2048, PIECE_US = 4000 };

struct paced {
    sqlite3_file base;
    int unsynced; /* writes since the last sync */
    int piece;    /* this many are synced */
    sqlite3_file *real;
};

static sqlite3_vfs *below;
static sqlite3_vfs vfs;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct paced *)file)->real;
}

static int paced_xSync(sqlite3_file *file, int flags)
{
    ((struct paced *)file)->unsynced = 0;
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int sync_piece(struct paced *paced)
{
    uint64_t began_us = clock_monotonic_us();
    if (paced_xSync(&paced->base, SQLITE_SYNC_NORMAL) != SQLITE_OK)
        return SQLITE_IOERR_FSYNC;
    bool is_fast = clock_monotonic_us() - began_us < PIECE_US;
    paced->piece = is_fast ? paced->piece / 2 : paced->piece * 2;
    if (paced->piece < PIECE_MIN_PAGES)
        paced->piece = PIECE_MIN_PAGES;
    if (paced->piece > PIECE_MAX_PAGES)
        paced->piece = PIECE_MAX_PAGES;
    return SQLITE_OK;
}

static int paced_xWrite(sqlite3_file *file, const void *from, int bytes, sqlite3_int64 at)
{
    int rc = real_of(file)->pMethods->xWrite(real_of(file), from, bytes, at);
    if (rc != SQLITE_OK || ++((struct paced *)file)->unsynced < ((struct paced *)file)->piece)
        return rc;
    return sync_piece((struct paced *)file);
}

#define FORWARD(name, parameters, ...)                                                             \
    static int paced_##name parameters                                                             \
    {                                                                                              \
        return real_of(file)->pMethods->name(real_of(file), ##__VA_ARGS__);                        \
    }

FORWARD(xClose, (sqlite3_file * file))
FORWARD(xRead, (sqlite3_file * file, void *to, int bytes, sqlite3_int64 at), to, bytes, at)
FORWARD(xTruncate, (sqlite3_file * file, sqlite3_int64 size), size)
FORWARD(xFileSize, (sqlite3_file * file, sqlite3_int64 *size), size)
FORWARD(xLock, (sqlite3_file * file, int level), level)
FORWARD(xUnlock, (sqlite3_file * file, int level), level)
FORWARD(xCheckReservedLock, (sqlite3_file * file, int *held), held)
FORWARD(xFileControl, (sqlite3_file * file, int what, void *argument), what, argument)
FORWARD(xSectorSize, (sqlite3_file * file))
FORWARD(xDeviceCharacteristics, (sqlite3_file * file))
FORWARD(xShmMap, (sqlite3_file * file, int region, int bytes, int extend, void volatile **to),
        region, bytes, extend, to)
FORWARD(xShmLock, (sqlite3_file * file, int offset, int n, int flags), offset, n, flags)
FORWARD(xShmUnmap, (sqlite3_file * file, int delete_it), delete_it)

static void paced_xShmBarrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

#define METHODS(version)                                                                           \
    {                                                                                              \
        .iVersion = (version), .xClose = paced_xClose, .xRead = paced_xRead,                       \
        .xWrite = paced_xWrite, .xTruncate = paced_xTruncate, .xSync = paced_xSync,                \
        .xFileSize = paced_xFileSize, .xLock = paced_xLock, .xUnlock = paced_xUnlock,              \
        .xCheckReservedLock = paced_xCheckReservedLock, .xFileControl = paced_xFileControl,        \
        .xSectorSize = paced_xSectorSize, .xDeviceCharacteristics = paced_xDeviceCharacteristics,  \
        .xShmMap = paced_xShmMap, .xShmLock = paced_xShmLock, .xShmBarrier = paced_xShmBarrier,    \
        .xShmUnmap = paced_xShmUnmap,                                                              \
    }

/* Files are not mapped: no version 3. */
static const sqlite3_io_methods with_shared_memory = METHODS(2);
static const sqlite3_io_methods without_shared_memory = METHODS(1);

static int open_file(sqlite3_vfs *self, const char *path, sqlite3_file *file, int flags, int *out)
{
    (void)self;
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
        return below->xOpen(below, path, file, flags, out);
    struct paced *paced = (struct paced *)file;
    *paced = (struct paced){.piece = PIECE_MIN_PAGES, .real = (sqlite3_file *)(paced + 1)};
    int rc = below->xOpen(below, path, paced->real, flags, out);
    if (paced->real->pMethods != NULL)
        paced->base.pMethods =
            paced->real->pMethods->iVersion >= 2 ? &with_shared_memory : &without_shared_memory;
    return rc;
}

static void put_in_place(void)
{
    below = sqlite3_vfs_find(NULL);
    check(below != NULL);
    vfs = *below;
    vfs.zName = "paced-copy";
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(struct paced) + below->szOsFile;
    vfs.xOpen = open_file;
}

const char *paced_copy_vfs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, put_in_place);
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? vfs.zName : NULL;
}
