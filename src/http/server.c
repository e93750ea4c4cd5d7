/* A server's life cycle, and the library's callbacks. One thread starts and stops it; the callbacks
 * run on the workers.
 *
 * A stop has this order. First, no more connections are accepted. Then running exchanges finish and
 * idle connections are closed (`stopping`) until none is left or the grace period is over. After
 * that no exchange reaches the service any more (`cutting`). The exchanges that the service still
 * holds are waited for, however long that takes, because other threads still use them. Only then is
 * anything freed. */
#include <errno.h>
#include <gnutls/abstract.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wait.h"
#include "http/http_internal.h"

enum { WORKERS_AT_LEAST = 2, CONNECTIONS_BEYOND = 64, LAST_ANSWERS_MS = 250 };

/* Otherwise the library would keep every argument of the query in the connection's memory, which a
 * thousand arguments exhaust; it would then neither answer nor close. It is made to see an empty
 * query instead. */
static void hide_query(const char *target)
{
    const char *query = target == NULL ? NULL : strchr(target, '?');
    if (query != NULL)
        ((char *)(uintptr_t)query)[1] = '\0'; /* the library's own buffer, which it modifies
                                               * itself */
}

static void *on_target(void *cls, const char *target, struct MHD_Connection *mhd)
{
    struct exchange *exchange = exchange_begin(cls, mhd, target);
    hide_query(target);
    return exchange;
}

static enum MHD_Result on_access(void *cls, struct MHD_Connection *mhd, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *size, void **exchange)
{
    (void)cls;
    (void)mhd;
    (void)url;
    return exchange_continue(*exchange, method, version, data, size);
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **exchange,
                         enum MHD_RequestTerminationCode why)
{
    (void)cls;
    (void)mhd;
    (void)why;
    if (*exchange != NULL)
        exchange_end(*exchange);
    *exchange = NULL;
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *context = connection_open(cls, mhd);
    else
        connection_close(cls, *context);
}

/* berth uses the raw target and never reads what the library decodes from it. */
static size_t unescape_nothing(void *cls, struct MHD_Connection *mhd, char *text)
{
    (void)cls;
    (void)mhd;
    return strlen(text);
}

/* The library requires a certificate at startup; each connection gets its own later. */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
                          int authority_count, const gnutls_pk_algorithm_t *algorithms,
                          int algorithm_count, gnutls_pcert_st **chain, unsigned *chain_len,
                          gnutls_privkey_t *key)
{
    (void)session;
    (void)authorities;
    (void)authority_count;
    (void)algorithms;
    (void)algorithm_count;
    (void)chain;
    (void)chain_len;
    (void)key;
    return -1;
}

static bool daemon_start(struct http_server *server)
{
    const struct http_limits *limits = &server->limits;
    /* the library divides its own limit evenly among the workers: set it so high that it is never
     * reached */
    unsigned far_limit =
        (limits->connections_max + CONNECTIONS_BEYOND) * server->exchange_pool_count;
    unsigned tls = server->tls != NULL ? MHD_USE_TLS : 0;
    ready_events_limit();
    server->daemon = MHD_start_daemon(
        tls | MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET,
        0, NULL, NULL, on_access, server, MHD_OPTION_THREAD_POOL_SIZE, server->exchange_pool_count,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)limits->connection_memory_bytes,
        MHD_OPTION_CONNECTION_TIMEOUT, limits->idle_timeout_s == 0 ? 1 : limits->idle_timeout_s,
        MHD_OPTION_CONNECTION_LIMIT, far_limit, MHD_OPTION_URI_LOG_CALLBACK, on_target, server,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape_nothing, NULL, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
        tls != 0 ? MHD_OPTION_HTTPS_CERT_CALLBACK : MHD_OPTION_END, no_certificate, MHD_OPTION_END);
    return server->daemon != NULL;
}

_Static_assert(offsetof(struct http_server, pools) % EXCHANGE_POOL_ALIGNMENT == 0 &&
                   sizeof(struct exchange_pool) % EXCHANGE_POOL_ALIGNMENT == 0,
               "no two workers write to one cache line");

