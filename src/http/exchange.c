/* One exchange: request line, headers, body, service, answer. Its worker walks it through its
 * stages; the only other thread that touches it is the one that calls http_resume().
 *
 * The handover: `wait` is RUNNING while the service runs. http_resume() sets RESUMED. A worker that
 * was told HTTP_PENDING suspends the connection first and then sets SUSPENDED, so whoever finds
 * SUSPENDED may wake the library, and a worker that finds RESUMED instead wakes itself. After its
 * swap http_resume() touches the exchange no more.
 *
 * Memory: a small GET costs no malloc of ours; exchanges, with their arena, wait for the next one
 * on their worker's shelf. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "http/http_internal.h"

enum {
    KEEP_BYTES = 16 * 1024,
    /* of larger answers' buffers: growing one costs a fifth of filling it */
    SHELF_KEEP_BYTES = 4 << 20,
};

/* Only the worker writes its counts, so that a plain store does; what it has done before is seen
 * by who sees the count. */
static void count_add(_Atomic unsigned *count, unsigned change)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + change,
                          memory_order_release);
}

/* The same, ordered before a look at `cutting`: on x86 this takes a locked instruction, one for a
 * request. */
static void count_enter(_Atomic unsigned *count)
{
    atomic_store(count, atomic_load_explicit(count, memory_order_relaxed) + 1);
}

static void exchange_free(struct exchange *exchange)
{
    arena_destroy(exchange->http.arena);
    buf_free(&exchange->body);
    buf_free(&exchange->http.out);
    free(exchange);
}

/* What a buffer has above what every exchange may keep. */
static size_t large_bytes(const struct buf *buf)
{
    return buf->cap > KEEP_BYTES ? buf->cap : 0;
}

static struct buf buf_to_keep(struct buf buf, bool even_if_large)
{
    if (large_bytes(&buf) > 0 && !even_if_large)
        buf_free(&buf);
    buf.len = 0;
    return buf;
}

static struct exchange *shelf_take(struct shelf *shelf)
{
    struct exchange *exchange = shelf->spare;
    if (exchange != NULL) {
        shelf->spare = exchange->next_spare;
        shelf->spare_count--;
        shelf->kept_bytes -= large_bytes(&exchange->http.out);
        return exchange;
    }
    exchange = calloc(1, sizeof(*exchange));
    check(exchange != NULL);
    exchange->http.arena = arena_create();
    return exchange;
}

static void shelf_put(struct shelf *shelf, struct exchange *exchange)
{
    if (shelf->spare_count == SHELF_EXCHANGES_MAX) {
        exchange_free(exchange);
        return;
    }
    struct arena *arena = exchange->http.arena;
    struct buf body = buf_to_keep(exchange->body, false);
    bool has_room = shelf->kept_bytes + large_bytes(&exchange->http.out) <= SHELF_KEEP_BYTES;
    struct buf out = buf_to_keep(exchange->http.out, has_room);
    shelf->kept_bytes += large_bytes(&out);
    arena_reset(arena);
    *exchange = (struct exchange){
        .http = {.arena = arena, .out = out}, .body = body, .next_spare = shelf->spare};
    shelf->spare = exchange;
    shelf->spare_count++;
}

void shelf_clear(struct shelf *shelf)
{
    while (shelf->spare != NULL)
        exchange_free(shelf_take(shelf));
}

static void deadline_set(struct exchange *exchange, uint64_t deadline_us)
{
    atomic_store_explicit(&exchange->connection->deadline_us, deadline_us, memory_order_relaxed);
}

