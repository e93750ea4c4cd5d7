/* The stages of a request to the Bare Metal API (baremetal-allocations spec, 1.1, 1.3 and 3): the
 * path as Ironic reads it, the microversion, the route. Access is checked by the handlers, which
 * know the object. The first stage that fails sets err. Worker threads. */
#include "baremetal/api/stages.h"

#include "api/request.h"
#include "api/routes.h"
#include "auth/noauth.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/api/nodes/node_find.h"
#include "baremetal/api/routes.h"

static struct slice without_slash(struct slice path)
{
    if (path.len > 1 && path.data[path.len - 1] == '/')
        path.len--;
    return path;
}

bool baremetal_is_public(const struct api_request *request)
{
    struct slice path = without_slash(request->path);
    return path.len <= 1 || slice_equal(path, SLICE_LIT("/v1"));
}

bool baremetal_identify(struct api_request *request)
{
    request->identity = noauth_admin_identity();
    return true;
}

/* Removes ".json" from the last segment; node_find.c and allocation_find.c also try it with the
 * suffix. */
static struct slice without_suffix(struct api_request *request, struct slice path)
{
    const struct slice suffix = SLICE_LIT(".json");
    if (path.len < suffix.len || !slice_equal(slice_skip(path, path.len - suffix.len), suffix))
        return path;
    size_t begin = path.len;
    while (begin > 0 && path.data[begin - 1] != '/')
        begin--;
    metal_own(request)->with_suffix = slice_skip(path, begin);
    path.len -= suffix.len;
    return without_slash(path);
}

/* The path in the form of the table: /v1 may be omitted, one slash at the end is ignored. */
static struct slice path_in_table(struct api_request *request)
{
    const struct slice version = SLICE_LIT("/v1/");
    struct slice path = without_suffix(request, without_slash(request->path));
    if (path.len > version.len && slice_starts_with(path, version))
        return slice_skip(path, version.len - 1);
    return path;
}

/* The list of versions is for clients that do not know one yet. */
static bool is_root(const struct api_request *request)
{
    return request->path.len <= 1;
}

static bool fail_in_routing(struct api_request *request, int status, const char *text)
{
    request->fault_form = FAULT_OUTSIDE;
    return err_set(&request->err, status, NULL, "%s", text);
}

static bool stage_microversion(struct api_request *request)
{
    if (is_root(request))
        return true;
    struct slice own = http_request_header(request->http, "X-OpenStack-Ironic-API-Version");
    struct slice general = http_request_header(request->http, "OpenStack-API-Version");
    request->has_minor = negotiate_version(own, general, &request->minor, &request->err);
    if (!request->has_minor)
        request->fault_form = FAULT_OUTSIDE;
    return request->has_minor;
}

static enum api_step answer_options(struct api_request *request)
{
    api_answer_empty(request, 200);
    return API_DONE;
}

/* OPTIONS of any path that exists. */
static bool find_options(struct api_request *request)
{
    static const struct api_route OPTIONS = {
        .method = "OPTIONS", .path = "", .handle = answer_options};
    if (!slice_equal(request->http->method, SLICE_LIT("OPTIONS")))
        return false;
    request->route = &OPTIONS;
    return true;
}

/* A method that changes something on a path that only has an empty list; or a path that the version
 * does not have yet. */
static bool is_method_of_nothing(const struct api_request *request, struct slice path)
{
    const struct api_route *get =
        routes_of_method(request->endpoint->routes, path, SLICE_LIT("GET"), request->minor);
    if (get == NULL)
        return false;
    bool is_later = (get->flags & ROUTE_LATER_PATH) != 0 && request->minor < get->min_minor;
    bool keeps_nothing = (get->flags & ROUTE_KEEPS_NOTHING) != 0 &&
                         !slice_equal(request->http->method, SLICE_LIT("HEAD"));
    return is_later || keeps_nothing;
}

static bool stage_route(struct api_request *request)
{
    struct slice path = path_in_table(request);
    switch (routes_find(request->endpoint->routes, path, request)) {
    case ROUTE_FOUND:
        return true;
    case ROUTE_UNKNOWN_METHOD:
        if (find_options(request))
            return true;
        if (!is_method_of_nothing(request, path))
            return fail_in_routing(request, 405, "");
        request->allow = (struct slice){0};
        break;
    case ROUTE_UNKNOWN_PATH:
        break;
    }
    return fail_in_routing(request, 404, "");
}

enum { MINOR_OF_ALLOCATIONS = 52 };

static const char *text_of_old(const struct api_request *request)
{
    unsigned flags = request->route->flags;
    if ((flags & ROUTE_OF_ALLOCATIONS) != 0)
        return request->minor < MINOR_OF_ALLOCATIONS
                   ? "The API version does not allow allocations"
                   : "The API version does not allow updating allocations";
    if ((flags & ROUTE_OF_SHARDS) != 0)
        return "The API version does not allow shards";
    return (flags & ROUTE_LATER_PATH) != 0 ? "" : "Resource could not be found.";
}

static bool stage_version_range(struct api_request *request)
{
    const struct api_route *route = request->route;
    if (!request->has_minor || request->minor >= route->min_minor)
        return true;
    if ((route->flags & ROUTE_OLD_405) == 0)
        return fail_in_routing(request, 404, text_of_old(request));
    if ((route->flags & ROUTE_OF_ALLOCATIONS) != 0) {
        routes_allow(request->endpoint->routes, request);
        return fail_in_routing(request, 405, text_of_old(request));
    }
    request->allow = SLICE_LIT("DELETE, GET, PATCH, POST"); /* of the node that the path names */
    return fail_in_routing(request, 405, "");
}

/* A text that cannot be a node's ident is reported before all other errors, except that allocations
 * are too new for the version. Which name the error uses depends on where Ironic checks it. */
static bool stage_ident(struct api_request *request)
{
    const struct slice node = SLICE_LIT("/nodes/{ident}");
    struct slice path = slice_of(request->route->path);
    bool is_too_new = (request->route->flags & ROUTE_OF_ALLOCATIONS) != 0 &&
                      request->minor < request->route->min_minor;
    if (!slice_starts_with(path, node) || is_too_new)
        return true;
    path = slice_skip(path, node.len);
    bool is_late = slice_starts_with(path, SLICE_LIT("/states")) ||
                   slice_starts_with(path, SLICE_LIT("/maintenance"));
    return node_find_check_ident(request->args[0], is_late ? "node_ident" : "node", &request->err);
}

bool baremetal_pass(struct api_request *request)
{
    return stage_microversion(request) && stage_route(request) && stage_ident(request) &&
           stage_version_range(request);
}

static struct slice version_text(struct api_request *request, unsigned minor)
{
    return arena_printf(request->arena, "1.%u", minor);
}

void baremetal_add_headers(struct api_request *request)
{
    struct http_exchange *http = request->http;
    if (is_root(request))
        return;
    http_add_header(http, "X-OpenStack-Ironic-API-Minimum-Version",
                    version_text(request, BAREMETAL_MINOR_MIN));
    http_add_header(http, "X-OpenStack-Ironic-API-Maximum-Version",
                    version_text(request, BAREMETAL_MINOR_MAX));
    if (request->has_minor)
        http_add_header(http, "X-OpenStack-Ironic-API-Version",
                        version_text(request, request->minor));
}
