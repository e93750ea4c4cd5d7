/* See shim.h. */
#include "shim.h"

#include "await.h"
#include "fixture.h"

struct shim shim;
_Thread_local unsigned shim_database_writes;
_Thread_local unsigned shim_wal_writes;

struct shim_file {
    sqlite3_file base;
    bool is_wal;
    bool is_database;
    sqlite3_file *real; /* behind this struct */
};

static sqlite3_vfs shim_vfs;
static sqlite3_vfs *real_vfs;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct shim_file *)file)->real;
}

#define FORWARD(name, parameters, ...)                                                             \
    static int shim_##name parameters                                                              \
    {                                                                                              \
        return real_of(file)->pMethods->name(real_of(file), ##__VA_ARGS__);                        \
    }

FORWARD(xClose, (sqlite3_file * file))
FORWARD(xRead, (sqlite3_file * file, void *to, int count, sqlite3_int64 at), to, count, at)
FORWARD(xTruncate, (sqlite3_file * file, sqlite3_int64 size), size)
FORWARD(xFileSize, (sqlite3_file * file, sqlite3_int64 *size), size)
FORWARD(xLock, (sqlite3_file * file, int level), level)
FORWARD(xUnlock, (sqlite3_file * file, int level), level)
FORWARD(xCheckReservedLock, (sqlite3_file * file, int *answer), answer)
FORWARD(xFileControl, (sqlite3_file * file, int op, void *argument), op, argument)
FORWARD(xSectorSize, (sqlite3_file * file))
FORWARD(xDeviceCharacteristics, (sqlite3_file * file))
FORWARD(xShmLock, (sqlite3_file * file, int offset, int n, int flags), offset, n, flags)
FORWARD(xShmUnmap, (sqlite3_file * file, int delete_it), delete_it)

static int shim_xShmMap(sqlite3_file *file, int page, int size, int extend, void volatile **to)
{
    return shim.closed_directory
               ? SQLITE_CANTOPEN
               : real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, to);
}

static void shim_xShmBarrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shim_xWrite(sqlite3_file *file, const void *from, int count, sqlite3_int64 at)
{
    int fails = shim.write_fails;
    if (fails != 0)
        return fails;
    shim_wal_writes += ((struct shim_file *)file)->is_wal;
    if (((struct shim_file *)file)->is_database) {
        shim_database_writes++;
        shim.held_database_writes += shim.holds_database_writes;
        while (shim.holds_database_writes)
            await_pause();
    }
    return real_of(file)->pMethods->xWrite(real_of(file), from, count, at);
}

static int shim_xSync(sqlite3_file *file, int flags)
{
    int rc = shim.wal_sync_fails;
    if (rc != 0 && ((struct shim_file *)file)->is_wal) {
        shim.wal_sync_fails = shim.once ? 0 : rc;
        return rc;
    }
    rc = shim.database_sync_fails_once;
    if (rc != 0 && ((struct shim_file *)file)->is_database) {
        shim.database_sync_fails_once = 0;
        return rc;
    }
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

#define METHODS(version)                                                                           \
    {                                                                                              \
        .iVersion = version, .xClose = shim_xClose, .xRead = shim_xRead, .xWrite = shim_xWrite,    \
        .xTruncate = shim_xTruncate, .xSync = shim_xSync, .xFileSize = shim_xFileSize,             \
        .xLock = shim_xLock, .xUnlock = shim_xUnlock,                                              \
        .xCheckReservedLock = shim_xCheckReservedLock, .xFileControl = shim_xFileControl,          \
        .xSectorSize = shim_xSectorSize, .xDeviceCharacteristics = shim_xDeviceCharacteristics,    \
        .xShmMap = shim_xShmMap, .xShmLock = shim_xShmLock, .xShmBarrier = shim_xShmBarrier,       \
        .xShmUnmap = shim_xShmUnmap,                                                               \
    }

static const sqlite3_io_methods with_shared_memory = METHODS(2);
static const sqlite3_io_methods without_shared_memory = METHODS(1);

static int shim_xAccess(sqlite3_vfs *vfs, const char *name, int what, int *out)
{
    (void)vfs;
    int rc = real_vfs->xAccess(real_vfs, name, what, out);
    if (rc == SQLITE_OK && what == SQLITE_ACCESS_READWRITE && shim.read_only)
        *out = 0;
    return rc;
}

static int shim_xOpen(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    struct shim_file *own = (struct shim_file *)file;
    own->base.pMethods = NULL;
    own->is_wal = (flags & SQLITE_OPEN_WAL) != 0;
    own->is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    own->real = (sqlite3_file *)(own + 1);
    if (shim.read_only && (flags & SQLITE_OPEN_MAIN_DB) != 0)
        flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    int rc = real_vfs->xOpen(real_vfs, name, own->real, flags, out);
    if (own->real->pMethods != NULL)
        own->base.pMethods = shim.no_shared_memory ? &without_shared_memory : &with_shared_memory;
    return rc;
}

void shim_install(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    shim_vfs = *real_vfs;
    shim_vfs.zName = "shim";
    shim_vfs.szOsFile = (int)sizeof(struct shim_file) + real_vfs->szOsFile;
    shim_vfs.xOpen = shim_xOpen;
    shim_vfs.xAccess = shim_xAccess;
    assert_int_equal(sqlite3_vfs_register(&shim_vfs, 1), SQLITE_OK);
}

int shim_setup(void **state)
{
    shim = (struct shim){0};
    return fixture_setup(state);
}

int shim_teardown(void **state)
{
    shim = (struct shim){0};
    return fixture_teardown(state);
}
