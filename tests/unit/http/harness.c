/* See harness.h. The service's functions run on the server's workers, the hopper on a thread of its
 * own, everything else on the test's (only
 * there may cmocka assert). */
#include "harness.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "await.h"
#include "base/arena.h"
#include "http/http_internal.h"

const struct http_limits harness_limits = {
    .max_body_bytes = 1024 * 1024,
    .large_answers_bytes = 1 << 30,
    .connection_memory_bytes = 64 * 1024,
    .connections_max = 600,
    .connections_per_address = 600,
    .idle_timeout_s = 30,
    .header_deadline_ms = 30000,
    .body_deadline_ms = 30000,
    .worker_threads = 2,
};

static void answer_text(struct http_exchange *exchange)
{
    struct slice header = SLICE_LIT("/header/");
    exchange->status = 200;
    http_add_header(exchange, "Content-Type", SLICE_LIT("text/plain"));
    if (exchange->fault != HTTP_FAULT_NONE) {
        exchange->status = exchange->fault == HTTP_FAULT_BODY_TOO_LARGE ? 413
                           : exchange->fault == HTTP_FAULT_NO_MEMORY    ? 503
                                                                        : 400;
        buf_append_lit(&exchange->out, "fault");
    } else if (slice_starts_with(exchange->target, header)) {
        struct slice value =
            http_request_header(exchange, slice_skip(exchange->target, header.len).data);
        if (value.data == NULL)
            buf_append_lit(&exchange->out, "none");
        else
            buf_printf(&exchange->out, "[%.*s]", SLICE_ARG(value));
    } else if (slice_equal(exchange->target, SLICE_LIT("/empty"))) {
        exchange->status = 204;
    } else if (slice_equal(exchange->target, SLICE_LIT("/created"))) {
        exchange->status = 201;
        exchange->response_header_count = 0;
        http_add_header(exchange, "Location", SLICE_LIT("/x"));
        http_add_header(exchange, "Vary", SLICE_LIT(""));
    } else if (slice_equal(exchange->target, SLICE_LIT("/worker"))) {
        buf_printf(&exchange->out, "%lu", (unsigned long)pthread_self());
    } else if (slice_equal(exchange->target, SLICE_LIT("/larger")) ||
               slice_equal(exchange->target, SLICE_LIT("/owed"))) {
        size_t len = 8 * HTTP_LARGE_BYTES; /* more than a socket takes at once */
        memset(buf_reserve(&exchange->out, len), 'x', len);
        exchange->out.len = len;
        if (slice_equal(exchange->target, SLICE_LIT("/owed"))) {
            http_body_take(exchange);
        } else if (!http_body_fits(exchange)) {
            exchange->status = 503;
            exchange->out.len = 0;
        }
    } else if (slice_equal(exchange->target, SLICE_LIT("/large")) ||
               slice_equal(exchange->target, SLICE_LIT("/largest"))) {
        size_t len = (exchange->target.len == 6 ? 1 : 65) * 1024UL * 1024;
        memset(buf_reserve(&exchange->out, len), 'x', len);
        exchange->out.len = len;
    } else if (slice_starts_with(exchange->target, SLICE_LIT("/count"))) {
        buf_printf(&exchange->out, "%zu of %llu bytes, %c", exchange->body.len,
                   (unsigned long long)exchange->body_bytes,
                   exchange->body.len > 0 ? exchange->body.data[exchange->body.len - 1] : '-');
    } else {
        buf_append_slice(&exchange->out, exchange->method);
        buf_append_char(&exchange->out, ' ');
        buf_append_slice(&exchange->out, exchange->target);
        buf_append_char(&exchange->out, ' ');
        buf_append_slice(&exchange->out, exchange->body);
    }
}

static void hop(struct harness *harness, struct http_exchange *exchange)
{
    pthread_mutex_lock(&harness->lock);
    check(harness->hop_count < HELD_MAX * 8);
    harness->hops[harness->hop_count++] = exchange;
    pthread_cond_signal(&harness->hop_wake);
    pthread_mutex_unlock(&harness->lock);
}

