/* The way out: the service's status, headers and body become a response of the library. The body
 * is not copied; it stays the exchange's until its end. On the exchange's worker. */
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "http/http_internal.h"

enum { STATUS_NO_CONTENT = 204, STATUS_NOT_MODIFIED = 304 };

void http_add_header(struct http_exchange *exchange, const char *name, struct slice value)
{
    check(exchange->response_header_count < HTTP_HEADERS_MAX);
    exchange->response_headers[exchange->response_header_count++] =
        (struct http_header){name, value};
}

bool http_body_fits(struct http_exchange *exchange)
{
    struct exchange *own = (struct exchange *)exchange;
    struct http_server *server = own->server;
    uint64_t bytes = exchange->out.cap;
    if (exchange->out.len <= HTTP_LARGE_BYTES)
        return true;
    check(own->large_bytes == 0);
    if (atomic_fetch_add(&server->large_bytes, bytes) + bytes >
        server->limits.large_answers_bytes) {
        atomic_fetch_sub(&server->large_bytes, bytes);
        return false;
    }
    own->large_bytes = bytes;
    return true;
}

static void header_put(struct arena *arena, struct MHD_Response *response,
                       const struct http_header *header)
{
    /* the library takes no empty value */
    if (header->value.len == 0)
        return;
    check(memchr(header->value.data, '\0', header->value.len) == NULL);
    check(MHD_add_response_header(response, header->name, arena_copy(arena, header->value).data) ==
          MHD_YES);
}

enum MHD_Result answer_send(struct exchange *exchange)
{
    struct http_exchange *http = &exchange->http;
    check(http->status >= 200 && http->status <= 599);
    bool bare = http->status == STATUS_NO_CONTENT || http->status == STATUS_NOT_MODIFIED;
    size_t len = bare ? 0 : http->out.len;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        len, len == 0 ? "" : (void *)http->out.data, MHD_RESPMEM_PERSISTENT);
    check(response != NULL);
    for (unsigned i = 0; i < http->response_header_count; i++) {
        const struct http_header *header = &http->response_headers[i];
        if (!bare || strcasecmp(header->name, "content-type") != 0)
            header_put(http->arena, response, header);
    }
    if (exchange->answers_early || http->fault == HTTP_FAULT_BODY_TOO_LARGE ||
        http->fault == HTTP_FAULT_FRAMING || atomic_load(&exchange->server->stopping))
        check(MHD_add_response_header(response, "Connection", "close") == MHD_YES);

    uint64_t now_us = clock_now_us(CLOCK_MONOTONIC_COARSE);
    atomic_store_explicit(&exchange->connection->deadline_us,
                          body_deadline_us(exchange->server, now_us, len), memory_order_relaxed);
    exchange->stage = STAGE_ANSWERED;
    enum MHD_Result queued = MHD_queue_response(exchange->mhd, (unsigned)http->status, response);
    MHD_destroy_response(response);
    return queued;
}
