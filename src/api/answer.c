/* The headers that all doors' answers have. Any thread. */
#include "api/answer.h"
#include "api/api.h"
#include "api/cors.h"
#include "api/door.h"
#include "base/arena.h"
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
    request->door->add_headers(request);
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
    http_add_header(http, request->door->request_id_header,
                    (struct slice){request->request_id, REQUEST_ID_LEN});
    http->status = request->status;
}
