/* Answers in pieces: the library requests more bytes when its own buffer is empty, and when a piece
 * has been sent the service writes the next one, so that an answer of any length needs little
 * memory. The worker sends one library buffer and then serves other connections; while the service
 * writes a piece on another thread, the exchange is suspended. An error after the header has been
 * sent can only be reported by closing the connection.
 *
 * The client must have read the answer so far at the minimum rate for large answers. Runs on the
 * exchange's worker. */
#include <string.h>

#include "http/http_internal.h"

enum { UNCHUNKED_BYTES = 16 * 1024 }; /* HTTP/1.0: the library's read size */

static void deadline_extend(struct exchange *exchange)
{
    const struct http_server *server = exchange->server;
    struct connection *connection = exchange->connection;
    uint64_t now_us = clock_coarse_us();
    uint64_t deadline_us = stream_deadline_us(server, exchange->stream_since_us,
                                              exchange->stream_bytes + exchange->http.out.len);
    atomic_store_explicit(&connection->deadline_us, deadline_us, memory_order_relaxed);
    atomic_store_explicit(&connection->sending_us, now_us, memory_order_relaxed);
}

static enum http_piece piece_fetch(struct exchange *exchange)
{
    const struct http_service *service = &exchange->server->service;
    struct buf *out = &exchange->http.out;
    exchange->stream_bytes += out->len;
    out->len = 0;
    exchange->stream_at = 0;
    if (!exchange_enter_service(exchange))
        return HTTP_PIECE_BREAKS;
    exchange->is_piece_pending = true;
    _Atomic uint64_t *called_us = &exchange->connection->pool->called_us;
    atomic_store_explicit(called_us, clock_coarse_us(), memory_order_relaxed);
    enum http_piece piece = service->on_more(&exchange->http, service->cls);
    atomic_store_explicit(called_us, 0, memory_order_relaxed);
    if (piece == HTTP_PIECE_PENDING && exchange_suspend(exchange))
        return HTTP_PIECE_PENDING;
    exchange->is_piece_pending = false;
    exchange_leave_service(exchange);
    return piece == HTTP_PIECE_BREAKS ? HTTP_PIECE_BREAKS : HTTP_PIECE_WRITTEN;
}

/* Called when the previous piece has been sent, or when this one was pending. */
static enum http_piece piece_come(struct exchange *exchange)
{
    if (!exchange->is_piece_pending)
        return piece_fetch(exchange);
    if (atomic_load(&exchange->wait) != WAIT_RESUMED)
        return HTTP_PIECE_PENDING;
    atomic_store(&exchange->wait, WAIT_RUNNING);
    exchange->is_piece_pending = false;
    exchange_leave_service(exchange);
    return HTTP_PIECE_WRITTEN;
}

static ssize_t piece_read(void *cls, uint64_t position, char *to, size_t most)
{
    (void)position;
    struct exchange *exchange = cls;
    struct buf *out = &exchange->http.out;
    if (exchange->is_piece_pending || exchange->stream_at == out->len) {
        if (!exchange->is_piece_pending && !exchange->http.goes_on)
            return MHD_CONTENT_READER_END_OF_STREAM;
        enum http_piece piece = piece_come(exchange);
        if (piece == HTTP_PIECE_PENDING)
            return 0; /* the exchange is suspended */
        if (piece == HTTP_PIECE_BREAKS || atomic_load(&exchange->server->cutting))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        check(out->len > 0 || !exchange->http.goes_on);
        if (out->len == 0)
            return MHD_CONTENT_READER_END_OF_STREAM;
    }
    size_t len = out->len - exchange->stream_at;
    if (len > most)
        len = most;
    memcpy(to, out->data + exchange->stream_at, len);
    exchange->stream_at += len;
    deadline_extend(exchange);
    return (ssize_t)len;
}

struct MHD_Response *stream_response(struct exchange *exchange)
{
    exchange->stream_since_us = clock_coarse_us();
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, UNCHUNKED_BYTES, piece_read,
                                             exchange, NULL);
}
