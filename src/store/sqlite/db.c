/* Opens connections and reports their errors.
 *
 * synchronous=FULL syncs the WAL at every commit; automatic checkpoints, which would make a commit
 * wait, are off: checkpoint.c makes them. The busy handler is our own because SQLite's backs off to
 * 100 ms and starves beside a busy writer (architecture, "The embedded file"). One thread at a time
 * per connection. */
#include "store/sqlite/db.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/wait.h"
#include "store/sqlite/joined_wal.h"
#include "store/sqlite/paced_copy.h"

enum { LOCK_LOOK_US = 1000 };

static int wait_for_lock(void *cls, int calls)
{
    struct db_wait *wait = cls;
    int64_t now_us = (int64_t)clock_monotonic_us();
    wait->seen = true;
    if (calls == 0)
        wait->began_us = now_us;
    if (now_us - wait->began_us >= (int64_t)wait->timeout_ms * 1000)
        return 0;
    wait_sleep_us(LOCK_LOOK_US);
    return 1;
}

bool db_fail(const struct db *db, const char *what, struct err *err)
{
    const char *name = db->path[0] == '\0' ? "in memory" : db->path;
    const char *reason = db->handle == NULL ? "out of memory" : sqlite3_errmsg(db->handle);
    int code = db->handle == NULL ? SQLITE_NOMEM : sqlite3_errcode(db->handle);
    int system = db->handle == NULL ? 0 : sqlite3_system_errno(db->handle);
    bool names_system_error = system != 0 && (code == SQLITE_CANTOPEN || code == SQLITE_IOERR);
    return err_set(err, 503, NULL, "the database '%s' cannot be %s: %s%s%s", name, what, reason,
                   names_system_error ? ": " : "",
                   names_system_error ? strerrordesc_np(system) : "");
}

bool db_exec(struct db *db, const char *sql, struct err *err)
{
    if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    return db_fail(db, "used", err);
}

bool db_exec_all(struct db *db, const char *const *statements, struct err *err)
{
    for (; *statements != NULL; statements++)
        if (!db_exec(db, *statements, err))
            return false;
    return true;
}

sqlite3_stmt *db_prepare(struct db *db, const char *sql, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) !=
        SQLITE_OK)
        db_fail(db, "used", err);
    return statement;
}

