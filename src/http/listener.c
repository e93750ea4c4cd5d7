/* The listening socket. Ours and not the library's, so that an address that cannot be had gives one
 * clear line. Called by the thread that starts the server. */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "http/http_internal.h"

enum { LISTEN_BACKLOG = 4096 };

/* The socket, or -1 with errno. */
static int socket_listen(const struct addrinfo *info)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0 &&
        bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, LISTEN_BACKLOG) == 0)
        return fd;
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

struct slice http_address_text(struct arena *arena, const char *host, uint16_t port)
{
    return arena_printf(arena, strchr(host, ':') != NULL ? "[%s]:%u" : "%s:%u", host, port);
}

static bool refuse(struct err *err, const char *host, uint16_t port, const char *why)
{
    return err_set(err, 500, NULL, "cannot listen on %.*s: %s",
                   SLICE_ARG(http_address_text(err->arena, host, port)), why);
}

int listener_open(const char *host, uint16_t port, struct err *err)
{
    char port_text[DECIMAL_MAX + 1] = "";
    decimal_write(port_text, port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int failure = getaddrinfo(host, port_text, &hints, &found);
    if (failure != 0) {
        refuse(err, host, port, gai_strerror(failure));
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *info = found; info != NULL; info = info->ai_next) {
        fd = socket_listen(info);
        /* a name's next address is for a family that is missing here, not for a taken port */
        if (fd >= 0 || (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT))
            break;
    }
    if (fd < 0)
        refuse(err, host, port, strerror(errno));
    freeaddrinfo(found);
    return fd;
}

uint16_t listener_port(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof(address);
    check(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    if (address.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((const struct sockaddr_in *)&address)->sin_port);
}
