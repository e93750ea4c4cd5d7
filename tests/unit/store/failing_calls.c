/* See failing_calls.h. */
#include "failing_calls.h"

#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static _Thread_local struct {
    unsigned left; /* 0: not armed, or already done */
    enum failing_way way;
    unsigned later; /* the second one; 0: none */
    int code;
    bool fired;
    sqlite3 *handle; /* that must report the error */
} failing;

void failing_arm(unsigned nth, enum failing_way way, int code)
{
    failing.left = nth;
    failing.way = way;
    failing.later = 0;
    failing.code = code;
    failing.fired = false;
}

void failing_arm_second(unsigned later)
{
    failing.later = later;
}

bool failing_is_armed(void)
{
    return failing.left > 0;
}

bool failing_disarm(void)
{
    failing.left = failing.later = 0;
    failing.handle = NULL;
    return failing.fired;
}

static bool is_due(void)
{
    if (failing.left == 0)
        return false;
    if (failing.left > 1) {
        failing.left--;
        return false;
    }
    failing.fired = true;
    if (failing.way == FAILING_FROM_THEN_ON)
        return true;
    failing.left = failing.later;
    if (failing.later > 0)
        failing.way = FAILING_ONCE;
    failing.later = 0;
    return true;
}

static bool fails(sqlite3 *handle)
{
    if (failing.handle == handle)
        failing.handle = NULL;
    if (failing.way == FAILING_AFTER_COMMIT || failing.way == FAILING_AT_COMMIT || !is_due())
        return false;
    failing.handle = handle;
    return true;
}

static bool fails_at_commit(sqlite3 *handle, sqlite3_stmt *statement)
{
    if (failing.way != FAILING_AT_COMMIT || strcmp(sqlite3_sql(statement), "COMMIT") != 0 ||
        !is_due())
        return false;
    failing.handle = handle;
    return true;
}

static bool fails_after(sqlite3 *handle, bool was_open)
{
    bool ended = failing.way == FAILING_AFTER_COMMIT && was_open && sqlite3_get_autocommit(handle);
    if (!ended || !is_due())
        return false;
    failing.handle = handle;
    return true;
}

#define WRAPPED(type, name, parameters)                                                            \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters

WRAPPED(int, sqlite3_step, (sqlite3_stmt * statement))
{
    sqlite3 *handle = sqlite3_db_handle(statement);
    if (fails(handle) || fails_at_commit(handle, statement))
        return failing.code;
    bool was_open = !sqlite3_get_autocommit(handle);
    int rc = __real_sqlite3_step(statement);
    return fails_after(handle, was_open) ? failing.code : rc;
}

WRAPPED(int, sqlite3_exec,
        (sqlite3 * handle, const char *sql, int (*row)(void *, int, char **, char **), void *cls,
         char **error))
{
    if (fails(handle))
        return failing.code;
    bool was_open = !sqlite3_get_autocommit(handle);
    int rc = __real_sqlite3_exec(handle, sql, row, cls, error);
    return fails_after(handle, was_open) ? failing.code : rc;
}

WRAPPED(int, sqlite3_prepare_v2,
        (sqlite3 * handle, const char *sql, int len, sqlite3_stmt **out, const char **tail))
{
    *out = NULL;
    return fails(handle) ? failing.code : __real_sqlite3_prepare_v2(handle, sql, len, out, tail);
}

WRAPPED(int, sqlite3_prepare_v3,
        (sqlite3 * handle, const char *sql, int len, unsigned flags, sqlite3_stmt **out,
         const char **tail))
{
    *out = NULL;
    return fails(handle) ? failing.code
                         : __real_sqlite3_prepare_v3(handle, sql, len, flags, out, tail);
}

WRAPPED(int, sqlite3_open_v2, (const char *path, sqlite3 **out, int flags, const char *vfs))
{
    int rc = __real_sqlite3_open_v2(path, out, flags, vfs);
    return fails(*out) ? failing.code : rc;
}

WRAPPED(int, sqlite3_file_control, (sqlite3 * handle, const char *name, int what, void *argument))
{
    return fails(handle) ? failing.code : __real_sqlite3_file_control(handle, name, what, argument);
}

WRAPPED(int, sqlite3_wal_checkpoint_v2,
        (sqlite3 * handle, const char *name, int mode, int *frames, int *done))
{
    return fails(handle) ? failing.code
                         : __real_sqlite3_wal_checkpoint_v2(handle, name, mode, frames, done);
}

WRAPPED(sqlite3_backup *, sqlite3_backup_init,
        (sqlite3 * to, const char *to_name, sqlite3 *from, const char *from_name))
{
    return fails(to) ? NULL : __real_sqlite3_backup_init(to, to_name, from, from_name);
}

WRAPPED(int, sqlite3_backup_step, (sqlite3_backup * backup, int pages))
{
    return fails(NULL) ? failing.code : __real_sqlite3_backup_step(backup, pages);
}

WRAPPED(int, sqlite3_errcode, (sqlite3 * handle))
{
    return handle != NULL && failing.handle == handle ? failing.code
                                                      : __real_sqlite3_errcode(handle);
}

WRAPPED(int, sqlite3_extended_errcode, (sqlite3 * handle))
{
    return handle != NULL && failing.handle == handle ? failing.code
                                                      : __real_sqlite3_extended_errcode(handle);
}

WRAPPED(const char *, sqlite3_errmsg, (sqlite3 * handle))
{
    return handle != NULL && failing.handle == handle ? sqlite3_errstr(failing.code)
                                                      : __real_sqlite3_errmsg(handle);
}

static bool system_fails(void)
{
    if (!fails(NULL))
        return false;
    errno = EIO;
    return true;
}

#define SYSTEM_CALL(type, name, parameters, ...)                                                   \
    WRAPPED(type, name, parameters)                                                                \
    {                                                                                              \
        return system_fails() ? -1 : __real_##name(__VA_ARGS__);                                   \
    }

SYSTEM_CALL(int, fsync, (int fd), fd)
SYSTEM_CALL(int, flock, (int fd, int how), fd, how)
SYSTEM_CALL(int, fchmod, (int fd, mode_t mode), fd, mode)
SYSTEM_CALL(int, fchown, (int fd, uid_t owner, gid_t group), fd, owner, group)
SYSTEM_CALL(int, rename, (const char *from, const char *to), from, to)
SYSTEM_CALL(int, link, (const char *from, const char *to), from, to)
SYSTEM_CALL(int, unlink, (const char *path), path)
SYSTEM_CALL(int, renameat2,
            (int from_at, const char *from, int to_at, const char *to, unsigned how), from_at, from,
            to_at, to, how)
/* The names of these functions in an object file, for files of any size. */
SYSTEM_CALL(int, ftruncate64, (int fd, off_t length), fd, length)
SYSTEM_CALL(int, fstat64, (int fd, struct stat *out), fd, out)
SYSTEM_CALL(ssize_t, pwrite64, (int fd, const void *from, size_t count, off_t at), fd, from, count,
            at)
SYSTEM_CALL(ssize_t, write, (int fd, const void *from, size_t count), fd, from, count)
SYSTEM_CALL(ssize_t, read, (int fd, void *to, size_t count), fd, to, count)
