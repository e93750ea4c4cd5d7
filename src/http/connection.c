/* Connections: the server's list of them, and the limits on their number. When the limit is
 * reached, another connection is shut down (connection_limit.c) so that a new client can connect.
 * If none may be shut down, or the new client's address has too many connections, the new one is
 * closed.
 *
 * Invariant: a connection is in the list exactly as long as its socket is open, because MHD calls
 * connection_close() before it closes the socket. Code that holds the lock may therefore use its
 * fd. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/event_loop.h"
#include "base/event_set.h"
#include "base/hash.h"
#include "http/http_internal.h"

static void peer_write(struct connection *connection, const struct sockaddr *address)
{
    const char *text = NULL;
    if (address != NULL && address->sa_family == AF_INET) {
        text = inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr,
                         connection->peer, sizeof(connection->peer));
    } else if (address != NULL && address->sa_family == AF_INET6) {
        const struct in6_addr *in6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(in6))
            text =
                inet_ntop(AF_INET, &in6->s6_addr[12], connection->peer, sizeof(connection->peer));
        else
            text = inet_ntop(AF_INET6, in6, connection->peer, sizeof(connection->peer));
    }
    if (text == NULL) /* the Python service logs this for a request whose server reports no
                       * address */
        text = memcpy(connection->peer, "-", 2);
    connection->peer_len = strlen(text);
    connection->peer_hash = hash_text((struct slice){connection->peer, connection->peer_len});
}

static struct exchange_pool *pool_of_this_thread(struct http_server *server)
{
    pthread_t self = pthread_self();
    unsigned taken = atomic_load(&server->pools_taken);
    for (unsigned i = 0; i < taken; i++) {
        if (pthread_equal(server->pools[i].thread, self))
            return &server->pools[i];
    }
    check(taken < server->exchange_pool_count);
    server->pools[taken].thread = self;
    atomic_store(&server->pools_taken, taken + 1);
    return &server->pools[taken];
}

struct connection *connection_open(struct http_server *server, struct MHD_Connection *mhd)
{
    struct connection *connection = calloc(1, sizeof(*connection));
    check(connection != NULL);
    event_loop_begin();
    connection->server = server;
    connection->mhd = mhd;
    connection->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    const struct sockaddr *address =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    peer_write(connection, address);
    uint64_t now = clock_monotonic_us();
    atomic_init(&connection->idle_since_us, now);
    connection->watched_idle_us = now;
    connection->opened_us = now;
    if (server->tls != NULL)
        handshake_begin(server, connection);

    pthread_mutex_lock(&server->lock);
    connection->pool = pool_of_this_thread(server);
    connection->peer_group = peer_enter(server, peer_key(address));
    if (server->connection_count - server->shut_count >= server->limits.connections_max)
        (void)connection_limit_evict(server);
    connection->next = server->connections;
    if (connection->next != NULL)
        connection->next->previous = connection;
    else
        pthread_cond_signal(&server->watcher_wake);
    server->connections = connection;
    server->connection_count++;
    /* only now, so that http_server_load() never misses the connection */
    atomic_fetch_add(&server->connections_taken, 1);
    if (server->connection_count - server->shut_count > server->limits.connections_max ||
        (connection->peer_group->open > server->limits.connections_per_address &&
         !server->is_unix)) /* clients of a unix socket have no address */
        connection_shut(server, connection);
    pthread_mutex_unlock(&server->lock);
    if (!connection_limit_enter_process(server)) {
        pthread_mutex_lock(&server->lock);
        connection_shut(server, connection);
        pthread_mutex_unlock(&server->lock);
    }
    return connection;
}

void connection_close(struct http_server *server, struct connection *connection)
{
    event_set_forget(connection->fd);
    pthread_mutex_lock(&server->lock);
    if (server->cursor == connection)
        server->cursor = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        server->connections = connection->next;
    server->connection_count--;
    if (connection->shut)
        server->shut_count--;
    peer_leave(server, connection->peer_group);
    pthread_mutex_unlock(&server->lock);
    connection_limit_leave_process(server);
    if (connection->credentials != NULL)
        tls_give_back(connection->credentials);
    free(connection);
}
