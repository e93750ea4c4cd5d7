/* A log file identified by its path. It is opened for appending, so that truncating it (logrotate's
 * copytruncate) does not leave a hole; it is reopened when the path has become another file or none
 * (logrotate's rename, a removed directory). If opening or rotating fails, it is retried once a
 * second; until then lines continue to go to the file that is open, wherever it is by now, and are
 * lost if it no longer exists. Protected by the lock of its output. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/internal.h"

enum { RETRY_S = 1 };

/* O_NONBLOCK: a pipe without a reader is an error and does not block. */
static int open_path(const char *path, struct stat *status)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (fd >= 0 && fstat(fd, status) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void file_take(struct log_file *file, int fd, const struct stat *status)
{
    file->fd = fd;
    file->device = status->st_dev;
    file->inode = status->st_ino;
    file->is_regular = S_ISREG(status->st_mode);
    file->rotate_error = 0;
}

static bool by_time(const struct log_rotation_settings *rotation)
{
    return rotation->when > LOG_ROTATION_SIZE;
}

bool log_file_open(struct log_file *file, const char *path,
                   const struct log_rotation_settings *rotation, int64_t now_s, struct err *err)
{
    struct stat status;
    int fd = open_path(path, &status);
    if (fd < 0)
        return err_set(err, 500, NULL, "cannot open the log file %s: %s", path, strerror(errno));
    *file = (struct log_file){.path = strdup(path), .rotation = *rotation};
    check(file->path != NULL);
    file_take(file, fd, &status);
    if (by_time(rotation))
        file->due_s = log_rotate_next(rotation, status.st_mtime < now_s ? status.st_mtime : now_s);
    return true;
}

void log_file_close(struct log_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
}

static bool path_is_ours(const struct log_file *file)
{
    struct stat status;
    return file->fd >= 0 && stat(file->path, &status) == 0 && status.st_dev == file->device &&
           status.st_ino == file->inode;
}

/* Also if the clock has been set back since. */
static bool may_try_again(int64_t failed_s, int64_t now_s)
{
    return now_s >= failed_s + RETRY_S || now_s < failed_s;
}

/* Nobody could read a file that has no name. */
static bool has_a_name(const struct log_file *file)
{
    struct stat status;
    return file->fd >= 0 && fstat(file->fd, &status) == 0 && status.st_nlink > 0;
}

void log_file_follow(struct log_file *file, bool always, int64_t now_s)
{
    struct stat status;
    bool ours = path_is_ours(file);
    if (ours)
        file->open_error = 0;
    if (!always && (ours || (file->open_error != 0 && !may_try_again(file->opened_s, now_s))))
        return;
    int fd = open_path(file->path, &status);
    file->open_error = fd < 0 && !ours ? errno : 0;
    file->opened_s = now_s;
    if (fd < 0 && has_a_name(file))
        return;
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    if (fd >= 0)
        file_take(file, fd, &status);
}

/* Other processes may write to the file and rotate it, such as the second berthd during a restart
 * without a gap: only the process that holds its lock rotates it, and only while the file is at its
 * path. Some file systems do not support locks. */
static bool rotate_if_ours(struct log_file *file, int64_t now_s)
{
    if (flock(file->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    if (!path_is_ours(file))
        return true;
    if (by_time(&file->rotation))
        return log_rotate_by_time(file->path, &file->rotation, file->due_s, now_s);
    return log_rotate_by_size(file->path, file->rotation.keep);
}

static void rotate(struct log_file *file, int64_t now_s)
{
    bool ok = rotate_if_ours(file, now_s);
    file->rotate_error = ok ? 0 : errno;
    file->turned_s = now_s;
    (void)flock(file->fd, LOCK_UN);
    log_file_follow(file, false, now_s);
}

static bool may_rotate(const struct log_file *file, int64_t now_s)
{
    return file->fd >= 0 && (file->rotate_error == 0 || may_try_again(file->turned_s, now_s));
}

static int64_t size_of(const struct log_file *file)
{
    struct stat status;
    return file->fd >= 0 && fstat(file->fd, &status) == 0 ? status.st_size : 0;
}

static size_t first_line(struct slice lines)
{
    const char *end = memchr(lines.data, '\n', lines.len);
    return end == NULL ? lines.len : (size_t)(end - lines.data) + 1;
}

/* A file never reaches its limit, but contains at least one line. */
static size_t ready_by_size(struct log_file *file, struct slice lines, int64_t now_s)
{
    int64_t limit = file->rotation.max_bytes;
    int64_t size = size_of(file);
    if (size > 0 && size + (int64_t)first_line(lines) >= limit && may_rotate(file, now_s)) {
        rotate(file, now_s);
        size = size_of(file);
    }
    size_t len = first_line(lines);
    while (len < lines.len) {
        size_t more = first_line(slice_skip(lines, len));
        if (size + (int64_t)(len + more) >= limit)
            break;
        len += more;
    }
    return len;
}

size_t log_file_ready(struct log_file *file, struct slice lines, int64_t now_s)
{
    if (!file->is_regular)
        return lines.len;
    if (by_time(&file->rotation) && now_s >= file->due_s) {
        if (may_rotate(file, now_s))
            rotate(file, now_s);
        file->due_s = log_rotate_after(&file->rotation, now_s);
    }
    if (file->rotation.when == LOG_ROTATION_SIZE && file->rotation.max_bytes > 0 &&
        file->rotation.keep > 0)
        return ready_by_size(file, lines, now_s);
    return lines.len;
}
