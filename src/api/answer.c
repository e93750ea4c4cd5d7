/* Headers of answers (placement spec, Microversions, Cache headers, HTTP framing). Any thread. */
#include "api/answer.h"

#include "base/clock.h"

struct slice answer_content_type(const struct api_request *request)
{
    struct slice type = http_request_header(request->http, "Content-Type");
    const char *semicolon = type.len == 0 ? NULL : memchr(type.data, ';', type.len);
    if (semicolon != NULL)
        type.len = (size_t)(semicolon - type.data);
    return type.len == 0 ? SLICE_LIT("None") : type;
}

struct slice answer_accept(const struct api_request *request)
{
    struct slice accept = http_request_header(request->http, "Accept");
    if (accept.len == 0 || slice_equal(accept, SLICE_LIT("*/*")))
        return SLICE_LIT("application/json");
    return accept;
}

void api_answer_json(struct api_request *request, int64_t modified_at_us)
{
    request->has_body = true;
    request->is_cacheable = request->minor >= 15;
    request->modified_at_us = modified_at_us;
}

void api_answer_empty(struct api_request *request, int status)
{
    request->status = status;
    api_out(request)->len = 0;
}

/* The second's text is kept per thread, because most answers of a second share it. */
static struct slice http_date(struct arena *arena, int64_t at_us)
{
    static _Thread_local struct {
        bool is_set;
        int64_t second;
        char text[CLOCK_RFC1123_BYTES];
    } last;
    if (at_us == 0)
        at_us = clock_wall_us();
    int64_t second = at_us / 1000000 - (at_us % 1000000 < 0);
    if (!last.is_set || second != last.second) {
        clock_format_rfc1123(at_us, last.text);
        last.second = second;
        last.is_set = true;
    }
    return arena_copy(arena, slice_of(last.text));
}

static struct slice version_text(const struct api_request *request)
{
    static const char BEFORE[] = "placement 1.";
    char *text = arena_alloc(request->arena, sizeof(BEFORE) + DECIMAL_MAX);
    memcpy(text, BEFORE, sizeof(BEFORE) - 1);
    size_t len = sizeof(BEFORE) - 1;
    len += decimal_write(text + len, request->minor);
    return (struct slice){text, len};
}

void answer_headers(struct api_request *request)
{
    struct http_exchange *http = request->http;
    bool is_error = err_is_set(&request->err);
    if (!is_error && request->has_body)
        http_add_header(http, "Content-Type", SLICE_LIT("application/json"));
    if (!is_error && request->is_cacheable) {
        http_add_header(http, "Cache-Control", SLICE_LIT("no-cache"));
        http_add_header(http, "Last-Modified", http_date(request->arena, request->modified_at_us));
    }
    if (!is_error && request->location.data != NULL)
        http_add_header(http, "Location", origin_absolute(request, request->location));
    if (request->allow.data != NULL)
        http_add_header(http, "Allow", request->allow);
    if (request->version_shown)
        http_add_header(http, "openstack-api-version", version_text(request));
    if (request->err.status == 401 && request->api->keystone != NULL)
        http_add_header(http, "WWW-Authenticate",
                        keystone_www_authenticate(request->api->keystone));
    bool vary = request->version_shown && request->vary_shown;
    bool cross_origin = cors_is_allowed(request);
    if (vary && cross_origin)
        http_add_header(http, "vary", SLICE_LIT("openstack-api-version,Origin"));
    else if (vary)
        http_add_header(http, "vary", SLICE_LIT("openstack-api-version"));
    else if (cross_origin)
        http_add_header(http, "vary", SLICE_LIT("Origin"));
    if (cross_origin)
        cors_add_headers(request);
    http_add_header(http, "x-openstack-request-id",
                    (struct slice){request->request_id, REQUEST_ID_LEN});
    http->status = request->status;
}