static enum http_step hold(struct harness *harness, struct http_exchange *exchange)
{
    exchange->status = 1; /* on_finished wants one, also if the client goes meanwhile */
    pthread_mutex_lock(&harness->lock);
    check(harness->held_count < HELD_MAX);
    harness->held[harness->held_count++] = exchange;
    pthread_mutex_unlock(&harness->lock);
    return HTTP_PENDING;
}

static void idle(struct event_watcher *watcher)
{
    struct harness *harness = (struct harness *)((char *)watcher - offsetof(struct harness, idle));
    pthread_mutex_lock(&harness->lock);
    struct http_exchange *exchange = harness->held[--harness->held_count];
    pthread_mutex_unlock(&harness->lock);
    http_resume(exchange);
}

/* What is asked about a body, and still to be answered that it is wanted. */
struct asking {
    int pending;
};

static enum http_step on_large_body(struct http_exchange *exchange, void *cls)
{
    struct harness *harness = cls;
    struct slice target = exchange->target;
    atomic_fetch_add(&harness->asked, 1);
    check(exchange->body.len == 0);
    exchange->share.owner = 1;
    exchange->status = 1; /* on_finished wants one */
    if (target.len > 5 && memcmp(target.data + target.len - 5, "?skip", 5) == 0)
        return HTTP_SKIP_BODY;
    if (target.len > 5 && memcmp(target.data + target.len - 5, "?held", 5) == 0) {
        exchange->state = arena_zalloc(exchange->arena, sizeof(struct asking));
        return hold(harness, exchange);
    }
    if (target.len > 6 && memcmp(target.data + target.len - 6, "?twice", 6) == 0) {
        struct asking *asking = arena_zalloc(exchange->arena, sizeof(*asking));
        asking->pending = 2;
        exchange->state = asking;
        hop(harness, exchange);
        return HTTP_PENDING;
    }
    return HTTP_READ_BODY;
}

static enum http_step on_resume_asking(struct harness *harness, struct http_exchange *exchange)
{
    struct asking *asking = exchange->state;
    if (asking->pending-- > 0) {
        hop(harness, exchange);
        return HTTP_PENDING;
    }
    exchange->state = NULL;
    return HTTP_READ_BODY;
}

static enum http_step on_request(struct http_exchange *exchange, void *cls)
{
    struct harness *harness = cls;
    atomic_fetch_add(&harness->requests, 1);
    if (slice_equal(exchange->target, SLICE_LIT("/hold")))
        return hold(harness, exchange);
    if (slice_equal(exchange->target, SLICE_LIT("/idle"))) {
        harness->idle.idle = idle;
        event_loop_when_idle(&harness->idle, 0);
        return hold(harness, exchange);
    }
    if (slice_equal(exchange->target, SLICE_LIT("/early"))) {
        exchange->state = arena_zalloc(exchange->arena, sizeof(int));
        http_resume(exchange);
        return HTTP_PENDING;
    }
    if (slice_equal(exchange->target, SLICE_LIT("/hop"))) {
        hop(harness, exchange);
        return HTTP_PENDING;
    }
    if (slice_starts_with(exchange->target, SLICE_LIT("/pieces/"))) {
        struct harness_stream *stream = arena_zalloc(exchange->arena, sizeof(*stream));
        stream->breaks = slice_starts_with(exchange->target, SLICE_LIT("/pieces/breaks/"));
        stream->is_later = slice_starts_with(exchange->target, SLICE_LIT("/pieces/later/"));
        stream->is_empty = slice_starts_with(exchange->target, SLICE_LIT("/pieces/empty/"));
        size_t prefix = stream->breaks ? 15 : stream->is_later || stream->is_empty ? 14 : 8;
        stream->left = (unsigned)atoi(exchange->target.data + prefix);
        exchange->state = stream;
        exchange->status = 200;
        exchange->goes_on = stream->left > 0;
        buf_append_lit(&exchange->out, "first");
        return HTTP_ANSWERED;
    }
    if (slice_equal(exchange->target, SLICE_LIT("/busy"))) {
        atomic_fetch_add(&harness->busy, 1);
        while (sem_wait(&harness->release) != 0)
            continue;
        atomic_fetch_sub(&harness->busy, 1);
    }
    answer_text(exchange);
    return HTTP_ANSWERED;
}

