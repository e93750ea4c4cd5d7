/* Ends a connection from outside its worker: when the server is full, and for the watcher and a
 * stop. */
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

bool connection_has_ended(const struct connection *connection)
{
    struct pollfd socket = {.fd = connection->fd, .events = POLLRDHUP};
    int unread = 0;
    return poll(&socket, 1, 0) > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0 &&
           (ioctl(connection->fd, FIONREAD, &unread) != 0 || unread == 0);
}
