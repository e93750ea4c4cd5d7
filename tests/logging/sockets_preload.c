/* Preloaded into a program, this puts sockets of a test in the place of the system's own:
 * BERTH_TEST_SYSLOG for /dev/log and BERTH_TEST_JOURNAL for the journal's. Only calls that this
 * process makes through the dynamic linker are caught, which those of berthd and of libsystemd are.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char JOURNAL[] = "/run/systemd/journal/socket";

static const char *other_path(const char *path)
{
    if (strcmp(path, "/dev/log") == 0)
        return getenv("BERTH_TEST_SYSLOG");
    return strcmp(path, JOURNAL) == 0 ? getenv("BERTH_TEST_JOURNAL") : NULL;
}

/* The address to use: *changed or the given one. */
static const struct sockaddr *other_address(const struct sockaddr *given, socklen_t *len,
                                            struct sockaddr_un *changed)
{
    const struct sockaddr_un *asked = (const struct sockaddr_un *)given;
    if (given == NULL || given->sa_family != AF_UNIX)
        return given;
    const char *path = other_path(asked->sun_path);
    if (path == NULL || strlen(path) >= sizeof(changed->sun_path))
        return given;
    *changed = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(changed->sun_path, path, strlen(path) + 1);
    *len = sizeof(*changed);
    return (const struct sockaddr *)changed;
}

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
    static int (*next)(int, const struct sockaddr *, socklen_t);
    struct sockaddr_un changed;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "connect");
    address = other_address(address, &len, &changed);
    return next(fd, address, len);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static ssize_t (*next)(int, const struct msghdr *, int);
    struct sockaddr_un changed;
    struct msghdr other = *message;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "sendmsg");
    other.msg_name =
        (void *)(uintptr_t)other_address(message->msg_name, &other.msg_namelen, &changed);
    return next(fd, &other, flags);
}

int access(const char *path, int mode)
{
    static int (*next)(const char *, int);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "access");
    const char *other = other_path(path);
    return next(other == NULL ? path : other, mode);
}
