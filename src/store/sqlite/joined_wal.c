/* A WAL file is a struct joined followed by the real file, in the allocation that SQLite makes for
 * it; every other file is the real one. Invariant: the collected bytes continue the real file at
 * collected_at, and no other process knows about them. If they cannot be written, they are dropped
 * and the error is returned, as for a failed write: SQLite rolls the commit back, and writes there
 * again. A connection is used by one thread at a time. */
#include "store/sqlite/joined_wal.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { COLLECT_BYTES = 0x1ffff }; /* the limit for one write: unix VFS, seekAndWrite */

struct joined {
    sqlite3_file base;
    unsigned char *collected;
    int collected_bytes;
    sqlite3_int64 collected_at;
    sqlite3_file *real;
};

static sqlite3_vfs *below;
static sqlite3_vfs vfs;

static int write_collected(struct joined *joined)
{
    int bytes = joined->collected_bytes;
    joined->collected_bytes = 0;
    if (bytes == 0)
        return SQLITE_OK;
    return joined->real->pMethods->xWrite(joined->real, joined->collected, bytes,
                                          joined->collected_at);
}

static int joined_xWrite(sqlite3_file *file, const void *from, int bytes, sqlite3_int64 at)
{
    struct joined *joined = (struct joined *)file;
    bool follows = joined->collected_at + joined->collected_bytes == at;
    if (!follows || bytes > COLLECT_BYTES - joined->collected_bytes) {
        int rc = write_collected(joined);
        if (rc != SQLITE_OK)
            return rc;
    }
    if (joined->collected == NULL)
        joined->collected = malloc(COLLECT_BYTES);
    if (joined->collected == NULL || bytes > COLLECT_BYTES)
        return joined->real->pMethods->xWrite(joined->real, from, bytes, at);
    if (joined->collected_bytes == 0)
        joined->collected_at = at;
    memcpy(joined->collected + joined->collected_bytes, from, (size_t)bytes);
    joined->collected_bytes += bytes;
    return SQLITE_OK;
}

static int joined_xClose(sqlite3_file *file)
{
    struct joined *joined = (struct joined *)file;
    free(joined->collected); /* of a commit that never happened */
    return joined->real->pMethods->xClose(joined->real);
}

#define AFTER_WRITING(name, parameters, ...)                                                       \
    static int joined_##name parameters                                                            \
    {                                                                                              \
        struct joined *joined = (struct joined *)file;                                             \
        int rc = write_collected(joined);                                                          \
        return rc != SQLITE_OK ? rc : joined->real->pMethods->name(joined->real, ##__VA_ARGS__);   \
    }

AFTER_WRITING(xRead, (sqlite3_file * file, void *to, int bytes, sqlite3_int64 at), to, bytes, at)
AFTER_WRITING(xTruncate, (sqlite3_file * file, sqlite3_int64 size), size)
AFTER_WRITING(xSync, (sqlite3_file * file, int flags), flags)
AFTER_WRITING(xFileSize, (sqlite3_file * file, sqlite3_int64 *size), size)
AFTER_WRITING(xLock, (sqlite3_file * file, int level), level)
AFTER_WRITING(xUnlock, (sqlite3_file * file, int level), level)
AFTER_WRITING(xCheckReservedLock, (sqlite3_file * file, int *held), held)
AFTER_WRITING(xFileControl, (sqlite3_file * file, int what, void *argument), what, argument)

static int joined_xSectorSize(sqlite3_file *file)
{
    struct joined *joined = (struct joined *)file;
    return joined->real->pMethods->xSectorSize(joined->real);
}

static int joined_xDeviceCharacteristics(sqlite3_file *file)
{
    struct joined *joined = (struct joined *)file;
    return joined->real->pMethods->xDeviceCharacteristics(joined->real);
}

static const sqlite3_io_methods methods = {
    .iVersion = 1, /* shared memory and mapping belong to the database file */
    .xClose = joined_xClose,
    .xRead = joined_xRead,
    .xWrite = joined_xWrite,
    .xTruncate = joined_xTruncate,
    .xSync = joined_xSync,
    .xFileSize = joined_xFileSize,
    .xLock = joined_xLock,
    .xUnlock = joined_xUnlock,
    .xCheckReservedLock = joined_xCheckReservedLock,
    .xFileControl = joined_xFileControl,
    .xSectorSize = joined_xSectorSize,
    .xDeviceCharacteristics = joined_xDeviceCharacteristics,
};

static int open_file(sqlite3_vfs *self, const char *path, sqlite3_file *file, int flags, int *out)
{
    (void)self;
    if ((flags & SQLITE_OPEN_WAL) == 0)
        return below->xOpen(below, path, file, flags, out);
    struct joined *joined = (struct joined *)file;
    *joined = (struct joined){.real = (sqlite3_file *)(joined + 1)};
    int rc = below->xOpen(below, path, joined->real, flags, out);
    if (joined->real->pMethods != NULL)
        joined->base.pMethods = &methods;
    return rc;
}

static void put_in_place(void)
{
    below = sqlite3_vfs_find(NULL);
    check(below != NULL);
    vfs = *below;
    vfs.zName = "joined-wal";
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(struct joined) + below->szOsFile;
    vfs.xOpen = open_file;
}

const char *joined_wal_vfs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, put_in_place);
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? vfs.zName : NULL;
}
