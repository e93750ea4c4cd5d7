/* The lock is flock()'s, so that it ends with its process; the process that has taken it checks
 * whether the name still leads to that file. A file that has another owner or further names is not
 * written to: in a directory that everybody may write, it may be a trap. One thread at a time. */
#include "store/sqlite/partial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 8 };

static const char *const companions[] = {"-wal", "-shm", "-journal"};
enum { COMPANION_COUNT = sizeof(companions) / sizeof(companions[0]) };

bool partial_fail(const char *path, const char *what, struct err *err)
{
    return err_set(err, 503, NULL, "'%s' cannot be %s: %s", path, what, strerrordesc_np(errno));
}

bool partial_beside(const char *path, const char *suffix, char beside[static PATH_MAX])
{
    return snprintf(beside, PATH_MAX, "%s%s", path, suffix) < PATH_MAX;
}

bool partial_resolve(const char *file, char final[static PATH_MAX], struct err *err)
{
    char directory[PATH_MAX];
    char real[PATH_MAX];
    const char *slash = strrchr(file, '/');
    const char *name = slash == NULL ? file : slash + 1;
    int len = slash == NULL
                  ? snprintf(directory, sizeof(directory), ".")
                  : snprintf(directory, sizeof(directory), "%.*s/", (int)(slash - file), file);
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return err_set(err, 503, NULL, "'%s' does not name a file", file);
    if (len >= PATH_MAX)
        return err_set(err, 503, NULL, "the path of '%s' is too long", name);
    if (realpath(directory, real) == NULL)
        return partial_fail(directory, "used as a directory", err);
    if (snprintf(final, PATH_MAX, "%s%s%s", real, strcmp(real, "/") == 0 ? "" : "/", name) >=
        PATH_MAX)
        return err_set(err, 503, NULL, "the path of '%s' is too long", name);
    return true;
}

static void remove_companions(const char *path)
{
    char beside[PATH_MAX];
    for (size_t i = 0; i < COMPANION_COUNT; i++)
        if (partial_beside(path, companions[i], beside))
            unlink(beside);
}

enum lock { LOCKED, AGAIN, FAILED };

static enum lock lock_file(struct partial *partial, struct err *err)
{
    struct stat open_file;
    struct stat named;
    partial->fd = open(partial->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (partial->fd < 0) {
        partial_fail(partial->path, "written", err);
        return FAILED;
    }
    if (flock(partial->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            err_set(err, 503, NULL, "another process is writing '%s'", partial->path);
        else
            partial_fail(partial->path, "locked", err);
        return FAILED;
    }
    if (fstat(partial->fd, &open_file) != 0 || lstat(partial->path, &named) != 0 ||
        open_file.st_ino != named.st_ino || open_file.st_dev != named.st_dev)
        return AGAIN;
    if (S_ISREG(open_file.st_mode) && open_file.st_nlink == 1 && open_file.st_uid == geteuid())
        return LOCKED;
    if (unlink(partial->path) == 0)
        return AGAIN;
    partial_fail(partial->path, "removed", err);
    return FAILED;
}

static void close_file(struct partial *partial)
{
    if (partial->fd >= 0)
        close(partial->fd);
    partial->fd = -1;
}

static bool open_directory(struct partial *partial, struct err *err)
{
    char name[PATH_MAX];
    snprintf(name, sizeof(name), "%s", partial->final);
    char *slash = strrchr(name, '/');
    slash[slash == name] = '\0';
    partial->directory = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return partial->directory >= 0 || partial_fail(name, "used as a directory", err);
}

bool partial_open(struct partial *partial, const char *final, const char *suffix, struct err *err)
{
    *partial = (struct partial){.fd = -1, .directory = -1};
    snprintf(partial->final, sizeof(partial->final), "%s", final);
    if (!partial_beside(final, suffix, partial->path))
        return err_set(err, 503, NULL, "the path '%s' is too long", final);
    if (!open_directory(partial, err))
        return false;
    enum lock lock = AGAIN;
    for (int i = 0; i < TRIES && lock == AGAIN; i++) {
        close_file(partial);
        lock = lock_file(partial, err);
    }
    if (lock != LOCKED) {
        close_file(partial);
        return err_set(err, 503, NULL, "another process is writing '%s'", partial->path);
    }
    remove_companions(partial->path);
    if (ftruncate(partial->fd, 0) == 0 && fchmod(partial->fd, 0600) == 0)
        return true;
    return partial_fail(partial->path, "written", err);
}

static bool take_free_name(const struct partial *partial)
{
    if (renameat2(AT_FDCWD, partial->path, AT_FDCWD, partial->final, RENAME_NOREPLACE) == 0)
        return true;
    /* Some file systems do not support the flag. The second name, if it stays, is not written to
     * again (lock_file). */
    if (errno != EINVAL || link(partial->path, partial->final) != 0)
        return false;
    unlink(partial->path);
    return true;
}

bool partial_finish(struct partial *partial, bool overwrite, struct err *err)
{
    if (fsync(partial->fd) != 0 || fsync(partial->directory) != 0)
        return partial_fail(partial->path, "synced", err);
    remove_companions(partial->path);
    bool ok = overwrite ? rename(partial->path, partial->final) == 0 : take_free_name(partial);
    if (!ok)
        return partial_fail(partial->final, "created", err);
    partial->is_in_place = true;
    return fsync(partial->directory) == 0 ||
           err_set(err, 503, NULL, "'%s' is in place, but its directory cannot be synced: %s",
                   partial->final, strerrordesc_np(errno));
}

void partial_drop(struct partial *partial)
{
    if (partial->fd >= 0 && !partial->is_in_place) {
        unlink(partial->path);
        remove_companions(partial->path);
    }
    close_file(partial);
    if (partial->directory >= 0)
        close(partial->directory);
    partial->directory = -1;
}
