/* The order of the steps is what makes a restore safe:
 *
 *  1. The database is locked exclusively. A connection in WAL mode holds a shared lock as long as
 *     it is open, so the lock is refused while the database is in use, and once it is taken nobody
 *     opens the database. It is held until the end, on the file that is replaced.
 *  2. The backup is copied to a file beside the database, together with its -wal or -journal,
 *     checked there, and given the owner and mode of the old file.
 *  3. The contents of the old -wal are copied into the old file, and the -wal is removed, durably:
 *     otherwise SQLite would apply it to the new file. Until now the database is the old one,
 *     complete.
 *  4. One rename puts the copy in place.
 *
 * A process that waits for the lock meanwhile gets it on a file that no longer has the name, and
 * detects that (db.c). A database that SQLite cannot open is locked by its lock bytes, and its -wal
 * and -journal are set aside with it. One thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/backup.h"
#include "store/sqlite/db.h"
#include "store/sqlite/examine.h"
#include "store/sqlite/holder.h"
#include "store/sqlite/partial.h"
#include "store/sqlite/url.h"

enum {
    BUFFER_BYTES = 1 << 20,
    SYNC_BYTES = 8 << 20,
    LOCK_WAIT_MS = 1000, /* for a tool that reads the database briefly */
    ATTRIBUTE_BYTES = 4096,
    NEW_MODE = 0640,
};

struct restore {
    const char *path; /* of the database; final */
    struct stat old;  /* st_ino 0: there is none */
    struct db db;     /* holds the lock on it; closed if SQLite cannot open it */
    int locked;       /* or this one does; -1 */
    struct partial partial;
    const struct backup_watch *watch;
};

static bool is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_ino == other->st_ino && one->st_dev == other->st_dev;
}

static bool refuse_in_use(const char *path, const struct stat *file, struct err *err)
{
    char who[HOLDER_BYTES];
    if (!holder_find(file, who))
        snprintf(who, sizeof(who), "another process");
    return err_set(err, 503, NULL, "the database '%s' is in use by %s", path, who);
}

static bool refuse_if_open(const struct restore *r, struct err *err)
{
    char who[HOLDER_BYTES];
    return r->old.st_ino == 0 || !holder_find(&r->old, who) || refuse_in_use(r->path, &r->old, err);
}

/* The lock bytes of "pending", "reserved" and "shared". */
static bool lock_unusable(struct restore *r, struct err *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_start = 0x40000000, .l_len = 512};
    db_close(&r->db, true);
    r->locked = open(r->path, O_RDWR | O_CLOEXEC);
    if (r->locked < 0)
        return partial_fail(r->path, "opened", err);
    return fcntl(r->locked, F_SETLK, &lock) == 0 || refuse_in_use(r->path, &r->old, err);
}

static bool is_unusable(int code)
{
    return code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
}

static bool lock_old(struct restore *r, struct err *err)
{
    const struct db_options options = {
        .path = r->path, .busy_timeout_ms = LOCK_WAIT_MS, .keep_journal = true, .exclusive = true};
    struct err inner = {.arena = err->arena};
    if (lstat(r->path, &r->old) != 0) {
        r->old = (struct stat){0};
        return errno == ENOENT || partial_fail(r->path, "found", err);
    }
    if (!S_ISREG(r->old.st_mode))
        return err_set(err, 503, NULL, "the database '%s' is not a regular file", r->path);
    if (!db_open(&r->db, &options, &inner)) {
        if (r->db.open_code == SQLITE_BUSY)
            return refuse_in_use(r->path, &r->old, err);
        if (!is_unusable(r->db.open_code))
            return err_set_text(err, 503, NULL, inner.message);
        if (!lock_unusable(r, err))
            return false;
    }
    return refuse_if_open(r, err);
}

static bool write_all(int fd, const char *data, ssize_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, data, (size_t)bytes);
        if (n < 0 && errno != EINTR)
            return false;
        data += n > 0 ? n : 0;
        bytes -= n > 0 ? n : 0;
    }
    return true;
}