static enum http_step on_resume(struct http_exchange *exchange, void *cls)
{
    struct harness *harness = cls;
    atomic_fetch_add(&harness->resumed, 1);
    if (exchange->status == 1 && exchange->state != NULL)
        return on_resume_asking(harness, exchange);
    int *times = exchange->state;
    if (times != NULL && ++*times < 3) {
        http_resume(exchange);
        return HTTP_PENDING;
    }
    answer_text(exchange);
    return HTTP_ANSWERED;
}

static enum http_piece on_more(struct http_exchange *exchange, void *cls)
{
    struct harness_stream *stream = exchange->state;
    exchange->goes_on = --stream->left > 0;
    if (stream->is_empty && stream->left == 0)
        return HTTP_PIECE_WRITTEN;
    memset(buf_reserve(&exchange->out, HARNESS_PIECE_BYTES), 'x', HARNESS_PIECE_BYTES);
    exchange->out.len = HARNESS_PIECE_BYTES;
    if (stream->is_later) {
        hop(cls, exchange);
        return HTTP_PIECE_PENDING;
    }
    return stream->left > 0 || !stream->breaks ? HTTP_PIECE_WRITTEN : HTTP_PIECE_BREAKS;
}

static void on_finished(struct http_exchange *exchange, void *cls)
{
    struct harness *harness = cls;
    /* What was resumed after the grace period of a stop has no answer. */
    check(exchange->status != 0 || atomic_load(&harness->is_stopping));
    atomic_fetch_add(&harness->finished, 1);
}

static void *hopper_run(void *cls)
{
    struct harness *harness = cls;
    pthread_mutex_lock(&harness->lock);
    while (!harness->hop_stop || harness->hop_count > 0) {
        if (harness->hop_count == 0) {
            pthread_cond_wait(&harness->hop_wake, &harness->lock);
            continue;
        }
        struct http_exchange *exchange = harness->hops[--harness->hop_count];
        pthread_mutex_unlock(&harness->lock);
        http_resume(exchange);
        pthread_mutex_lock(&harness->lock);
    }
    pthread_mutex_unlock(&harness->lock);
    return NULL;
}

void harness_start(struct harness *harness, const struct http_limits *limits)
{
    harness_start_at(harness, &(struct http_address){.host = "127.0.0.1"}, limits);
}

void harness_start_at(struct harness *harness, const struct http_address *address,
                      const struct http_limits *limits)
{
    check(harness->server == NULL); /* or a test before has failed: its threads still run */
    *harness = (struct harness){0};
    sem_init(&harness->release, 0, 0);
    pthread_mutex_init(&harness->lock, NULL);
    pthread_cond_init(&harness->hop_wake, NULL);
    assert_int_equal(pthread_create(&harness->hopper, NULL, hopper_run, harness), 0);
    struct http_service service = {.on_request = on_request,
                                   .on_resume = on_resume,
                                   .on_more = on_more,
                                   .on_finished = on_finished,
                                   .cls = harness,
                                   .on_large_body = on_large_body};
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    harness->server = http_server_start(address, limits, &service, &err);
    assert_non_null(harness->server);
    arena_destroy(arena);
    harness->port = http_server_port(harness->server);
}

void harness_stop(struct harness *harness)
{
    for (unsigned i = 0; i < HELD_MAX; i++) /* workers that a test that failed has left busy */
        harness_release(harness);
    while (harness->held_count > 0) /* by a test that failed */
        harness_resume(harness);
    atomic_store(&harness->is_stopping, true);
    http_server_stop(harness->server, 1000);
    pthread_mutex_lock(&harness->lock);
    harness->hop_stop = true;
    pthread_cond_broadcast(&harness->hop_wake); /* also to that of a test that failed */
    pthread_mutex_unlock(&harness->lock);
    pthread_join(harness->hopper, NULL);
    pthread_cond_destroy(&harness->hop_wake);
    pthread_mutex_destroy(&harness->lock);
    harness->server = NULL;
    assert_in_range(atomic_load(&harness->finished), atomic_load(&harness->requests),
                    atomic_load(&harness->requests) + atomic_load(&harness->asked));
}

static unsigned count_held(struct harness *harness)
{
    pthread_mutex_lock(&harness->lock);
    unsigned held = harness->held_count;
    pthread_mutex_unlock(&harness->lock);
    return held;
}

