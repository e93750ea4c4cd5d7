/* The acceptor: one thread that accepts new connections and hands each to a worker of the library.
 *
 * The library's own accepting is not used, because it spins when descriptors run out, takes up to
 * ten connections into one worker while the others idle, and may end the process in
 * MHD_quiesce_daemon() (0.9.75: the quiescing thread and a worker both remove the socket from the
 * epoll set, and the second one panics). */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http_internal.h"

enum {
    HANDED_AHEAD_MAX = 32, /* connections handed to workers but not yet taken, so that descriptors
                            * are left for others */
    LAST_ACCEPTED_MAX = 4096,
    AHEAD_NAP_MS = 1,
    AHEAD_NAPS_MAX = 2000, /* longer than workers wait for a processor */
    SHORTAGE_NAP_MS = 20,
    SHUT_NAP_MS = 100,
};

/* Whether the acceptor must end, after waiting up to that time for the request. */
static bool must_end(const struct http_server *server, int timeout_ms)
{
    struct pollfd wake = {.fd = server->acceptor_wake_fd, .events = POLLIN};
    return poll(&wake, 1, timeout_ms) > 0;
}

static bool is_shortage(int failure)
{
    return failure == EMFILE || failure == ENFILE || failure == ENOBUFS || failure == ENOMEM;
}

static void wait_for_workers(struct http_server *server)
{
    for (unsigned naps = 0; naps < AHEAD_NAPS_MAX; naps++) {
        uint64_t handed = atomic_load(&server->connections_handed);
        if (handed - atomic_load(&server->connections_taken) < HANDED_AHEAD_MAX ||
            must_end(server, AHEAD_NAP_MS))
            return;
    }
    /* connections that no worker took in all this time were dropped by the library without notice
     * because memory ran out: count from the current state */
    atomic_store(&server->connections_handed, atomic_load(&server->connections_taken));
}

/* False: errno is set. */
static bool accept_one(struct http_server *server)
{
    struct sockaddr_storage address = {.ss_family = AF_UNIX};
    socklen_t len = sizeof(address);
    int fd = accept4(server->listener.fd, (struct sockaddr *)&address, &len,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return false;
    /* the library compares addresses by their lengths, too, and a client may bind a path of any
     * length */
    if (address.ss_family == AF_UNIX)
        len = sizeof(address.ss_family);
    if (!server->is_unix && peer_is_full(server, (struct sockaddr *)&address)) {
        close(fd);
        return true;
    }
    /* counted first, because the worker may take the connection before this thread continues */
    atomic_fetch_add(&server->connections_handed, 1);
    if (MHD_add_connection(server->daemon, fd, (struct sockaddr *)&address, len) != MHD_YES)
        atomic_fetch_sub(&server->connections_handed, 1);
    return true;
}

static void accept_waiting(struct http_server *server)
{
    for (;;) {
        if (connection_limit_is_reached(server)) {
            must_end(server, SHORTAGE_NAP_MS);
            return;
        }
        if (accept_one(server)) {
            wait_for_workers(server);
        } else if (is_shortage(errno)) {
            must_end(server, SHORTAGE_NAP_MS);
            return;
        } else if (errno == EAGAIN || errno == EINVAL) { /* EINVAL: see acceptor_run() */
            return;
        }
        if (must_end(server, 0))
            return;
    }
}

static void *acceptor_run(void *cls)
{
    struct http_server *server = cls;
    struct pollfd ready[] = {{.fd = server->listener.fd, .events = POLLIN},
                             {.fd = server->acceptor_wake_fd, .events = POLLIN}};
    while (ready[1].revents == 0) {
        if (poll(ready, 2, -1) > 0 && ready[0].revents != 0)
            accept_waiting(server);
        /* another process that holds an inherited socket has shut it down, and may listen on it
         * again */
        if ((ready[0].revents & POLLHUP) != 0)
            must_end(server, SHUT_NAP_MS);
    }
    /* connections that reached a listener which ends with this process are served; those on an
     * inherited socket are left to the next process */
    for (unsigned i = 0; !server->listener.is_given && i < LAST_ACCEPTED_MAX; i++)
        if (!accept_one(server) && errno != ECONNABORTED)
            break;
    return NULL;
}

bool acceptor_start(struct http_server *server)
{
    server->acceptor_wake_fd = eventfd(0, EFD_CLOEXEC);
    if (server->acceptor_wake_fd < 0)
        return false;
    if (pthread_create(&server->acceptor, NULL, acceptor_run, server) == 0)
        return true;
    close(server->acceptor_wake_fd);
    return false;
}

void acceptor_stop(struct http_server *server)
{
    eventfd_write(server->acceptor_wake_fd, 1);
    pthread_join(server->acceptor, NULL);
    close(server->acceptor_wake_fd);
}
