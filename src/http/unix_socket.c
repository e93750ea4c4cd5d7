/* Listening at a path. A socket file that a server left behind is replaced; one on which a process
 * listens, or a file that is not a socket, is not. Called by the thread that starts and stops the
 * server. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "http/http_internal.h"

enum { UNIX_BACKLOG = 4096 };

static bool unix_socket_refuse(struct err *err, const char *path, const char *why)
{
    return err_set(err, 500, NULL, "cannot listen on unix:%s: %s", path, why);
}

/* Makes the path available. */
static bool path_clear(const struct sockaddr_un *address, struct err *err)
{
    const char *path = address->sun_path;
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT || unix_socket_refuse(err, path, strerror(errno));
    if (!S_ISSOCK(status.st_mode))
        return unix_socket_refuse(err, path, "there is a file that is not a socket");
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0)
        return unix_socket_refuse(err, path, strerror(errno));
    int failure =
        connect(probe, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : errno;
    close(probe);
    if (failure == ENOENT)
        return true;
    if (failure != ECONNREFUSED) /* EAGAIN: another process listens, but its backlog is full */
        return unix_socket_refuse(err, path,
                                  failure == 0 || failure == EAGAIN ? "in use by another process"
                                                                    : strerror(failure));
    return unlink(path) == 0 || errno == ENOENT || unix_socket_refuse(err, path, strerror(errno));
}

bool unix_socket_open(const char *path, unsigned mode, struct listener *listener, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path))
        return unix_socket_refuse(err, path, "the path is too long");
    memcpy(address.sun_path, path, strlen(path));
    if (!path_clear(&address, err))
        return false;
    struct stat status;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* the file has the first mode from the moment it exists, minus the umask; the second call makes
     * up for the umask */
    if (fd >= 0 && fchmod(fd, mode) == 0 &&
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
        chmod(path, mode) == 0 && lstat(path, &status) == 0 && listen(fd, UNIX_BACKLOG) == 0) {
        listener->fd = fd;
        listener->path = strdup(path);
        listener->device = status.st_dev;
        listener->inode = status.st_ino;
        check(asprintf(&listener->url, "unix:%s", path) > 0 && listener->path != NULL);
        return true;
    }
    unix_socket_refuse(err, path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return false;
}

void unix_socket_remove(const struct listener *listener)
{
    struct stat status;
    if (lstat(listener->path, &status) == 0 && status.st_dev == listener->device &&
        status.st_ino == listener->inode)
        (void)unlink(listener->path);
}
