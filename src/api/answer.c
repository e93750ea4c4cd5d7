/* The answer to a request: its share of the memory for large answers, its headers, its end. Any
 * thread. */
#include "api/answer.h"

#include "api/api.h"
#include "api/cors.h"
#include "api/definition.h"
#include "api/passage.h"
#include "api/services/meter.h"
#include "api/text/json_heap.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/hash.h"
#include "keystone/keystone.h"

static struct slice absolute(struct api_request *request, struct slice location)
{
    return location.data[0] == '/' ? origin_absolute(request, location) : location;
}

void answer_headers(struct api_request *request)
{
    struct http_exchange *http = request->http;
    bool is_error = err_is_set(&request->err);
    if (!is_error && request->has_body)
        http_add_header(http, "Content-Type", SLICE_LIT("application/json"));
    if (!is_error && request->location.data != NULL)
        http_add_header(http, "Location", absolute(request, request->location));
    if (request->allow.data != NULL)
        http_add_header(http, "Allow", request->allow);
    if (request->retry_after.data != NULL)
        http_add_header(http, "Retry-After", request->retry_after);
    request->definition->add_headers(request);
    if (request->err.status == 401 && request->api->keystone != NULL)
        http_add_header(http, "WWW-Authenticate",
                        keystone_www_authenticate(request->api->keystone));
    bool cross_origin = cors_is_allowed(request);
    if (request->vary.data != NULL && cross_origin)
        http_add_header(http, "vary",
                        arena_printf(request->arena, "%.*s,Origin", SLICE_ARG(request->vary)));
    else if (request->vary.data != NULL)
        http_add_header(http, "vary", request->vary);
    else if (cross_origin)
        http_add_header(http, "vary", SLICE_LIT("Origin"));
    if (cross_origin)
        cors_add_headers(request);
    http_add_header(http, request->definition->request_id_header,
                    (struct slice){request->request_id, REQUEST_ID_LEN});
    http->status = request->status;
}

enum http_step answer_count(struct api_request *request)
{
    request->stream.bytes = api_out(request)->len;
    meter_count_answer(request, clock_monotonic_us());
    return HTTP_ANSWERED;
}

enum { PIECE_BUFFER_BYTES = 256 * 1024 }; /* the buffer size for API_LONG_PIECE_BYTES */

/* The memory held by an answer in pieces is mostly the list of its items. */
bool answer_fits(struct api_request *request)
{
    bool is_stream = request->stream.more != NULL;
    if ((is_stream || api_out(request)->len > HTTP_LARGE_BYTES) &&
        request->identity.project_id.len > 0)
        request->http->owner = hash_text(request->identity.project_id);
    if (is_stream)
        return http_memory_fits(request->http,
                                PIECE_BUFFER_BYTES + arena_footprint_bytes(request->arena));
    return http_body_fits(request->http);
}

void answer_refuse_large(struct api_request *request)
{
    buf_free(api_out(request));
    err_set(&request->err, 503, NULL,
            "Too many clients are reading large answers. Try again later, or request less.");
}

bool answer_refuse_memory(struct api_request *request)
{
    if (request->http->arena_share.over == MEMORY_TOO_MUCH)
        return err_set(&request->err, 413, NULL,
                       "The request needs more memory than this service gives to one.");
    return err_set(&request->err, 503, NULL,
                   "Too many large requests are being served. Try again later.");
}

/* Whether other requests' bodies, and data made from them, leave no memory for this one. */
static bool is_refused_for_now(const struct api_request *request)
{
    return request->err.status == 503 &&
           (request->http->arena_share.over == MEMORY_TAKEN ||
            request->http->fault == HTTP_FAULT_NO_MEMORY ||
            (request->passage->heap != NULL && json_heap_was_refused(request->passage->heap)));
}

enum { MESSAGE_END_BYTES = 8 * 1024 }; /* escaping makes it at most six times as long */

static bool is_within_character(struct slice text, size_t at)
{
    return at < text.len && ((unsigned char)text.data[at] & 0xc0) == 0x80;
}

/* An error message may quote everything that the client sent, or name everything that the request
 * concerns: of a long message only the beginning and the end are shown. A worker writes it, and it
 * is not charged as a large answer. */
static void shorten(struct api_request *request)
{
    struct slice *message = &request->err.message;
    if (message->len <= 2 * MESSAGE_END_BYTES)
        return;
    size_t first = MESSAGE_END_BYTES;
    size_t last = message->len - MESSAGE_END_BYTES;
    while (first > 0 && is_within_character(*message, first))
        first--;
    while (is_within_character(*message, last))
        last++;
    struct slice parts[] = {{message->data, first}, SLICE_LIT("..."), slice_skip(*message, last)};
    *message = arena_join(request->arena, parts, 3);
}

enum http_step answer_give(struct api_request *request)
{
    bool is_committed =
        request->passage->phase == PHASE_WRITING || request->passage->phase == PHASE_FINISHING;
    if (!err_is_set(&request->err) && is_committed)
        http_body_take(request->http); /* the write is committed, so no error may be sent instead */
    else if (!err_is_set(&request->err) && !answer_fits(request))
        answer_refuse_large(request);
    request->http->goes_on = request->passage->reader != NULL && !err_is_set(&request->err);
    if (err_is_set(&request->err)) {
        shorten(request);
        request->definition->write_fault(request);
    }
    bool is_for_now = is_refused_for_now(request) || request->status == 503;
    if (is_for_now && request->retry_after.data == NULL)
        request->retry_after = SLICE_LIT("1");
    answer_headers(request);
    return answer_count(request);
}
