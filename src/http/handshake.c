/* TLS handshakes. The library runs them on its workers, but while a handshake waits for its client,
 * the library polls it without pause, which occupies a whole processor (0.9.75:
 * MHD_run_tls_handshake_() leaves the socket marked as ready). Therefore a handshake that would
 * wait is suspended, like an exchange that waits for the writer, and a thread of berth resumes it
 * when its client has sent something.
 *
 * This is detected where GnuTLS reads: berth supplies its pull function. A handshake must finish
 * within the header deadline or, if there is none, within the idle timeout, which the library does
 * not count while the handshake is suspended. After that the watcher shuts the socket down, which
 * resumes the handshake so that it ends.
 *
 * Invariant: a thread that suspends increments handshakes_awaited before it checks `cutting`, and a
 * stop sets `cutting` before it waits for that count, so a stop cannot miss a suspended
 * handshake. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/wait.h"
#include "http/http_internal.h"

enum { EVENTS_AT_ONCE = 64 };

/* False: the handshake must not wait, because the server is about to end. */
static bool wait_for_client(struct connection *connection)
{
    struct http_server *server = connection->server;
    atomic_fetch_add(&server->handshakes_awaited, 1);
    if (atomic_load(&server->cutting)) {
        atomic_fetch_sub(&server->handshakes_awaited, 1);
        return false;
    }
    MHD_suspend_connection(connection->mhd);
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT,
                                .data.ptr = connection};
    int how = connection->is_awaited ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(server->handshakes_fd, how, connection->fd, &event) == 0) {
        connection->is_awaited = true;
    } else { /* out of memory: the library polls */
        MHD_resume_connection(connection->mhd);
        atomic_fetch_sub(&server->handshakes_awaited, 1);
    }
    return true;
}

static ssize_t pull(gnutls_transport_ptr_t transport, void *data, size_t size)
{
    struct connection *connection = transport;
    ssize_t got = recv(connection->fd, data, size, 0);
    if (!atomic_load_explicit(&connection->in_handshake, memory_order_relaxed))
        return got;
    if (got < 0 && errno == EAGAIN) {
        errno = wait_for_client(connection) ? EAGAIN : ECONNRESET;
    } else if (got == 0) {
        /* An end within a record is no error to GnuTLS, which asks to be called again. The library
         * does so when the socket becomes ready once more. One that has been shut down may not, and
         * its connection would stay until the idle timeout. */
        errno = ECONNRESET;
        got = -1;
    }
    return got;
}

/* The client's Finished message has arrived, so the handshake waits for nothing more. */
static int on_finished(gnutls_session_t session, unsigned message, unsigned post, unsigned incoming,
                       const gnutls_datum_t *data)
{
    (void)message;
    (void)post;
    (void)data;
    if (incoming == 0)
        return 0;
    void *recv_transport = NULL;
    void *send_transport = NULL;
    gnutls_transport_get_ptr2(session, &recv_transport, &send_transport);
    struct connection *connection = recv_transport;
    atomic_store_explicit(&connection->deadline_us, 0, memory_order_relaxed);
    atomic_store_explicit(&connection->idle_since_us, clock_monotonic_us(), memory_order_relaxed);
    atomic_store_explicit(&connection->in_handshake, false, memory_order_relaxed);
    return 0;
}

void handshake_begin(struct http_server *server, struct connection *connection)
{
    gnutls_session_t session = (gnutls_session_t)MHD_get_connection_info(
                                   connection->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION)
                                   ->tls_session;
    connection->credentials = tls_take(server->tls);
    tls_prepare(connection->credentials, session);
    atomic_init(&connection->in_handshake, true);
    uint64_t allowed_us = server->limits.header_deadline_ms * 1000ULL;
    if (allowed_us == 0)
        allowed_us = server->limits.idle_timeout_s * 1000000ULL;
    atomic_init(&connection->deadline_us, connection->opened_us + allowed_us);
    gnutls_transport_set_ptr2(session, connection,
                              (gnutls_transport_ptr_t)(intptr_t)connection->fd);
    gnutls_transport_set_pull_function(session, pull);
    gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST,
                                       on_finished);
}

static void *resume_handshakes(void *cls)
{
    struct http_server *server = cls;
    for (;;) {
        struct epoll_event events[EVENTS_AT_ONCE];
        int count = epoll_wait(server->handshakes_fd, events, EVENTS_AT_ONCE, -1);
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection == NULL)
                return NULL;
            /* armed for one event: only this thread resumes the connection, so it still exists */
            MHD_resume_connection(connection->mhd);
            atomic_fetch_sub(&server->handshakes_awaited, 1);
        }
    }
}

bool handshakes_start(struct http_server *server)
{
    struct epoll_event end = {.events = EPOLLIN};
    server->handshakes_fd = epoll_create1(EPOLL_CLOEXEC);
    server->handshakes_wake_fd = eventfd(0, EFD_CLOEXEC);
    if (server->handshakes_fd >= 0 && server->handshakes_wake_fd >= 0 &&
        epoll_ctl(server->handshakes_fd, EPOLL_CTL_ADD, server->handshakes_wake_fd, &end) == 0 &&
        pthread_create(&server->handshaker, NULL, resume_handshakes, server) == 0)
        return true;
    int failure = errno;
    if (server->handshakes_fd >= 0)
        close(server->handshakes_fd);
    if (server->handshakes_wake_fd >= 0)
        close(server->handshakes_wake_fd);
    errno = failure;
    return false;
}

void handshakes_stop(struct http_server *server)
{
    pthread_mutex_lock(&server->lock);
    for (struct connection *at = server->connections; at != NULL; at = at->next)
        connection_shut(server, at);
    pthread_mutex_unlock(&server->lock);
    while (atomic_load(&server->handshakes_awaited) > 0)
        wait_sleep_us(NAP_US);
    eventfd_write(server->handshakes_wake_fd, 1);
    pthread_join(server->handshaker, NULL);
    close(server->handshakes_wake_fd);
    close(server->handshakes_fd);
}