static struct http_server *server_create(const struct http_limits *limits,
                                         const struct http_service *service)
{
    unsigned workers =
        limits->worker_threads < WORKERS_AT_LEAST ? WORKERS_AT_LEAST : limits->worker_threads;
    size_t bytes = sizeof(struct http_server) + workers * sizeof(struct exchange_pool);
    struct http_server *server = aligned_alloc(EXCHANGE_POOL_ALIGNMENT, bytes);
    check(server != NULL);
    memset(server, 0, bytes);
    server->limits = *limits;
    server->owns_process = limits->process == NULL;
    server->process = server->owns_process ? http_process_create(limits->large_answers_bytes, 0)
                                           : limits->process;
    server->service = *service;
    server->exchange_pool_count = workers;
    pthread_mutex_init(&server->lock, NULL);
    wait_init(&server->watcher_wake);
    process_add(server->process, server);
    unsigned possible = atomic_load(&server->process->connections_max[limits->is_reserved]);
    if (server->limits.connections_max > possible)
        server->limits.connections_max = possible;
    return server;
}

static void server_destroy(struct http_server *server)
{
    process_remove(server->process, server);
    for (unsigned i = 0; i < server->exchange_pool_count; i++)
        exchange_pool_clear(server->process, &server->pools[i]);
    if (server->owns_process)
        http_process_destroy(server->process);
    pthread_cond_destroy(&server->watcher_wake);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

static bool server_run(struct http_server *server)
{
    if (server->tls != NULL && !handshakes_start(server))
        return false;
    if (watcher_start(server)) {
        if (daemon_start(server) && acceptor_start(server))
            return true;
        watcher_stop(server);
    }
    int failure = errno;
    atomic_store(&server->cutting, true);
    if (server->tls != NULL)
        handshakes_stop(server);
    if (server->daemon != NULL)
        MHD_stop_daemon(server->daemon);
    errno = failure;
    return false;
}

struct http_server *http_server_start(const struct http_address *address,
                                      const struct http_limits *limits,
                                      const struct http_service *service, struct err *err)
{
    struct listener listener;
    if (!listener_open(address, &listener, err))
        return NULL;
    struct http_server *server = server_create(limits, service);
    server->listener = listener;
    server->is_unix = listener.port == 0;
    server->tls = address->tls;
    if (server_run(server))
        return server;
    err_set(err, 500, NULL, "cannot serve %s: %s", listener.url, strerror(errno));
    listener_free(&server->listener);
    server_destroy(server);
    return NULL;
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->listener.port;
}

const char *http_server_url(const struct http_server *server)
{
    return server->listener.url;
}

struct http_load http_server_load(struct http_server *server)
{
    struct http_load load = {
        .accepted = atomic_load(&server->connections_taken),
        .large_bytes = atomic_load(&server->large_bytes),
    };
    uint64_t now_us = clock_coarse_us();
    for (unsigned i = 0; i < server->exchange_pool_count; i++) {
        const struct exchange_pool *pool = &server->pools[i];
        uint64_t called_us = atomic_load(&pool->called_us);
        load.requests += atomic_load(&pool->begun);
        load.in_service += atomic_load(&pool->in_service);
        if (called_us != 0 && called_us < now_us && now_us - called_us > load.longest_us)
            load.longest_us = now_us - called_us;
    }
    /* in this order, a connection that a worker takes meanwhile is counted twice rather than not at
     * all */
    uint64_t waiting =
        atomic_load(&server->connections_handed) - atomic_load(&server->connections_taken);
    pthread_mutex_lock(&server->lock);
    load.connections = server->connection_count + (waiting <= INT_MAX ? (unsigned)waiting : 0);
    pthread_mutex_unlock(&server->lock);
    return load;
}

void http_server_drain(struct http_server *server, unsigned linger_ms)
{
    if (atomic_load(&server->stopping))
        return;
    atomic_store(&server->stopping, true);
    acceptor_stop(server);
    listener_close(&server->listener);
    watcher_drain(server, linger_ms);
}

void http_server_cut(struct http_server *server)
{
    atomic_store(&server->cutting, true);
}

void http_server_stop(struct http_server *server, unsigned grace_ms)
{
    http_server_drain(server, 0);
    uint64_t end_us = clock_monotonic_us() + grace_ms * 1000ULL;
    while (http_server_load(server).requests > 0 && clock_monotonic_us() < end_us)
        wait_sleep_us(NAP_US);
    http_server_cut(server);
    while (http_server_load(server).in_service + atomic_load(&server->asking) > 0)
        wait_sleep_us(NAP_US);
    while (atomic_load(&server->resumings) > 0)
        wait_sleep_us(NAP_US);
    end_us = clock_monotonic_us() + LAST_ANSWERS_MS * 1000ULL;
    while (http_server_load(server).requests > 0 && clock_monotonic_us() < end_us)
        wait_sleep_us(NAP_US); /* lets the answers to abandoned requests be sent */
    watcher_stop(server);
    if (server->tls != NULL)
        handshakes_stop(server);
    MHD_stop_daemon(server->daemon);
    listener_free(&server->listener);
    server_destroy(server);
}