struct exchange *exchange_begin(struct http_server *server, struct MHD_Connection *mhd,
                                const char *target)
{
    struct connection *connection =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    struct exchange *exchange = shelf_take(connection->shelf);
    exchange->server = server;
    exchange->connection = connection;
    exchange->mhd = mhd;
    exchange->http.target =
        arena_copy(exchange->http.arena, target == NULL ? SLICE_LIT("") : slice_of(target));
    exchange->target_end = target == NULL ? NULL : target + exchange->http.target.len;
    exchange->http.tls = server->tls != NULL;
    exchange->http.port = server->listener.port;
    exchange->http.peer = (struct slice){connection->peer, connection->peer_len};
    exchange->http.started_us = clock_now_us(CLOCK_MONOTONIC);
    count_add(&connection->shelf->begun, 1);

    atomic_store_explicit(&connection->line_us, exchange->http.started_us, memory_order_relaxed);
    atomic_store_explicit(&connection->receiving_us, exchange->http.started_us,
                          memory_order_relaxed);
    atomic_store_explicit(&connection->idle_since_us, 0, memory_order_relaxed);
    return exchange;
}

/* The worker goes into the service, and comes out of it. */
static enum http_step service_call(struct exchange *exchange,
                                   enum http_step (*call)(struct http_exchange *, void *))
{
    _Atomic uint64_t *called_us = &exchange->connection->shelf->called_us;
    atomic_store_explicit(called_us, clock_now_us(CLOCK_MONOTONIC_COARSE), memory_order_relaxed);
    enum http_step step = call(&exchange->http, exchange->server->service.cls);
    atomic_store_explicit(called_us, 0, memory_order_relaxed);
    return step;
}

/* Answers, or leaves the exchange suspended. */
static enum MHD_Result service_follow(struct exchange *exchange, enum http_step step)
{
    const struct http_service *service = &exchange->server->service;
    while (step == HTTP_PENDING) {
        if (atomic_load(&exchange->wait) != WAIT_RESUMED) {
            int expected = WAIT_RUNNING;
            MHD_suspend_connection(exchange->mhd);
            if (!atomic_compare_exchange_strong(&exchange->wait, &expected, WAIT_SUSPENDED))
                MHD_resume_connection(exchange->mhd);
            return MHD_YES;
        }
        atomic_store(&exchange->wait, WAIT_RUNNING);
        step = service_call(exchange, service->on_resume);
    }
    enum MHD_Result sent = answer_send(exchange);
    count_add(&exchange->connection->shelf->in_service, 0U - 1);
    return sent;
}

static enum MHD_Result service_start(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    struct shelf *shelf = exchange->connection->shelf;
    count_enter(&shelf->in_service);
    if (atomic_load(&server->cutting)) {
        count_add(&shelf->in_service, 0U - 1);
        return MHD_NO;
    }
    deadline_set(exchange, 0);
    atomic_store_explicit(&exchange->connection->receiving_us, 0, memory_order_relaxed);
    exchange->stage = STAGE_SERVICE;
    exchange->served = true;
    if (exchange->http.fault == HTTP_FAULT_NONE)
        exchange->http.body = buf_slice(&exchange->body);
    return service_follow(exchange, service_call(exchange, server->service.on_request));
}

static enum MHD_Result service_go_on(struct exchange *exchange)
{
    check(atomic_load(&exchange->wait) == WAIT_RESUMED);
    atomic_store(&exchange->wait, WAIT_RUNNING);
    return service_follow(exchange, service_call(exchange, exchange->server->service.on_resume));
}

/* What is thrown away gets no time of its own. */
static void body_deadline_set(struct exchange *exchange, uint64_t bytes)
{
    uint64_t limit = exchange->server->limits.max_body_bytes;
    if (bytes > limit)
        bytes = limit;
    deadline_set(exchange, body_deadline_us(exchange->server, exchange->body_since_us, bytes));
}

/* Whether a body that is too large is read to its end before that is said. Who asks first whether
 * to send it is told at once. */
static bool is_worth_reading(const struct exchange *exchange)
{
    return exchange->http.fault == HTTP_FAULT_BODY_TOO_LARGE &&
           exchange->content_length <= exchange->server->limits.max_body_bytes + DISCARDED_BYTES &&
           http_request_header(&exchange->http, "Expect").data == NULL;
}

