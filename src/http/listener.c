/* The listening socket. berth opens it rather than the library, so that an unavailable address is
 * reported in one clear line. Called by the thread that starts the server. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "http/http_internal.h"

enum { LISTEN_BACKLOG = 4096, NAME_MOST_BYTES = sizeof(((struct sockaddr_un *)0)->sun_path) };

/* Returns the socket, or -1 with errno. */
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

/* 127.0.0.1:8778, [::1]:8778 */
struct slice http_address_text(struct arena *arena, const char *host, uint16_t port)
{
    return arena_printf(arena, strchr(host, ':') != NULL ? "[%s]:%u" : "%s:%u", host, port);
}

static bool listener_refuse(struct err *err, const char *host, uint16_t port, const char *why)
{
    return err_set(err, 500, NULL, "cannot listen on %.*s: %s",
                   SLICE_ARG(http_address_text(err->arena, host, port)), why);
}

static int host_listen(const char *host, uint16_t port, struct err *err)
{
    char port_text[DECIMAL_MAX + 1] = "";
    decimal_write(port_text, port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int failure = getaddrinfo(host, port_text, &hints, &found);
    if (failure != 0) {
        listener_refuse(err, host, port, gai_strerror(failure));
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *info = found; info != NULL; info = info->ai_next) {
        fd = socket_listen(info);
        /* the next address of a name is tried only if this one's family or address is missing here,
         * not if its port is taken */
        if (fd >= 0 || (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT))
            break;
    }
    if (fd < 0) {
        failure = errno;
        listener_refuse(err, host, port, strerror(failure));
        err_of_kind(err, failure);
    }
    freeaddrinfo(found);
    return fd;
}

/* Reads the socket's own port and address; the address as text. */
static uint16_t socket_port(int fd, char host[static NAME_MOST_BYTES + 1])
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    } address = {0};
    socklen_t len = sizeof(address);
    check(getsockname(fd, &address.any, &len) == 0);
    switch (address.any.sa_family) {
    case AF_INET:
        check(inet_ntop(AF_INET, &address.in.sin_addr, host, NAME_MOST_BYTES) != NULL);
        return ntohs(address.in.sin_port);
    case AF_INET6:
        check(inet_ntop(AF_INET6, &address.in6.sin6_addr, host, NAME_MOST_BYTES) != NULL);
        return ntohs(address.in6.sin6_port);
    default:
        len -= (socklen_t)offsetof(struct sockaddr_un, sun_path);
        memcpy(host, address.un.sun_path, len);
        if (len > 0 && host[0] == '\0')
            host[0] = '@'; /* the usual notation for abstract names */
        return 0;
    }
}

static void url_set(struct listener *listener, const char *host, bool tls)
{
    const char *form = strchr(host, ':') != NULL ? "%s://[%s]:%u" : "%s://%s:%u";
    check(asprintf(&listener->url, form, tls ? "https" : "http", host, listener->port) > 0);
}

static bool family_is_served(int fd)
{
    int family = 0;
    socklen_t len = sizeof(family);
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len) == 0 &&
           (family == AF_INET || family == AF_INET6 || family == AF_UNIX);
}

/* Takes over an inherited socket. */
static bool given_take(int fd, bool tls, struct listener *listener, struct err *err)
{
    int on = 1;
    int listens = 0;
    int type = 0;
    socklen_t len = sizeof(int);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) != 0 || listens == 0 ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) != 0 || type != SOCK_STREAM)
        return err_set(err, 500, NULL, "descriptor %d is not a listening stream socket", fd);
    if (!family_is_served(fd))
        return err_set(
            err, 500, NULL,
            "descriptor %d has an unsupported address family; supported are IPv4, IPv6 and unix",
            fd);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return err_set(err, 500, NULL, "descriptor %d: %s", fd, strerror(errno));
    char host[NAME_MOST_BYTES + 1] = "";
    listener->fd = fd;
    listener->is_given = true;
    listener->port = socket_port(fd, host);
    if (listener->port == 0) {
        check(asprintf(&listener->url, "unix:%s", host) > 0);
        return true;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    url_set(listener, host, tls);
    return true;
}

bool listener_open(const struct http_address *address, struct listener *listener, struct err *err)
{
    char host[NAME_MOST_BYTES + 1] = "";
    *listener = (struct listener){.fd = -1};
    if (address->is_given)
        return given_take(address->fd, address->tls != NULL, listener, err);
    if (address->path != NULL)
        return unix_socket_open(address->path, address->mode, listener, err);
    listener->fd = host_listen(address->host, address->port, err);
    if (listener->fd < 0)
        return false;
    listener->port = socket_port(listener->fd, host);
    url_set(listener, address->host, address->tls != NULL);
    return true;
}

void listener_close(struct listener *listener)
{
    if (listener->path != NULL)
        unix_socket_remove(listener);
    if (listener->fd >= 0)
        close(listener->fd);
    listener->fd = -1;
    free(listener->path);
    listener->path = NULL;
}

void listener_free(struct listener *listener)
{
    listener_close(listener);
    free(listener->url);
    listener->url = NULL;
}
