/* Sends answers: the service's status, headers and body become a response of the library. The body
 * is not copied unless it is large, and belongs to the exchange until the exchange ends. Runs on
 * the exchange's worker. */
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/hash.h"
#include "http/http_internal.h"

enum { STATUS_NO_CONTENT = 204, STATUS_NOT_MODIFIED = 304 };

enum { AT_ONCE_BYTES = 4096 * 1024, PART_BYTES = 1024 * 1024 }; /* before others get their turn */

void http_add_header(struct http_exchange *exchange, const char *name, struct slice value)
{
    check(exchange->response_header_count < HTTP_HEADERS_MAX);
    exchange->response_headers[exchange->response_header_count++] =
        (struct http_header){name, value};
}

/* Charges that many bytes in all, including those of earlier calls. */
static bool answer_memory_take(struct exchange *exchange, uint64_t bytes, bool whatever)
{
    struct http_server *server = exchange->server;
    if (bytes <= exchange->large_bytes)
        return true;
    if (exchange->large_bytes == 0)
        exchange->large_owner =
            exchange->http.owner != 0 ? exchange->http.owner : hash_text(exchange->http.peer);
    bytes -= exchange->large_bytes;
    if (!process_take_answer(server->process, exchange->large_owner, bytes, whatever))
        return false;
    atomic_fetch_add(&server->large_bytes, bytes);
    exchange->large_bytes += bytes;
    return true;
}

static bool answer_take(struct exchange *exchange, bool whatever)
{
    uint64_t bytes = exchange->http.out.len;
    return bytes <= HTTP_LARGE_BYTES || answer_memory_take(exchange, bytes, whatever);
}

bool http_memory_fits(struct http_exchange *exchange, uint64_t bytes)
{
    return answer_memory_take((struct exchange *)exchange, bytes, false);
}

bool http_body_fits(struct http_exchange *exchange)
{
    return answer_take((struct exchange *)exchange, false);
}

void http_body_take(struct http_exchange *exchange)
{
    check(answer_take((struct exchange *)exchange, true));
}

void answer_forget(struct exchange *exchange)
{
    if (exchange->large_bytes == 0)
        return;
    atomic_fetch_sub(&exchange->server->large_bytes, exchange->large_bytes);
    process_give_answer(exchange->server->process, exchange->large_owner, exchange->large_bytes);
    exchange->large_bytes = 0;
}

static void header_put(struct arena *arena, struct MHD_Response *response,
                       const struct http_header *header)
{
    /* the library rejects empty values */
    if (header->value.len == 0)
        return;
    check(memchr(header->value.data, '\0', header->value.len) == NULL);
    check(MHD_add_response_header(response, header->name, arena_copy(arena, header->value).data) ==
          MHD_YES);
}

/* The library sends a buffer in a single call, which copies as much as the socket accepts: for a
 * client that reads fast, almost all of tens of megabytes, in about ten milliseconds. */
static ssize_t part_read(void *cls, uint64_t position, char *to, size_t most)
{
    const struct exchange *exchange = cls;
    const struct buf *out = &exchange->http.out;
    size_t len = out->len - (size_t)position;
    if (len > most)
        len = most;
    memcpy(to, out->data + position, len);
    return (ssize_t)len;
}

static struct MHD_Response *whole_response(struct exchange *exchange, size_t len)
{
    if (len > AT_ONCE_BYTES)
        return MHD_create_response_from_callback(len, PART_BYTES, part_read, exchange, NULL);
    return MHD_create_response_from_buffer(len, len == 0 ? "" : (void *)exchange->http.out.data,
                                           MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result answer_send(struct exchange *exchange)
{
    struct http_exchange *http = &exchange->http;
    check(http->status >= 200 && http->status <= 599);
    bool bare = http->status == STATUS_NO_CONTENT || http->status == STATUS_NOT_MODIFIED;
    bool goes_on = http->goes_on && !bare;
    size_t len = bare ? 0 : http->out.len;
    struct MHD_Response *response =
        goes_on ? stream_response(exchange) : whole_response(exchange, len);
    check(response != NULL);
    for (unsigned i = 0; i < http->response_header_count; i++) {
        const struct http_header *header = &http->response_headers[i];
        if (!bare || strcasecmp(header->name, "content-type") != 0)
            header_put(http->arena, response, header);
    }
    const char *product = exchange->server->limits.product;
    if (product != NULL)
        check(MHD_add_response_header(response, "Server", product) == MHD_YES);
    /* the body of a request refused for lack of memory has been read to its end */
    bool is_at_fault = http->fault != HTTP_FAULT_NONE && http->fault != HTTP_FAULT_NO_MEMORY;
    if (is_at_fault || exchange->answers_early || exchange->chunked ||
        atomic_load(&exchange->server->stopping))
        check(MHD_add_response_header(response, "Connection", "close") == MHD_YES);

    uint64_t now_us = clock_coarse_us();
    atomic_store_explicit(&exchange->connection->deadline_us,
                          answer_deadline_us(exchange->server, now_us, len), memory_order_relaxed);
    atomic_store_explicit(&exchange->connection->sending_us, now_us, memory_order_relaxed);
    exchange->stage = STAGE_ANSWERED;
    enum MHD_Result queued = MHD_queue_response(exchange->mhd, (unsigned)http->status, response);
    MHD_destroy_response(response);
    return queued;
}
