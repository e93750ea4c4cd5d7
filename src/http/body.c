/* The body of a request.
 *
 * A small body is read as it arrives. Before a large one is read, the service decides whether it
 * wants it, because the service can authenticate the client, and the body's memory is charged to
 * the budget of all bodies: the whole length if it is known, otherwise what has arrived so far,
 * doubled as it grows. A body that is refused or not wanted is still read, and discarded: a client
 * that is still writing when the connection is closed may never read the answer. A client that
 * sends "Expect: 100-continue" is answered at once.
 *
 * libmicrohttpd accepts an answer before or after the body, but not in the middle of it. */
#include <string.h>

#include "http/http_internal.h"

static void deadline_set(struct exchange *exchange, uint64_t bytes)
{
    uint64_t limit = exchange->server->limits.max_body_bytes;
    if (bytes > limit) /* discarded bytes do not extend the deadline */
        bytes = limit;
    atomic_store_explicit(&exchange->connection->deadline_us,
                          body_deadline_us(exchange->server, exchange->body_since_us, bytes),
                          memory_order_relaxed);
}

void body_release(struct exchange *exchange)
{
    pages_free(&exchange->large_body);
    memory_give_back(&exchange->http.share);
    exchange->http.body = (struct slice){0};
}

void http_release_body(struct http_exchange *exchange)
{
    body_release((struct exchange *)exchange);
}

static void body_refuse(struct exchange *exchange, enum http_fault fault)
{
    exchange->body_state = BODY_SKIPPED;
    exchange->http.fault = fault;
    body_release(exchange);
}

/* Reserves memory for that many bytes in all. */
static void charge(struct exchange *exchange, uint64_t bytes)
{
    struct memory_share *share = &exchange->http.share;
    uint64_t more = bytes > share->bytes ? bytes - share->bytes : 0;
    enum memory_verdict verdict = more == 0 ? MEMORY_GRANTED : memory_take(share, more);
    if (verdict == MEMORY_TOO_MUCH)
        body_refuse(exchange, HTTP_FAULT_BODY_TOO_LARGE);
    else if (verdict == MEMORY_TAKEN || !pages_reserve(&exchange->large_body, bytes))
        body_refuse(exchange, HTTP_FAULT_NO_MEMORY);
}

static void body_put(struct exchange *exchange, const char *data, size_t size)
{
    struct pages *body = &exchange->large_body;
    if (body->len + size > exchange->http.share.bytes && exchange->chunked) {
        uint64_t limit = exchange->server->limits.max_body_bytes;
        uint64_t twice = 2 * (body->len + size);
        charge(exchange, twice < limit ? twice : limit);
    }
    if (exchange->body_state != BODY_WANTED)
        return;
    memcpy(body->data + body->len, data, size);
    body->len += size;
}

/* Called when the service wants the body. */
static void admit(struct exchange *exchange)
{
    exchange->body_state = BODY_WANTED;
    charge(exchange, exchange->chunked ? 4 * HTTP_SMALL_BODY_BYTES : exchange->content_length);
    if (exchange->body_state == BODY_WANTED && exchange->body.len > 0)
        body_put(exchange, exchange->body.data, exchange->body.len);
    buf_free(&exchange->body);
}

static void skip(struct exchange *exchange)
{
    exchange->body_state = BODY_SKIPPED;
    buf_free(&exchange->body);
}

/* While the service decides, the server is not waiting for the client, so its connection must not
 * be closed to make room for others. */
static void receiving_set(struct exchange *exchange, uint64_t since_us)
{
    atomic_store_explicit(&exchange->connection->receiving_us, since_us, memory_order_relaxed);
}

/* `asking` makes a stop wait for exchanges that are with the service. It is decremented here or by
 * http_resume(), because the library decides when to call the worker after that: at once, or when
 * more of the body has arrived. */
static enum body_verdict body_ask(struct exchange *exchange,
                                  enum http_step (*call)(struct http_exchange *, void *))
{
    struct http_server *server = exchange->server;
    enum http_step step;
    exchange->body_state = BODY_ASKING;
    receiving_set(exchange, 0);
    for (;; call = server->service.on_resume) {
        atomic_fetch_add(&server->asking, 1);
        if (atomic_load(&server->cutting)) {
            atomic_fetch_sub(&server->asking, 1);
            return BODY_BREAKS;
        }
        exchange->served = true;
        step = exchange_call(exchange, call);
        if (step != HTTP_PENDING)
            break;
        if (exchange_suspend(exchange))
            return BODY_WAITS;
    }
    atomic_fetch_sub(&server->asking, 1);
    check(step == HTTP_READ_BODY || step == HTTP_SKIP_BODY);
    receiving_set(exchange, exchange->http.started_us);
    if (step == HTTP_READ_BODY)
        admit(exchange);
    else
        skip(exchange);
    return BODY_GOES_ON;
}

