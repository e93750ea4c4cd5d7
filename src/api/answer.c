/* Headers of answers (placement spec, Microversions, Cache headers, HTTP framing). Any thread. */
#include "api/answer.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"

struct slice answer_content_type(const struct api_request *request)
{
    struct slice type = http_request_header(request->http, "Content-Type");
    const char *semicolon = type.len == 0 ? NULL : memchr(type.data, ';', type.len);
    if (semicolon != NULL)
        type.len = (size_t)(semicolon - type.data);
    while (type.len > 0 && (type.data[type.len - 1] == ' ' || type.data[type.len - 1] == '\t'))
        type.len--;
    return type.len == 0 ? SLICE_LIT("None") : type;
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

/* RFC 9110 date; the second's text is kept per thread, because most answers of a second share it.
 */
static struct slice http_date(struct arena *arena, int64_t at_us)
{
    static _Thread_local time_t cached_second = -1;
    static _Thread_local char cached[32];
    static _Thread_local size_t cached_len;
    time_t second = (time_t)((at_us != 0 ? at_us : clock_wall_us()) / 1000000);
    if (second != cached_second) {
        static const char *const DAYS[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
        static const char *const MONTHS[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
        struct tm tm;
        gmtime_r(&second, &tm);
        cached_len =
            (size_t)snprintf(cached, sizeof(cached), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                             DAYS[tm.tm_wday], tm.tm_mday, MONTHS[tm.tm_mon],
                             (tm.tm_year + 1900) % 10000, tm.tm_hour, tm.tm_min, tm.tm_sec);
        cached_second = second;
    }
    return arena_copy(arena, (struct slice){cached, cached_len});
}

static struct slice absolute_location(const struct api_request *request)
{
    struct slice host = http_request_header(request->http, "Host");
    struct buf text = {0};
    buf_append_lit(&text, "http://");
    for (size_t i = 0; i < host.len; i++)
        if (host.data[i] > ' ' && host.data[i] != 0x7f)
            buf_append_char(&text, host.data[i]);
    buf_append_slice(&text, request->location);
    struct slice location = arena_copy(request->arena, buf_slice(&text));
    buf_free(&text);
    return location;
}

static struct slice version_text(const struct api_request *request)
{
    char *text = arena_alloc(request->arena, 16);
    int len = snprintf(text, 16, "placement 1.%u", request->minor);
    return (struct slice){text, (size_t)len};
}

void answer_headers(struct api_request *request)
{
    struct http_exchange *http = request->http;
    bool is_error = err_is_set(&request->err);
    if (!is_error && request->has_body)
        http_add_header(http, SLICE_LIT("Content-Type"), SLICE_LIT("application/json"));
    if (!is_error && request->is_cacheable) {
        http_add_header(http, SLICE_LIT("Cache-Control"), SLICE_LIT("no-cache"));
        http_add_header(http, SLICE_LIT("Last-Modified"),
                        http_date(request->arena, request->modified_at_us));
    }
    if (!is_error && request->location.data != NULL)
        http_add_header(http, SLICE_LIT("Location"), absolute_location(request));
    if (request->allow.data != NULL)
        http_add_header(http, SLICE_LIT("Allow"), request->allow);
    if (request->version_shown)
        http_add_header(http, SLICE_LIT("openstack-api-version"), version_text(request));
    if (request->version_shown && request->vary_shown)
        http_add_header(http, SLICE_LIT("vary"), SLICE_LIT("openstack-api-version"));
    http_add_header(http, SLICE_LIT("x-openstack-request-id"),
                    (struct slice){request->request_id, REQUEST_ID_LEN});
    http->status = request->status;
}
