/* Paths: the first byte selects the method, the rest is the raw path. */
#include "api/api.h"
#include "api/routes.h"
#include "api/services/healthcheck.h"
#include "api/text/latin1.h"
#include "api/text/query_string.h"
#include "api/text/uuid_like.h"
#include "base/slice.h"
#include "conf/healthcheck.h"
#include "fuzz.h"
#include "placement/api/definition.h"
#include "placement/api/routes.h"
#include "world.h"

static void check_args(const struct api_request *request, struct arena *arena)
{
    bool seen_none = false;
    for (unsigned i = 0; i < API_ARGS_MAX; i++) {
        struct slice arg = request->args[i];
        if (arg.data == NULL || !(arg.data >= request->path.data &&
                                  arg.data < request->path.data + request->path.len)) {
            seen_none = true;
            continue;
        }
        check(!seen_none && arg.len > 0 && memchr(arg.data, '/', arg.len) == NULL);
        check(text_is_utf8(latin1_text(arena, arg)));
        char dashed[UUID_LIKE_LEN];
        if (uuid_like_read(arg, dashed))
            check(uuid_like_is_dashed((struct slice){dashed, UUID_LIKE_LEN}));
    }
}

/* The methods allowed for a path include the method of the route found there, if the version has
 * it. */
static void check_allow(struct api_request *request)
{
    const struct route_finder *routes = request->endpoint->routes;
    struct slice method = slice_of(request->route->method);
    routes_allow(routes, request);
    check(request->allow.len > 0);
    if (request->route->min_minor <= request->minor)
        check(memmem(request->allow.data, request->allow.len, method.data, method.len) != NULL);
    const struct api_route *same = routes_of_method(routes, request->path, method, request->minor);
    check(same != NULL && slice_equal(slice_of(same->path), slice_of(request->route->path)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct slice MOUNT = SLICE_LIT("/placement");
    static const struct conf_healthcheck HEALTHCHECK = {.is_enabled = true,
                                                        .path = SLICE_LIT("/healthcheck")};
    static const struct api API = {.healthcheck = &HEALTHCHECK};
    static const struct slice METHODS[] = {SLICE_LIT("GET"), SLICE_LIT("PUT"), SLICE_LIT("POST"),
                                           SLICE_LIT("DELETE"), SLICE_LIT("HEAD")};
    if (size == 0)
        return 0;
    struct arena *arena = arena_create();
    struct fuzz_request r;
    struct api_request *request = fuzz_request_begin(&r, arena, &API, data[0] / 5 % 40);
    r.endpoint = (struct api_endpoint){
        .definition = &placement_definition,
        .api = &API,
        .routes = route_finder_create(placement_routes, PLACEMENT_ROUTE_COUNT, arena),
        .mount_prefixes = &MOUNT,
        .mount_prefix_count = 1,
    };
    request->http->method = METHODS[data[0] % 5];
    struct slice raw = {(const char *)data + 1, size - 1};
    request->http->target = raw;
    if (healthcheck_is_requested(request))
        check(memmem(raw.data, raw.len, "/healthcheck", 12) != NULL);
    request->path = percent_decode(arena, raw, false);
    check(request->path.len <= raw.len);
    switch (routes_find(r.endpoint.routes, request->path, request)) {
    case ROUTE_FOUND:
        check(request->route != NULL && request->route->handle != NULL);
        check(request->route >= placement_routes);
        check(request->route < placement_routes + PLACEMENT_ROUTE_COUNT);
        check_args(request, arena);
        check_allow(request);
        break;
    case ROUTE_UNKNOWN_METHOD:
        check(request->allow.len > 0);
        break;
    case ROUTE_UNKNOWN_PATH:
        check(request->allow.data == NULL);
        break;
    }
    fuzz_request_end(&r);
    arena_destroy(arena);
    return 0;
}