/* A failed sync is reported only once, and SQLite's own syncs come after these. */
static bool copy_bytes(const struct restore *r, int from, int64_t all, int to, const char *name,
                       struct err *err)
{
    char *buffer = malloc(BUFFER_BYTES);
    check(buffer != NULL);
    int64_t done = 0;
    ssize_t n;
    while (!err_is_set(err) && (n = read(from, buffer, BUFFER_BYTES)) != 0) {
        unsigned percent = all > 0 && done < all ? (unsigned)(done * 100 / all) : 100;
        if (n < 0)
            partial_fail(name, "read", err);
        else if (!write_all(to, buffer, n))
            partial_fail(r->partial.path, "written", err);
        else if (!r->watch->go_on(r->watch->cls, "copying", percent))
            err_set(err, 503, NULL, "interrupted");
        done += n > 0 ? n : 0;
        if (done % SYNC_BYTES == 0 && fdatasync(to) != 0)
            partial_fail(r->partial.path, "synced", err);
    }
    if (!err_is_set(err) && fdatasync(to) != 0)
        partial_fail(r->partial.path, "synced", err);
    free(buffer);
    return !err_is_set(err);
}

/* `to` is an open file, or -1 for a new one called `to_path`. A -wal need not exist. */
static bool copy_file(const struct restore *r, const char *from_path, int to, const char *to_path,
                      bool is_optional, struct err *err)
{
    struct stat file;
    int from = open(from_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (from < 0 && is_optional && errno == ENOENT)
        return true;
    if (from < 0 || fstat(from, &file) != 0) {
        partial_fail(from_path, "read", err);
    } else if (!S_ISREG(file.st_mode)) {
        err_set(err, 503, NULL, "'%s' is not a regular file", from_path);
    } else if (file.st_size > 0 || !is_optional) {
        int made = to >= 0 ? -1 : open(to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (to < 0 && made < 0)
            partial_fail(to_path, "written", err);
        else
            copy_bytes(r, from, file.st_size, to >= 0 ? to : made, from_path, err);
        if (made >= 0)
            close(made);
    }
    if (from >= 0)
        close(from);
    return !err_is_set(err);
}

static bool refuse_changing(const char *file, const struct stat *now, struct err *err)
{
    char who[HOLDER_BYTES];
    if (!holder_find(now, who) && !holder_has_lock(file))
        return true;
    return err_set(err, 503, NULL,
                   "'%s' is open in another process, so it is not a finished backup", file);
}

static bool is_as_before(const char *file, const struct stat *before)
{
    struct stat now;
    return stat(file, &now) == 0 && is_same_file(before, &now) && before->st_size == now.st_size &&
           before->st_mtim.tv_sec == now.st_mtim.tv_sec &&
           before->st_mtim.tv_nsec == now.st_mtim.tv_nsec;
}

/* Copies the backup, and any file written beside it, to one file of ours, and checks that. `real`
 * is the file that `file` leads to: SQLite keeps a -wal beside the file, not beside a link to
 * it. */
static bool copy_backup(struct restore *r, const char *real, const char *file, struct err *err)
{
    static const char *const companions[] = {"-wal", "-journal"};
    char from[PATH_MAX];
    char to[PATH_MAX];
    if (!copy_file(r, real, r->partial.fd, r->partial.path, false, err))
        return false;
    for (size_t i = 0; i < 2; i++)
        if (!partial_beside(real, companions[i], from) ||
            !partial_beside(r->partial.path, companions[i], to) ||
            !copy_file(r, from, -1, to, true, err))
            return err_set(err, 503, NULL, "the path '%s' is too long", file);
    return true;
}

static bool stage(struct restore *r, const char *file, struct backup_facts *facts, struct err *err)
{
    char real[PATH_MAX];
    struct stat before;
    if (realpath(file, real) == NULL || stat(file, &before) != 0)
        return partial_fail(file, "read", err);
    if (!S_ISREG(before.st_mode))
        return err_set(err, 503, NULL, "'%s' is not a regular file", file);
    if (is_same_file(&before, &r->old))
        return err_set(err, 503, NULL, "'%s' is the database itself", file);
    if (!partial_open(&r->partial, r->path, ".restoring", err) ||
        !refuse_changing(file, &before, err) || !copy_backup(r, real, file, err))
        return false;
    /* If it was replaced, another file may have its number by now. */
    if (!is_as_before(file, &before) || !refuse_changing(file, &before, err) ||
        !is_as_before(file, &before))
        return err_set(err, 503, NULL, "'%s' was changed while it was read", file);
    return examine_copy(r->partial.path, file, r->watch, facts, err);
}

/* Access control lists and security labels; some file systems have none. One that the new file
 * already has, from its directory or the system's policy, is not set: that may be forbidden. */
static bool copy_attribute(const struct restore *r, const char *name, struct err *err)
{
    char value[ATTRIBUTE_BYTES];
    char own[ATTRIBUTE_BYTES];
    int fd = r->partial.fd;
    ssize_t bytes = getxattr(r->path, name, value, sizeof(value));
    if (bytes < 0 && errno != ENODATA)
        return errno == ENOTSUP || partial_fail(r->path, "checked for extended attributes", err);
    ssize_t own_bytes = fgetxattr(fd, name, own, sizeof(own));
    bool ok = bytes < 0 ? own_bytes < 0 || fremovexattr(fd, name) == 0
                        : (bytes == own_bytes && memcmp(value, own, (size_t)bytes) == 0) ||
                              fsetxattr(fd, name, value, (size_t)bytes, 0) == 0;
    return ok || partial_fail(r->partial.path, "given the attributes of the database", err);
}

/* Without a database, its owner is the owner of the directory. */
static bool give_owner(const struct restore *r, struct err *err)
{
    struct stat like = r->old;
    struct stat ours;
    int fd = r->partial.fd;
    if (like.st_ino == 0 && fstat(r->partial.directory, &like) != 0)
        return partial_fail(r->path, "found", err);
    if (fstat(fd, &ours) != 0 || ((ours.st_uid != like.st_uid || ours.st_gid != like.st_gid) &&
                                  fchown(fd, like.st_uid, like.st_gid) != 0))
        return partial_fail(r->partial.path, "given the owner and group of the database", err);
    if (r->old.st_ino != 0 && (!copy_attribute(r, "system.posix_acl_access", err) ||
                               !copy_attribute(r, "security.selinux", err)))
        return false;
    return fchmod(fd, r->old.st_ino == 0 ? NEW_MODE : like.st_mode & 07777) == 0 ||
           partial_fail(r->partial.path, "given the mode of the database", err);
}

/* `kept` and the suffix are the new name; "": the file is removed. */
static bool set_aside(const char *path, const char *kept, const char *suffix, struct err *err)
{
    char from[PATH_MAX];
    char to[PATH_MAX];
    if (!partial_beside(path, suffix, from) || !partial_beside(kept, suffix, to))
        return err_set(err, 503, NULL, "the path '%s' is too long", path);
    bool ok = kept[0] != '\0' ? rename(from, to) == 0 : unlink(from) == 0;
    return ok || errno == ENOENT || partial_fail(from, "set aside", err);
}

/* Afterwards the old file is complete by itself, as far as SQLite can read it. */
static bool take_in_wal(struct restore *r, struct err *err)
{
    if (r->db.handle == NULL)
        return true;
    if (db_leave_wal(&r->db)) {
        /* A connection that keeps its lock keeps its journal, too, but without contents. */
        return set_aside(r->path, "", "-journal", err);
    }
    if (is_unusable(sqlite3_errcode(r->db.handle)))
        return lock_unusable(r, err);
    return db_fail(&r->db, "closed", err);
}

/* The name under which the old database is kept. Even without one there may be files to keep: a
 * -wal whose database was moved away. */
static bool keep_old(const struct restore *r, char kept[static PATH_MAX], struct err *err)
{
    char date[32];
    struct tm utc;
    time_t now = (time_t)(clock_wall_us() / 1000000);
    gmtime_r(&now, &utc);
    strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &utc);
    for (int i = 0; i < 100; i++) {
        int len = i == 0 ? snprintf(kept, PATH_MAX, "%s.replaced-%s", r->path, date)
                         : snprintf(kept, PATH_MAX, "%s.replaced-%s-%d", r->path, date, i);
        if (len >= PATH_MAX)
            return err_set(err, 503, NULL, "the path '%s' is too long", r->path);
        if (r->old.st_ino == 0 ? access(kept, F_OK) != 0 : link(r->path, kept) == 0)
            return true;
        if (r->old.st_ino != 0 && errno != EEXIST)
            break;
    }
    return partial_fail(kept, "created", err);
}

/* Whether the name leads to the file that was there at the beginning, or still to none. Otherwise
 * the files beside it belong to another database: they must not be touched. */
static bool is_same_still(const struct restore *r)
{
    struct stat now;
    return lstat(r->path, &now) == 0 ? r->old.st_ino != 0 && is_same_file(&now, &r->old)
                                     : r->old.st_ino == 0 && errno == ENOENT;
}

static bool refuse_if_replaced(const struct restore *r, struct err *err)
{
    return is_same_still(r) || err_set(err, 503, NULL, "the database '%s' was %s in the meantime",
                                       r->path, r->old.st_ino == 0 ? "created" : "replaced");
}

static bool put_in_place(struct restore *r, bool keep, char kept[static PATH_MAX], struct err *err)
{
    char made[PATH_MAX] = "";
    bool exists = r->old.st_ino != 0;
    bool ok = take_in_wal(r, err) && refuse_if_open(r, err) && refuse_if_replaced(r, err) &&
              (!keep || keep_old(r, made, err)) && set_aside(r->path, made, "-wal", err) &&
              set_aside(r->path, made, "-journal", err) && set_aside(r->path, "", "-shm", err) &&
              partial_finish(&r->partial, exists, err);
    /* Only the name: the file is still the database. */
    if (!r->partial.is_in_place && exists && made[0] != '\0' && r->db.handle != NULL)
        unlink(made);
    snprintf(kept, PATH_MAX, "%s", ok && exists ? made : "");
    return ok;
}

static bool find_database(struct slice connection, char path[static PATH_MAX], struct err *err)
{
    struct slice name;
    char given[PATH_MAX];
    if (!sqlite_url_parse(connection, &name, err))
        return false;
    if (name.len == 0)
        return err_set(err, 503, NULL, "the database is in memory: there is no file to restore");
    if (name.len >= PATH_MAX)
        return err_set(err, 503, NULL, "the path of the database is too long");
    snprintf(given, sizeof(given), "%.*s", SLICE_ARG(name));
    return realpath(given, path) != NULL || partial_resolve(given, path, err);
}

/* SQLite created it together with the lock, which is still held. */
static void remove_empty_wal(const struct restore *r)
{
    char wal[PATH_MAX];
    struct stat file;
    if (r->db.handle != NULL && is_same_still(r) && partial_beside(r->path, "-wal", wal) &&
        lstat(wal, &file) == 0 && S_ISREG(file.st_mode) && file.st_size == 0)
        unlink(wal);
}

bool backup_restore(struct slice connection, const char *file, bool keep,
                    const struct backup_watch *watch, struct restore_result *result,
                    struct err *err)
{
    struct restore r = {
        .path = result->path, .locked = -1, .partial = {.fd = -1, .directory = -1}, .watch = watch};
    *result = (struct restore_result){0};
    bool ok = find_database(connection, result->path, err) && lock_old(&r, err) &&
              stage(&r, file, &result->facts, err) && refuse_if_replaced(&r, err) &&
              give_owner(&r, err) && put_in_place(&r, keep, result->kept, err);
    partial_drop(&r.partial);
    /* Once the new database is in place, the name and the files beside it belong to it: they must
     * not be touched. */
    if (!r.partial.is_in_place)
        remove_empty_wal(&r);
    db_close(&r.db, true);
    if (r.locked >= 0)
        close(r.locked);
    return ok;
}