void harness_wait_held(struct harness *harness, unsigned count)
{
    AWAIT(count_held(harness) >= count);
}

static bool has_read_all(struct http_server *server)
{
    bool has = true;
    pthread_mutex_lock(&server->lock);
    for (const struct connection *at = server->connections; at != NULL; at = at->next) {
        int unread = 0;
        has = has && ioctl(at->fd, FIONREAD, &unread) == 0 && unread == 0;
    }
    pthread_mutex_unlock(&server->lock);
    return has;
}

void harness_wait_read(struct harness *harness)
{
    AWAIT(has_read_all(harness->server));
}

void harness_wait_connections(struct harness *harness, unsigned count)
{
    AWAIT(atomic_load(&harness->server->connection_count) == count);
}

void harness_wait_requests(struct harness *harness, unsigned count)
{
    AWAIT(http_server_load(harness->server).requests == count);
}

void harness_wait_busy(struct harness *harness)
{
    AWAIT(atomic_load(&harness->busy) > 0);
}

void harness_release(struct harness *harness)
{
    sem_post(&harness->release);
}

void harness_resume(struct harness *harness)
{
    pthread_mutex_lock(&harness->lock);
    assert_true(harness->held_count > 0);
    struct http_exchange *exchange = harness->held[0];
    harness->held_count--;
    memmove(&harness->held[0], &harness->held[1], harness->held_count * sizeof(exchange));
    pthread_mutex_unlock(&harness->lock);
    http_resume(exchange);
}

int client_connect(const struct harness *harness)
{
    return client_connect_from(harness, 1);
}

int client_connect_from(const struct harness *harness, unsigned host)
{
    struct sockaddr_in from = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffU) + host)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(harness->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
    struct timeval patience = {.tv_sec = AWAIT_SECONDS};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

void client_send_bytes(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* closed by the server: what it said is still to be read */
        data += sent;
        len -= (size_t)sent;
    }
}

void client_send(int fd, const char *text)
{
    client_send_bytes(fd, text, strlen(text));
}

static bool read_bytes(int fd, char *data, size_t len)
{
    return len == 0 || recv(fd, data, len, MSG_WAITALL) == (ssize_t)len;
}

struct reply client_read(int fd)
{
    struct reply reply = {0};
    struct buf head = {0};
    char c;
    while (head.len < 4 || memcmp(head.data + head.len - 4, "\r\n\r\n", 4) != 0) {
        if (!read_bytes(fd, &c, 1)) {
            buf_free(&head);
            return reply;
        }
        buf_append_char(&head, c);
    }
    buf_append_char(&head, '\0');
    reply.headers = head.data;
    assert_int_equal(sscanf(head.data, "HTTP/1.1 %d ", &reply.status), 1);
    const char *length = strcasestr(head.data, "\r\nContent-Length: ");
    size_t len = length == NULL ? 0 : (size_t)strtoul(length + 18, NULL, 10);
    if (!read_bytes(fd, buf_reserve(&reply.body, len + 1), len))
        reply.status = 0;
    reply.body.len = len;
    return reply;
}

struct reply client_ask(const struct harness *harness, const char *request)
{
    int fd = client_connect(harness);
    client_send(fd, request);
    struct reply reply = client_read(fd);
    close(fd);
    return reply;
}

bool reply_has(const struct reply *reply, const char *header_line)
{
    return reply->headers != NULL && strcasestr(reply->headers, header_line) != NULL;
}

void reply_free(struct reply *reply)
{
    free(reply->headers);
    buf_free(&reply->body);
    *reply = (struct reply){0};
}

bool client_closed_within(int fd, int timeout_ms)
{
    uint64_t end = now_ms() + (uint64_t)timeout_ms;
    for (;;) { /* at least once, however late this thread gets to run */
        struct pollfd socket = {.fd = fd, .events = POLLIN};
        char bytes[4096];
        uint64_t now = now_ms();
        if (poll(&socket, 1, now < end ? (int)(end - now) + 1 : 0) <= 0)
            return false;
        if (recv(fd, bytes, sizeof(bytes), 0) <= 0)
            return true;
    }
}

bool client_is_closed(int fd)
{
    return client_closed_within(fd, AWAIT_SECONDS * 1000);
}

uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