bool db_query_int(struct db *db, const char *sql, int64_t *value, struct err *err)
{
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (statement == NULL)
        return false;
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    else if (rc != SQLITE_DONE)
        db_fail(db, "read", err);
    sqlite3_finalize(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

struct slice db_column_text(sqlite3_stmt *statement, int column)
{
    /* The text is read before its length, because a conversion changes the length. */
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return (struct slice){text, text == NULL ? 0 : (size_t)sqlite3_column_bytes(statement, column)};
}

static bool set_journal_mode(struct db *db, struct err *err)
{
    sqlite3_stmt *statement = db_prepare(db, "PRAGMA journal_mode = WAL", err);
    if (statement == NULL)
        return false;
    if (sqlite3_step(statement) != SQLITE_ROW)
        db_fail(db, "opened", err);
    sqlite3_finalize(statement);
    return !err_is_set(err);
}

bool db_leave_wal(struct db *db)
{
    sqlite3_stmt *statement = NULL;
    bool is_left = false;
    if (sqlite3_prepare_v2(db->handle, "PRAGMA journal_mode = DELETE", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        is_left = slice_equal(db_column_text(statement, 0), SLICE_LIT("delete"));
    return sqlite3_finalize(statement) == SQLITE_OK && is_left;
}

static bool db_refuse(struct db *db, struct err *err)
{
    int code = sqlite3_errcode(db->handle);
    if (!db->read_only || (code != SQLITE_CANTOPEN && code != SQLITE_READONLY))
        return db_fail(db, "opened", err);
    return err_set(err, 503, NULL,
                   "the database '%s' cannot be opened: it is read-only, and so is its directory",
                   db->path);
}

/* The file was renamed or replaced before its lock was granted: SQLite would treat the -wal beside
 * the name as belonging to it. */
static bool has_moved(struct db *db)
{
    int moved = 0;
    return db->path[0] != '\0' &&
           sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
           moved != 0;
}

static bool set_up(struct db *db, const struct db_options *options, struct err *err)
{
    sqlite3_extended_result_codes(db->handle, 0);
    sqlite3_busy_handler(db->handle, wait_for_lock, &db->wait);
    /* In this mode, a lock is kept once taken. */
    if (options->exclusive &&
        !db_exec(db, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT", err))
        return false;
    /* The version is read first, which shows whether this is a database at all. */
    if (sqlite3_exec(db->handle, "PRAGMA schema_version", NULL, NULL, NULL) != SQLITE_OK)
        return db_refuse(db, err);
    if (has_moved(db)) {
        db->was_moved = true;
        return err_set(err, 503, NULL, "the database '%s' is being replaced", db->path);
    }
    bool set_journal = options->path[0] != '\0' && !options->keep_journal && !db->read_only;
    if (set_journal && !set_journal_mode(db, err))
        return false;
    if (!db_exec(db,
                 "PRAGMA foreign_keys = OFF; PRAGMA wal_autocheckpoint = 0;"
                 "PRAGMA cache_size = -8192;",
                 err))
        return false;
    return db_exec(
        db, options->synchronous_off ? "PRAGMA synchronous = OFF" : "PRAGMA synchronous = FULL",
        err);
}

static bool stands_beside(const char *path, const char *suffix)
{
    struct stat file;
    char name[PATH_MAX];
    int len = snprintf(name, sizeof(name), "%s%s", path, suffix);
    return len >= PATH_MAX || (stat(name, &file) == 0 && file.st_size > 0);
}

/* SQLite needs a file beside the database even to read it, unless it is informed that nothing can
 * write it, as on a read-only file system. A file left there by a crash must be read, too; in that
 * case SQLite manages by itself. */
static bool is_frozen(const char *path)
{
    struct statvfs system;
    return statvfs(path, &system) == 0 && (system.f_flag & ST_RDONLY) != 0 &&
           !stands_beside(path, "-wal") && !stands_beside(path, "-journal");
}

static void append_uri(struct buf *uri, const char *path)
{
    buf_append_slice(uri, SLICE_LIT("file:"));
    for (; *path != '\0'; path++) {
        if (*path == '%' || *path == '?' || *path == '#')
            buf_printf(uri, "%%%02x", (unsigned)*path);
        else
            buf_append_char(uri, *path);
    }
    buf_append_slice(uri, SLICE_LIT("?immutable=1"));
    buf_append_char(uri, '\0');
}

static int open_file(struct db *db, const struct db_options *options, const char *name)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                (options->create || options->path[0] == '\0' ? SQLITE_OPEN_CREATE : 0);
    /* A connection that does not sync must not collect writes: see joined_wal.h. */
    const char *vfs = options->without_locks     ? "unix-none"
                      : options->synchronous_off ? NULL
                      : options->joins_wal       ? joined_wal_vfs()
                      : options->paces_copy      ? paced_copy_vfs()
                                                 : NULL;
    if (!options->may_be_read_only || options->path[0] == '\0' || !is_frozen(name))
        return sqlite3_open_v2(name, &db->handle, flags, vfs);
    struct buf uri = {0};
    append_uri(&uri, name);
    flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    int rc = sqlite3_open_v2(uri.data, &db->handle, flags, NULL);
    buf_free(&uri);
    return rc;
}

/* The progress handler's: SQLite's virtual machine has made this many steps, about a millisecond's
 * work. */
enum { STEPS_PER_CALL = 100000 };

static int count_steps(void *cls)
{
    _Atomic uint64_t *steps = cls;
    atomic_fetch_add_explicit(steps, 1, memory_order_relaxed);
    return 0;
}

/* Called before SQLite initialises itself. Its memory statistics are not used, and cost two locks
 * for each cursor that a statement opens. */
static void configure(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

bool db_open(struct db *db, const struct db_options *options, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure);
    *db = (struct db){.wait = {.timeout_ms = options->busy_timeout_ms}, .path = options->path};
    const char *name = options->path[0] == '\0' ? ":memory:" : options->path;
    int rc = open_file(db, options, name);
    db->read_only = rc == SQLITE_OK && sqlite3_db_readonly(db->handle, "main") == 1;
    if (rc == SQLITE_OK && options->steps != NULL)
        sqlite3_progress_handler(db->handle, STEPS_PER_CALL, count_steps, options->steps);
    if (rc != SQLITE_OK)
        db_fail(db, "opened", err);
    else if (db->read_only && !options->may_be_read_only)
        err_set(err, 503, NULL, "the database '%s' cannot be opened: it is read-only", name);
    else if (set_up(db, options, err))
        return true;
    if (db->handle != NULL)
        db->open_code = db->was_moved ? SQLITE_OK : sqlite3_errcode(db->handle);
    db_close(db, db->was_moved || options->exclusive);
    return false;
}

void db_close(struct db *db, bool abandon)
{
    if (db->handle == NULL)
        return;
    sqlite3_stmt *statement;
    while ((statement = sqlite3_next_stmt(db->handle, NULL)) != NULL)
        sqlite3_finalize(statement);
    if (abandon)
        sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    int rc = sqlite3_close(db->handle);
    check(rc == SQLITE_OK);
    db->handle = NULL;
}
