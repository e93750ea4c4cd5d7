/* The end of a connection that another than its worker wants: a full server, the watcher, a stop.
 */
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
