/* THE table: method, path, microversions, policy, what is accepted, who answers. In the order in
 * which upstream lists the methods of a path, because Allow repeats it. */
#include "api/routes.h"

#include "api/placement/handlers.h"

static const struct api_route ROUTES[] = {
    {.method = "GET", .path = "/", .max_minor = API_MINOR_MAX, .handle = handle_root},
    {.method = "GET",
     .path = "/allocation_candidates",
     .min_minor = 10,
     .max_minor = API_MINOR_MAX,
     .accept = ACCEPT_JSON,
     .policy = POLICY_CANDIDATES_LIST,
     .handle = handle_candidates_list,
     .reads = true},
};

enum { ROUTE_COUNT = sizeof(ROUTES) / sizeof(ROUTES[0]) };

/* Matches "/resource_providers/{uuid}" segment by segment; a parameter takes any non-empty segment.
 */
static bool path_matches(const char *pattern, struct slice path, struct slice args[API_ARGS_MAX])
{
    unsigned arg = 0;
    size_t i = 0;
    while (*pattern != '\0') {
        if (*pattern != '{') {
            if (i == path.len || path.data[i] != *pattern)
                return false;
            i++;
            pattern++;
            continue;
        }
        size_t start = i;
        while (i < path.len && path.data[i] != '/')
            i++;
        if (i == start)
            return false;
        args[arg++] = (struct slice){path.data + start, i - start};
        while (*pattern++ != '}')
            ;
    }
    return i == path.len;
}

static bool method_is(const struct api_request *request, const struct api_route *route)
{
    return slice_equal(request->http->method, slice_of(route->method));
}

/* The route of a method may be there twice, for older and for newer microversions. */
static const struct api_route *find(struct api_request *request, struct slice path)
{
    const struct api_route *found = NULL;
    for (unsigned i = 0; i < ROUTE_COUNT; i++)
        if (method_is(request, &ROUTES[i]) && path_matches(ROUTES[i].path, path, request->args) &&
            (found == NULL || request->minor >= ROUTES[i].min_minor))
            found = &ROUTES[i];
    return found;
}

static struct slice allowed_methods(struct api_request *request, struct slice path)
{
    struct buf allow = {0};
    const char *last = "";
    for (unsigned i = 0; i < ROUTE_COUNT; i++) {
        if (!path_matches(ROUTES[i].path, path, request->args) ||
            strcmp(last, ROUTES[i].method) == 0)
            continue;
        last = ROUTES[i].method;
        if (allow.len > 0)
            buf_append_lit(&allow, ", ");
        buf_append_slice(&allow, slice_of(last));
    }
    struct slice text = {0};
    if (allow.len > 0)
        text = arena_copy(request->arena, buf_slice(&allow));
    buf_free(&allow);
    return text;
}

enum route_found routes_find(struct api_request *request)
{
    struct slice path = request->path.len == 0 ? SLICE_LIT("/") : request->path;
    request->route = find(request, path);
    if (request->route != NULL)
        return ROUTE_FOUND;
    request->allow = allowed_methods(request, path);
    return request->allow.data == NULL ? ROUTE_UNKNOWN_PATH : ROUTE_UNKNOWN_METHOD;
}