static enum MHD_Result headers_have_come(struct exchange *exchange, const char *method,
                                         const char *version)
{
    atomic_store_explicit(&exchange->connection->line_us, 0, memory_order_relaxed);
    exchange->http.method = slice_of(method);
    request_read_headers(exchange, method, version);
    if (exchange->http.fault != HTTP_FAULT_NONE && !is_worth_reading(exchange))
        return service_start(exchange);
    exchange->stage = STAGE_BODY;
    if (exchange->chunked || exchange->content_length > 0) {
        exchange->body_since_us = clock_now_us(CLOCK_MONOTONIC);
        body_deadline_set(exchange, exchange->content_length);
    }
    return MHD_YES;
}

static enum MHD_Result body_take(struct exchange *exchange, const char *data, size_t *size)
{
    uint64_t limit = exchange->server->limits.max_body_bytes;
    exchange->received_bytes += *size;
    if (exchange->received_bytes > limit) {
        /* the library takes no answer before the end of a chunked body, either */
        exchange->http.fault = HTTP_FAULT_BODY_TOO_LARGE;
        buf_free(&exchange->body);
        if (exchange->received_bytes > limit + DISCARDED_BYTES)
            return MHD_NO;
    } else if (exchange->http.fault == HTTP_FAULT_NONE) {
        buf_append(&exchange->body, data, *size);
    }
    if (exchange->chunked)
        body_deadline_set(exchange, exchange->received_bytes);
    *size = 0;
    return MHD_YES;
}

enum MHD_Result exchange_continue(struct exchange *exchange, const char *method,
                                  const char *version, const char *data, size_t *size)
{
    switch (exchange->stage) {
    case STAGE_HEADERS:
        return headers_have_come(exchange, method, version);
    case STAGE_BODY:
        return *size > 0 ? body_take(exchange, data, size) : service_start(exchange);
    case STAGE_SERVICE:
        return service_go_on(exchange);
    case STAGE_ANSWERED:
        break;
    }
    return MHD_YES;
}

void exchange_end(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    struct connection *connection = exchange->connection;
    if (exchange->stage == STAGE_SERVICE) /* its connection broke before the answer */
        count_add(&connection->shelf->in_service, 0U - 1);
    if (exchange->served)
        server->service.on_finished(&exchange->http, server->service.cls);
    answer_forget(exchange);
    shelf_put(connection->shelf, exchange);
    atomic_store_explicit(&connection->line_us, 0, memory_order_relaxed);
    atomic_store_explicit(&connection->receiving_us, 0, memory_order_relaxed);
    atomic_store_explicit(&connection->sending_us, 0, memory_order_relaxed);
    atomic_store_explicit(&connection->deadline_us, 0, memory_order_relaxed);
    atomic_store_explicit(&connection->idle_since_us, clock_now_us(CLOCK_MONOTONIC),
                          memory_order_relaxed);
    count_add(&connection->shelf->begun, 0U - 1);
}

void http_resume(struct http_exchange *exchange)
{
    struct exchange *own = (struct exchange *)exchange;
    struct http_server *server = own->server;
    struct MHD_Connection *mhd = own->mhd;
    /* keeps the server alive when the exchange ends before we are out of here */
    atomic_fetch_add(&server->resumings, 1);
    int before = atomic_exchange(&own->wait, WAIT_RESUMED);
    check(before != WAIT_RESUMED);
    if (before == WAIT_SUSPENDED)
        MHD_resume_connection(mhd);
    atomic_fetch_sub(&server->resumings, 1);
}

bool http_is_cut(const struct http_exchange *exchange)
{
    return atomic_load(&((const struct exchange *)exchange)->server->cutting);
}

bool http_client_gone(const struct http_exchange *exchange)
{
    const struct exchange *own = (const struct exchange *)exchange;
    if (atomic_load(&own->server->cutting))
        return true; /* a stop waits for nobody for ever */
    struct pollfd socket = {.fd = own->connection->fd, .events = POLLRDHUP};
    return poll(&socket, 1, 0) > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}