static enum body_verdict ask_first(struct exchange *exchange)
{
    const struct http_service *service = &exchange->server->service;
    if (service->on_large_body != NULL)
        return body_ask(exchange, service->on_large_body);
    admit(exchange);
    return BODY_GOES_ON;
}

static enum body_verdict ask_again(struct exchange *exchange)
{
    check(atomic_load(&exchange->wait) == WAIT_RESUMED);
    atomic_store(&exchange->wait, WAIT_RUNNING);
    return body_ask(exchange, exchange->server->service.on_resume);
}

static bool asks_whether_to_send(const struct exchange *exchange)
{
    return http_request_header(&exchange->http, "Expect").data != NULL;
}

/* Whether a body is read to its end although an error has already been found. */
static bool is_worth_reading(const struct exchange *exchange)
{
    return exchange->http.fault == HTTP_FAULT_BODY_TOO_LARGE &&
           exchange->content_length <= exchange->server->limits.max_body_bytes + DISCARDED_BYTES &&
           !asks_whether_to_send(exchange);
}

static enum body_verdict answer_early(struct exchange *exchange)
{
    exchange->answers_early = true;
    return BODY_ANSWERS;
}

/* Called after the service has decided, when nothing of the body has arrived. */
static enum body_verdict answer_before_body(struct exchange *exchange, enum body_verdict verdict)
{
    bool can_answer = verdict == BODY_GOES_ON && exchange->body_state == BODY_SKIPPED;
    return can_answer && asks_whether_to_send(exchange) ? answer_early(exchange) : verdict;
}

enum body_verdict body_begin(struct exchange *exchange)
{
    exchange->http.body_bytes = exchange->content_length;
    if (exchange->http.fault != HTTP_FAULT_NONE && !is_worth_reading(exchange))
        return answer_early(exchange);
    if (!exchange->chunked && exchange->content_length == 0)
        return BODY_GOES_ON;
    exchange->body_since_us = clock_monotonic_us();
    deadline_set(exchange, exchange->content_length);
    if (exchange->http.fault != HTTP_FAULT_NONE)
        skip(exchange);
    if (exchange->http.fault != HTTP_FAULT_NONE ||
        exchange->content_length <= HTTP_SMALL_BODY_BYTES)
        return BODY_GOES_ON;
    return answer_before_body(exchange, ask_first(exchange));
}

/* Whether the client has stopped sending although part of the body is missing. Everything that the
 * library has read has been processed, so the rest would be in the socket (with TLS it may be in a
 * buffer elsewhere). The library misses the end of a stream that arrives together with the last
 * bytes, and the watcher checks only twice a second: a client could use this to keep thousands of
 * connections open. */
static bool is_cut_short(const struct exchange *exchange)
{
    return !exchange->chunked && !exchange->http.tls &&
           exchange->received_bytes < exchange->content_length &&
           connection_has_ended(exchange->connection);
}

enum body_verdict body_take(struct exchange *exchange, const char *data, size_t size)
{
    uint64_t limit = exchange->server->limits.max_body_bytes;
    uint64_t bytes = exchange->received_bytes + size;
    enum body_verdict verdict = BODY_GOES_ON;
    if (exchange->body_state == BODY_ASKING)
        verdict = ask_again(exchange);
    else if (exchange->body_state == BODY_SMALL && bytes > HTTP_SMALL_BODY_BYTES && bytes <= limit)
        verdict = ask_first(exchange);
    if (verdict != BODY_GOES_ON)
        return verdict;
    exchange->received_bytes = bytes;
    exchange->http.body_bytes = bytes;
    if (bytes > limit + DISCARDED_BYTES)
        return BODY_BREAKS;
    if (bytes > limit) {
        body_refuse(exchange, HTTP_FAULT_BODY_TOO_LARGE);
        buf_free(&exchange->body);
    } else if (exchange->body_state == BODY_WANTED) {
        body_put(exchange, data, size);
    } else if (exchange->body_state == BODY_SMALL) {
        buf_append(&exchange->body, data, size);
    }
    if (exchange->chunked)
        deadline_set(exchange, bytes);
    return is_cut_short(exchange) ? BODY_BREAKS : BODY_GOES_ON;
}

enum body_verdict body_finish(struct exchange *exchange)
{
    enum body_verdict verdict = BODY_GOES_ON;
    if (exchange->body_state == BODY_ASKING)
        verdict = ask_again(exchange);
    if (exchange->received_bytes < exchange->content_length) /* incomplete: this is the second call
                                                              * for the headers */
        return answer_before_body(exchange, verdict);
    if (verdict != BODY_GOES_ON)
        return verdict;
    if (exchange->body_state == BODY_SMALL)
        exchange->http.body = buf_slice(&exchange->body);
    else if (exchange->body_state == BODY_WANTED)
        exchange->http.body = (struct slice){exchange->large_body.data, exchange->large_body.len};
    return BODY_ANSWERS;
}
