/* CORS as oslo.middleware implements it: preflights are answered before any other processing.
 * Worker threads. */
#include "api/cors.h"

#include "api/api.h"
#include "api/definition.h"
#include "api/passage.h"
#include "api/request.h"
#include "base/arena.h"

static bool has(const struct cors_names *names, struct slice name)
{
    for (unsigned i = 0; i < names->count; i++)
        if (slice_equal(names->names[i], name))
            return true;
    return false;
}

/* The origin to repeat in the answer: the client's, "*" if all are allowed, data == NULL if it is
 * not allowed. */
static struct slice allowed_origin(const struct api_request *request)
{
    const struct cors_names *origins = &request->api->cors.allowed_origins;
    struct slice origin = http_request_header(request->http, "Origin");
    if (origin.data == NULL || has(origins, origin))
        return origin;
    return has(origins, SLICE_LIT("*")) ? SLICE_LIT("*") : (struct slice){0};
}

static bool has_nocase(const struct cors_names *names, struct slice name)
{
    for (unsigned i = 0; i < names->count; i++)
        if (slice_equal_nocase(names->names[i], name))
            return true;
    return false;
}

static bool header_is_permitted(const struct api_request *request, struct slice name)
{
    static const char *const SIMPLE[] = {
        "Accept",           "Accept-Language", "Content-Type",  "Cache-Control",
        "Content-Language", "Expires",         "Last-Modified", "Pragma"};
    for (size_t i = 0; i < sizeof(SIMPLE) / sizeof(SIMPLE[0]); i++)
        if (slice_equal_nocase(slice_of(SIMPLE[i]), name))
            return true;
    const struct cors_names *own = request->definition->cors_headers;
    return has_nocase(&request->api->cors.allow_headers, name) ||
           (own != NULL && has_nocase(own, name));
}

/* The headers that a preflight requests, joined by commas; false: one is not permitted. */
static bool read_headers(struct api_request *request, struct slice *joined)
{
    struct slice rest = http_request_header(request->http, "Access-Control-Request-Headers");
    struct buf text = {0};
    bool permitted = true;
    while (rest.len > 0 && permitted) {
        struct slice name = slice_trim(slice_cut(&rest, ','));
        if (name.len == 0)
            continue;
        permitted = header_is_permitted(request, name);
        if (text.len > 0)
            buf_append_char(&text, ',');
        buf_append_slice(&text, name);
    }
    *joined = arena_copy(request->arena, buf_slice(&text));
    buf_free(&text);
    return permitted;
}

static void add_origin(struct api_request *request, struct slice origin)
{
    http_add_header(request->http, "Access-Control-Allow-Origin", origin);
    if (request->api->cors.allow_credentials)
        http_add_header(request->http, "Access-Control-Allow-Credentials", SLICE_LIT("true"));
}

static void add_preflight_headers(struct api_request *request)
{
    const struct cors_settings *cors = &request->api->cors;
    struct slice origin = allowed_origin(request);
    struct slice method = http_request_header(request->http, "Access-Control-Request-Method");
    struct slice headers;
    if (origin.data == NULL || !has(&cors->allow_methods, method) ||
        !read_headers(request, &headers))
        return;
    http_add_header(request->http, "vary", SLICE_LIT("Origin"));
    add_origin(request, origin);
    if (cors->max_age_s > 0)
        http_add_header(request->http, "Access-Control-Max-Age",
                        arena_printf(request->arena, "%lld", (long long)cors->max_age_s));
    http_add_header(request->http, "Access-Control-Allow-Methods", method);
    if (headers.len > 0)
        http_add_header(request->http, "Access-Control-Allow-Headers", headers);
}

/* If OPTIONS can also be an ordinary request, a browser's preflight is recognised by its
 * headers. */
static bool is_preflight(const struct api_request *request)
{
    return slice_equal(request->http->method, SLICE_LIT("OPTIONS")) &&
           (!request->definition->has_own_options ||
            (http_request_header(request->http, "Origin").data != NULL &&
             http_request_header(request->http, "Access-Control-Request-Method").data != NULL));
}

bool cors_answer_preflight(struct api_request *request)
{
    if (request->api->cors.allowed_origins.count == 0 || !is_preflight(request))
        return false;
    request->passage->is_preflight = true;
    add_preflight_headers(request);
    api_answer_empty(request, 200);
    return true;
}

bool cors_is_allowed(const struct api_request *request)
{
    return request->api->cors.allowed_origins.count > 0 && !request->passage->is_preflight &&
           allowed_origin(request).data != NULL;
}

/* The configured headers and the API's own, joined by commas. */
static struct slice exposed_headers(struct api_request *request)
{
    const struct cors_names *own = request->definition->cors_headers;
    struct slice text = request->api->cors.expose_headers;
    for (unsigned i = 0; own != NULL && i < own->count; i++)
        text = arena_printf(request->arena, "%.*s%s%.*s", SLICE_ARG(text), text.len > 0 ? "," : "",
                            SLICE_ARG(own->names[i]));
    return text;
}

void cors_add_headers(struct api_request *request)
{
    add_origin(request, allowed_origin(request));
    struct slice exposed = exposed_headers(request);
    if (exposed.len > 0)
        http_add_header(request->http, "Access-Control-Expose-Headers", exposed);
}
