/* Sockets that outlive the process: clients that connect while berthd restarts wait in them. The
 * main thread. */
#include "daemon/activation.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

bool activation_read(struct activation *activation, struct arena *arena, struct err *err)
{
    char **names = NULL;
    int count = sd_listen_fds_with_names(1, &names);
    *activation = (struct activation){.count = count > 0 ? (size_t)count : 0};
    bool ok = count >= 0 && count <= ACTIVATION_SOCKETS_MAX;
    if (count < 0)
        err_set(err, 500, NULL, "LISTEN_FDS, LISTEN_PID or LISTEN_FDNAMES: %s", strerror(-count));
    else if (!ok)
        err_set(err, 500, NULL, "LISTEN_FDS: %d sockets were given, at most %d can be served",
                count, ACTIVATION_SOCKETS_MAX);
    for (int i = 0; i < count; i++) {
        if (ok)
            activation->sockets[i] = (struct activation_socket){
                .fd = SD_LISTEN_FDS_START + i,
                .name = arena_copy(arena, slice_of(names[i])).data,
            };
        free(names[i]);
    }
    free(names);
    return ok;
}

bool activation_is_admin(const struct activation_socket *socket)
{
    return strcmp(socket->name, "admin") == 0;
}

bool activation_is_baremetal(const struct activation_socket *socket)
{
    return strcmp(socket->name, "baremetal") == 0 || strcmp(socket->name, "baremetal-https") == 0;
}

bool activation_is_valet(const struct activation_socket *socket)
{
    return strcmp(socket->name, "valet") == 0 || strcmp(socket->name, "valet-https") == 0;
}

bool activation_is_https(const struct activation_socket *socket)
{
    return strcmp(socket->name, "https") == 0 || strcmp(socket->name, "placement-https") == 0 ||
           strcmp(socket->name, "baremetal-https") == 0 || strcmp(socket->name, "valet-https") == 0;
}

union any_address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

/* Whether a socket at IPv6's wildcard address leaves IPv4 to others. */
static bool is_six_only(int fd)
{
    int only = 0;
    socklen_t len = sizeof(only);
    return getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &len) == 0 && only != 0;
}

static bool is_at_four(const struct sockaddr_in *bound, const char *host)
{
    struct in_addr wanted;
    if (bound->sin_addr.s_addr == htonl(INADDR_ANY)) /* "::" cannot be opened in addition to it */
        return strchr(host, ':') == NULL || strcmp(host, "::") == 0;
    return inet_pton(AF_INET, host, &wanted) == 1 && wanted.s_addr == bound->sin_addr.s_addr;
}

static bool is_at_six(int fd, const struct sockaddr_in6 *bound, const char *host)
{
    struct in6_addr wanted;
    if (IN6_IS_ADDR_UNSPECIFIED(&bound->sin6_addr))
        return strchr(host, ':') != NULL || !is_six_only(fd);
    return inet_pton(AF_INET6, host, &wanted) == 1 &&
           IN6_ARE_ADDR_EQUAL(&wanted, &bound->sin6_addr);
}

static bool is_at_host(int fd, const union any_address *bound, const struct conf_listen *address)
{
    const char *host = strcasecmp(address->host, "localhost") == 0 ? "127.0.0.1" : address->host;
    if (bound->any.sa_family == AF_INET)
        return ntohs(bound->in.sin_port) == address->port && is_at_four(&bound->in, host);
    return bound->any.sa_family == AF_INET6 && ntohs(bound->in6.sin6_port) == address->port &&
           is_at_six(fd, &bound->in6, host);
}

bool activation_is_at(const struct activation_socket *socket, const struct conf_listen *address)
{
    union any_address bound = {0};
    socklen_t len = sizeof(bound) - 1; /* so that a path ends with a NUL byte */
    if (getsockname(socket->fd, &bound.any, &len) != 0)
        return false;
    if (address->path != NULL)
        return bound.any.sa_family == AF_UNIX && strcmp(bound.un.sun_path, address->path) == 0;
    return is_at_host(socket->fd, &bound, address);
}
