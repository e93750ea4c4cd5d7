/* The watcher: one thread that shuts down connections that exceed a deadline. The library tolerates
 * a client that sends a byte now and then, so the watcher inspects its sockets from outside.
 *
 * From the end of the headers on, the worker maintains the connection's deadline_us; before that,
 * line_us, the time at which the request line was complete. Before the request line, no callback
 * runs: the first byte of a request is noticed by the kernel's count of received bytes (TCP_INFO),
 * which does not change while a connection idles. Bytes that arrive between the end of an exchange
 * and the watcher's next check are taken for idling. Such a client cannot stay longer than one that
 * sends nothing, because the idle timeout applies to it. A unix socket has no such count: there the
 * request line must arrive within the sum of the idle timeout and the header deadline.
 *
 * While the server drains, idle connections are closed, too, but not at once, because a request may
 * be on its way. If a request or a handshake has begun to arrive, it has two seconds; otherwise one
 * silent client would extend every stop to its full grace period. A client that has just connected
 * is about to send its first request, and has two seconds from then. When its time is over, only
 * the reading side of a connection is shut down: a request that arrives after the watcher has
 * looked is in the socket before that, so the worker reads and answers it. Otherwise it sees the
 * end of the stream.
 *
 * A connection that is shut down is closed by its worker, which sees the end of the stream. */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/wait.h"
#include "http/http_internal.h"

enum {
    LOOK_AT_LEAST_US = 20 * 1000,
    LOOK_AT_MOST_US = 500 * 1000,
    LOOKS_PER_LOCK = 64,
    /* A worker needs about ten microseconds to close a connection, and does nothing else
     * meanwhile. */
    SHUT_AT_ONCE_MAX = 32,
    LOOK_SOON_US = 10 * 1000, /* when more must be shut down */
    ENDED_FOR_US = 100 * 1000,
    BEGUN_LINGER_US = 2000 * 1000, /* when the server drains: for requests that have begun to
                                    * arrive, and for the first one on a connection */
};

static uint64_t bytes_received(int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0 ||
        len < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received))
        return 0;
    return info.tcpi_bytes_received;
}

static bool headers_are_late(const struct http_server *server, struct connection *connection,
                             uint64_t idle_since_us, uint64_t now_us)
{
    uint64_t bytes = server->is_unix ? 0 : bytes_received(connection->fd);
    if (connection->watched_idle_us != idle_since_us) {
        connection->watched_idle_us = idle_since_us;
        connection->watched_bytes = bytes;
        connection->first_byte_us = 0;
        return false;
    }
    if (server->is_unix)
        return server->limits.header_deadline_ms > 0 &&
               now_us - idle_since_us > server->limits.header_deadline_ms * 1000ULL +
                                            server->limits.idle_timeout_s * 1000000ULL;
    if (connection->first_byte_us == 0) {
        if (bytes != connection->watched_bytes)
            connection->first_byte_us = now_us;
        return false;
    }
    return server->limits.header_deadline_ms > 0 &&
           now_us - connection->first_byte_us > server->limits.header_deadline_ms * 1000ULL &&
           atomic_load_explicit(&connection->idle_since_us, memory_order_relaxed) == idle_since_us;
}

/* Whether no more will be read although the request is incomplete, and this was already so some
 * time ago, so that the worker has seen it. The library misses the end of a stream that arrives
 * together with the last bytes. While the server drains, the request may be complete, but with a
 * worker that waits for a processor. */
static bool has_given_up(struct connection *connection, uint64_t now_us)
{
    if (!connection_has_ended(connection)) {
        connection->ended_us = 0;
        return false;
    }
    if (connection->ended_us == 0)
        connection->ended_us = now_us;
    bool is_unread = atomic_load_explicit(&connection->unread_since_us, memory_order_relaxed) != 0;
    return now_us - connection->ended_us >= (is_unread ? BEGUN_LINGER_US : ENDED_FOR_US);
}

/* Whether a request or a handshake has begun to arrive. */
static bool has_begun(const struct connection *connection, uint64_t line_us)
{
    int unread = 0;
    if (line_us != 0)
        return true;
    if (atomic_load_explicit(&connection->in_handshake, memory_order_relaxed))
        return bytes_received(connection->fd) > 0;
    return connection->first_byte_us != 0 || ioctl(connection->fd, FIONREAD, &unread) != 0 ||
           unread > 0;
}

/* Whether a draining server need not wait any longer for a connection without a complete
 * request. */
static bool is_left_over(const struct http_server *server, const struct connection *connection,
                         uint64_t idle_since_us, uint64_t line_us, uint64_t now_us)
{
    uint64_t since_us = idle_since_us != 0 ? idle_since_us : line_us;
    if (!atomic_load_explicit(&connection->has_asked, memory_order_relaxed) &&
        now_us < since_us + BEGUN_LINGER_US)
        return false;
    if (since_us < server->draining_since_us)
        since_us = server->draining_since_us;
    return now_us >= since_us + server->linger_us &&
           (now_us >= since_us + BEGUN_LINGER_US || !has_begun(connection, line_us));
}

/* Closes a connection that a draining server need not wait for. Its worker has as long as a request
 * that has begun to arrive, and longer if it has not yet read what has arrived; the library may
 * miss the end of the stream. */
static void leave_over(struct http_server *server, struct connection *connection, uint64_t now_us)
{
    uint64_t since_us = atomic_load_explicit(&connection->unread_since_us, memory_order_relaxed);
    if (since_us == 0)
        connection_shut_reading(connection, now_us);
    else if (now_us >= since_us + BEGUN_LINGER_US && connection_has_ended(connection))
        connection_shut(server, connection);
}

