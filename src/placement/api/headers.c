/* The headers that the Placement API reads and writes (placement spec, Microversions, Cache
 * headers). Any thread. */
#include "placement/api/headers.h"

#include "base/arena.h"
#include "base/clock.h"
#include "placement/api/placement_request.h"

struct slice placement_content_type(const struct api_request *request)
{
    struct slice type = http_request_header(request->http, "Content-Type");
    const char *semicolon = type.len == 0 ? NULL : memchr(type.data, ';', type.len);
    if (semicolon != NULL)
        type.len = (size_t)(semicolon - type.data);
    return type.len == 0 ? SLICE_LIT("None") : type;
}

struct slice placement_accept(const struct api_request *request)
{
    struct slice accept = http_request_header(request->http, "Accept");
    if (accept.len == 0 || slice_equal(accept, SLICE_LIT("*/*")))
        return SLICE_LIT("application/json");
    return accept;
}

/* The text for the current second is kept per thread, because most answers of that second share
 * it. */
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

void placement_add_headers(struct api_request *request)
{
    struct http_exchange *http = request->http;
    if (!err_is_set(&request->err) && request->minor >= 15 &&
        (request->has_body || placement_own(request)->is_cacheable)) {
        http_add_header(http, "Cache-Control", SLICE_LIT("no-cache"));
        http_add_header(http, "Last-Modified", http_date(request->arena, request->modified_at_us));
    }
    if (!placement_own(request)->version_shown)
        return;
    http_add_header(http, "openstack-api-version", version_text(request));
    if (placement_own(request)->vary_shown)
        request->vary = SLICE_LIT("openstack-api-version");
}
