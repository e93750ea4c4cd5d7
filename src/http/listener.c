/* The listening socket. Ours and not the library's, so that an address that cannot be had gives one
 * clear line. Called by the thread that starts the server. */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http_internal.h"

enum { LISTEN_BACKLOG = 4096 };

struct listen_address {
    char host[256];
    char port[6];
};

static bool port_is_valid(struct slice port)
{
    unsigned value = 0;
    if (port.len == 0 || port.len > 5)
        return false;
    for (size_t i = 0; i < port.len; i++) {
        if (port.data[i] < '0' || port.data[i] > '9')
            return false;
        value = value * 10 + (unsigned)(port.data[i] - '0');
    }
    return value <= UINT16_MAX;
}

static bool address_split(struct slice listen, struct listen_address *address)
{
    const char *colon = listen.len > 0 ? memrchr(listen.data, ':', listen.len) : NULL;
    if (colon == NULL)
        return false;
    struct slice host = {listen.data, (size_t)(colon - listen.data)};
    struct slice port = slice_skip(listen, host.len + 1);
    if (host.len > 2 && host.data[0] == '[' && host.data[host.len - 1] == ']')
        host = (struct slice){host.data + 1, host.len - 2};
    else if (host.len > 0 && memchr(host.data, ':', host.len) != NULL)
        return false; /* an IPv6 address without its brackets */
    if (host.len == 0 || host.len >= sizeof(address->host) || !port_is_valid(port) ||
        memchr(host.data, '\0', host.len) != NULL)
        return false;
    memcpy(address->host, host.data, host.len);
    address->host[host.len] = '\0';
    memcpy(address->port, port.data, port.len);
    address->port[port.len] = '\0';
    return true;
}

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

int listener_open(struct slice listen, struct err *err)
{
    struct listen_address address;
    if (!address_split(listen, &address)) {
        err_set(err, 500, NULL, "cannot listen on \"%.*s\": not of the form ADDRESS:PORT",
                SLICE_ARG(listen));
        return -1;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int failure = getaddrinfo(address.host, address.port, &hints, &found);
    if (failure != 0) {
        err_set(err, 500, NULL, "cannot listen on %.*s: %s", SLICE_ARG(listen),
                gai_strerror(failure));
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
        err_set(err, 500, NULL, "cannot listen on %.*s: %s", SLICE_ARG(listen), strerror(errno));
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