static void connection_look(struct http_server *server, struct connection *connection,
                            uint64_t now_us)
{
    if (connection->shut)
        return;
    uint64_t deadline = atomic_load_explicit(&connection->deadline_us, memory_order_relaxed);
    uint64_t idle = atomic_load_explicit(&connection->idle_since_us, memory_order_relaxed);
    uint64_t line = atomic_load_explicit(&connection->line_us, memory_order_relaxed);
    uint64_t receiving = atomic_load_explicit(&connection->receiving_us, memory_order_relaxed);
    uint64_t allowed_us = server->limits.header_deadline_ms * 1000ULL;
    if ((deadline != 0 && now_us > deadline) ||
        (line != 0 && allowed_us > 0 && now_us > line + allowed_us) ||
        (idle != 0 && headers_are_late(server, connection, idle, now_us)))
        connection_shut(server, connection);
    else if (server->draining_since_us != 0 && (idle != 0 || line != 0) &&
             is_left_over(server, connection, idle, line, now_us))
        leave_over(server, connection, now_us);
    else if (receiving == 0 && (idle == 0 || (connection->first_byte_us == 0 && !server->is_unix)))
        connection->ended_us = 0;
    else if (has_given_up(connection, now_us))
        connection_shut(server, connection);
}

/* Checks all connections, or the rest of them. False: so many were late that some remain to be
 * checked. */
static bool look_at_all(struct http_server *server)
{
    uint64_t now_us = clock_monotonic_us();
    unsigned looks = 0;
    unsigned shut = 0;
    if (server->cursor == NULL)
        server->cursor = server->connections;
    while (server->cursor != NULL) {
        struct connection *connection = server->cursor;
        server->cursor = connection->next;
        bool was_shut = connection->shut;
        connection_look(server, connection, now_us);
        if (connection->shut && !was_shut && ++shut == SHUT_AT_ONCE_MAX &&
            server->draining_since_us == 0)
            return server->cursor == NULL;
        /* workers need the lock to add and to close connections */
        if (++looks % LOOKS_PER_LOCK == 0) {
            pthread_mutex_unlock(&server->lock);
            pthread_mutex_lock(&server->lock);
        }
    }
    return true;
}

void http_server_set_deadlines(struct http_server *server, unsigned header_ms, unsigned body_ms)
{
    server->limits.header_deadline_ms = header_ms;
    server->limits.body_deadline_ms = body_ms;
}

uint64_t body_deadline_us(const struct http_server *server, uint64_t since_us, uint64_t bytes)
{
    if (server->limits.body_deadline_ms == 0)
        return 0;
    return since_us + server->limits.body_deadline_ms * 1000ULL +
           bytes * 1000000ULL / BODY_BYTES_PER_S;
}

uint64_t answer_deadline_us(const struct http_server *server, uint64_t since_us, uint64_t bytes)
{
    if (server->limits.body_deadline_ms == 0 || bytes <= HTTP_LARGE_BYTES)
        return body_deadline_us(server, since_us, bytes);
    return stream_deadline_us(server, since_us, bytes);
}

uint64_t stream_deadline_us(const struct http_server *server, uint64_t since_us, uint64_t bytes)
{
    if (server->limits.body_deadline_ms == 0)
        return 0;
    return since_us + server->limits.body_deadline_ms * 1000ULL +
           bytes * 1000000ULL / LARGE_ANSWER_BYTES_PER_S;
}

static uint64_t look_interval_us(const struct http_limits *limits)
{
    unsigned shortest_ms = limits->header_deadline_ms;
    if (shortest_ms == 0 ||
        (limits->body_deadline_ms > 0 && limits->body_deadline_ms < shortest_ms))
        shortest_ms = limits->body_deadline_ms;
    if (shortest_ms == 0)
        return LOOK_AT_MOST_US;
    uint64_t interval_us = shortest_ms * 1000ULL / 10;
    if (interval_us < LOOK_AT_LEAST_US)
        return LOOK_AT_LEAST_US;
    return interval_us < LOOK_AT_MOST_US ? interval_us : LOOK_AT_MOST_US;
}

static void *watch(void *cls)
{
    struct http_server *server = cls;
    bool is_through = true;
    pthread_mutex_lock(&server->lock);
    while (!server->watcher_stop) {
        if (server->connections == NULL) {
            pthread_cond_wait(&server->watcher_wake, &server->lock);
            continue;
        }
        bool drains = server->draining_since_us != 0;
        uint64_t interval_us = drains ? LOOK_AT_LEAST_US : look_interval_us(&server->limits);
        if (!is_through)
            interval_us = LOOK_SOON_US;
        uint64_t next_us = clock_monotonic_us() + interval_us;
        while (!server->watcher_stop && drains == (server->draining_since_us != 0) &&
               wait_until(&server->watcher_wake, &server->lock, next_us))
            continue;
        if (!server->watcher_stop)
            is_through = look_at_all(server);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

bool watcher_start(struct http_server *server)
{
    return pthread_create(&server->watcher, NULL, watch, server) == 0;
}

void watcher_drain(struct http_server *server, unsigned linger_ms)
{
    pthread_mutex_lock(&server->lock);
    server->draining_since_us = clock_monotonic_us();
    server->linger_us = linger_ms * 1000ULL;
    pthread_cond_signal(&server->watcher_wake);
    pthread_mutex_unlock(&server->lock);
}

void watcher_stop(struct http_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->watcher_stop = true;
    pthread_cond_signal(&server->watcher_wake);
    pthread_mutex_unlock(&server->lock);
    pthread_join(server->watcher, NULL);
}
