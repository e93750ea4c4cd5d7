/* Ends a connection from outside its worker: when the server is full, and for the watcher and a
 * stop. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "http/http_internal.h"

void connection_shut(struct http_server *server, struct connection *connection)
{
    if (connection->shut)
        return;
    connection->shut = true;
    server->shut_count++;
    shutdown(connection->fd, SHUT_RDWR);
}

/* Whether a request line or headers are awaited. */
static bool is_awaited(const struct connection *connection)
{
    return atomic_load(&connection->idle_since_us) != 0 || atomic_load(&connection->line_us) != 0;
}

void connection_shut_reading(struct connection *connection, uint64_t now_us)
{
    atomic_store(&connection->unread_since_us, now_us);
    if (is_awaited(connection))
        shutdown(connection->fd, SHUT_RD);
    else /* a request came first: its worker may not have seen the mark */
        atomic_store(&connection->unread_since_us, 0);
}

bool connection_is_unread(struct connection *connection)
{
    /* they are 0 already; stored again, in one order with those of connection_shut_reading() */
    atomic_store(&connection->idle_since_us, 0);
    atomic_store(&connection->line_us, 0);
    return atomic_load(&connection->unread_since_us) != 0;
}

static bool has_events(const struct connection *connection, short events)
{
    struct pollfd socket = {.fd = connection->fd, .events = events};
    return poll(&socket, 1, 0) > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* Also if the reading side has been shut down here: poll() then reports the same events whether or
 * not the client has ended. A unix socket reports another event. */
static bool has_client_ended(const struct connection *connection)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    return getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
           info.tcpi_state != TCP_ESTABLISHED;
}

bool connection_is_gone(const struct connection *connection)
{
    if (atomic_load(&connection->unread_since_us) == 0)
        return has_events(connection, POLLRDHUP);
    return has_events(connection, 0) || has_client_ended(connection);
}

bool connection_has_ended(const struct connection *connection)
{
    int unread = 0;
    return has_events(connection, POLLRDHUP) &&
           (ioctl(connection->fd, FIONREAD, &unread) != 0 || unread == 0);
}
