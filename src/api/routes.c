/* A path is split at its slashes and compared with the paths of the table that have the same number
 * of segments. Any thread. */
#include "api/routes.h"
#include "base/arena.h"

#include <limits.h>

enum { SEGMENTS_MAX = 5 };

/* The texts between the slashes of a path: "/" has none. */
struct segments {
    struct slice names[SEGMENTS_MAX];
    unsigned count; /* SEGMENTS_MAX + 1: not the path of any route */
};

static struct segments split(struct slice path)
{
    struct segments found = {.count = 0};
    if (path.len == 0 || path.data[0] != '/')
        return (struct segments){.count = SEGMENTS_MAX + 1};
    path = slice_skip(path, 1);
    while (path.len > 0 && found.count < SEGMENTS_MAX) {
        const char *slash = memchr(path.data, '/', path.len);
        struct slice name = path;
        if (slash != NULL)
            name.len = (size_t)(slash - path.data);
        found.names[found.count++] = name;
        if (slash == NULL)
            return found;
        path = slice_skip(path, name.len + 1);
        if (path.len == 0) /* a slash at the end is not accepted */
            found.count = SEGMENTS_MAX + 1;
    }
    if (path.len > 0)
        found.count = SEGMENTS_MAX + 1;
    return found;
}

struct pattern {
    const struct api_route *route;
    struct slice method;
    struct segments path;
};

/* The table's paths, split once. Those with n segments begin at patterns[first[n]], in the order of
 * the table. */
struct route_finder {
    struct pattern *patterns;
    unsigned first[SEGMENTS_MAX + 3];
};

const struct route_finder *route_finder_create(const struct api_route *routes, unsigned route_count,
                                               struct arena *arena)
{
    struct route_finder *finder = arena_zalloc(arena, sizeof(*finder));
    finder->patterns = arena_array(arena, route_count, sizeof(struct pattern));
    unsigned count = 0;
    for (unsigned n = 0; n <= SEGMENTS_MAX; n++) {
        finder->first[n] = count;
        for (unsigned i = 0; i < route_count; i++) {
            struct segments path = split(slice_of(routes[i].path));
            if (path.count == n)
                finder->patterns[count++] =
                    (struct pattern){&routes[i], slice_of(routes[i].method), path};
        }
    }
    check(count == route_count);
    finder->first[SEGMENTS_MAX + 1] = finder->first[SEGMENTS_MAX + 2] = count;
    return finder;
}

static bool is_parameter(struct slice name)
{
    return name.data[0] == '{';
}

/* Compares paths with the same number of segments. A parameter matches any segment that is not
 * empty. */
static bool path_matches(const struct segments *pattern, const struct segments *path)
{
    for (unsigned i = 0; i < path->count; i++) {
        struct slice name = path->names[i];
        if (is_parameter(pattern->names[i]) ? name.len == 0 : !slice_equal(name, pattern->names[i]))
            return false;
    }
    return true;
}

static void take_args(struct api_request *request, const struct segments *pattern,
                      const struct segments *path)
{
    unsigned arg = 0;
    for (unsigned i = 0; i < path->count; i++)
        if (is_parameter(pattern->names[i]))
            request->args[arg++] = path->names[i];
}

/* A method may have two routes, for older and for newer microversions. */
static const struct pattern *match(const struct route_finder *finder, struct slice method,
                                   unsigned minor, const struct segments *path)
{
    const struct pattern *found = NULL;
    for (unsigned i = finder->first[path->count]; i < finder->first[path->count + 1]; i++)
        if (slice_equal(method, finder->patterns[i].method) &&
            path_matches(&finder->patterns[i].path, path) &&
            (found == NULL || minor >= finder->patterns[i].route->min_minor))
            found = &finder->patterns[i];
    return found;
}

const struct api_route *routes_of_method(const struct route_finder *finder, struct slice path,
                                         struct slice method, unsigned minor)
{
    struct segments segments = split(path.len == 0 ? SLICE_LIT("/") : path);
    const struct pattern *found = match(finder, method, minor, &segments);
    return found == NULL ? NULL : found->route;
}

static const struct api_route *find(const struct route_finder *finder, struct slice method,
                                    struct api_request *request, const struct segments *path)
{
    const struct pattern *found = match(finder, method, request->minor, path);
    if (found == NULL)
        return NULL;
    take_args(request, &found->path, path);
    return found->route;
}

/* The methods of microversions up to that one. data == NULL: there are none. */
static struct slice allowed_methods(const struct route_finder *finder, struct arena *arena,
                                    const struct segments *path, unsigned minor)
{
    struct buf allow = {0};
    struct slice last = {0};
    for (unsigned i = finder->first[path->count]; i < finder->first[path->count + 1]; i++) {
        if (finder->patterns[i].route->min_minor > minor ||
            !path_matches(&finder->patterns[i].path, path) ||
            slice_equal(last, finder->patterns[i].method))
            continue;
        last = finder->patterns[i].method;
        if (allow.len > 0)
            buf_append_lit(&allow, ", ");
        buf_append_slice(&allow, last);
    }
    struct slice text = {0};
    if (allow.len > 0)
        text = arena_copy(arena, buf_slice(&allow));
    buf_free(&allow);
    return text;
}

void routes_allow(const struct route_finder *finder, struct api_request *request)
{
    struct segments path = split(slice_of(request->route->path));
    request->allow = allowed_methods(finder, request->arena, &path, request->minor);
    if (request->allow.data == NULL)
        request->allow = allowed_methods(finder, request->arena, &path, UINT_MAX);
}

void routes_take(const struct route_finder *finder, struct slice path, struct slice method,
                 struct api_request *request)
{
    struct segments segments = split(path.len == 0 ? SLICE_LIT("/") : path);
    request->route = find(finder, method, request, &segments);
    check(request->route != NULL);
}

enum route_found routes_find(const struct route_finder *finder, struct slice path,
                             struct api_request *request)
{
    struct segments segments = split(path.len == 0 ? SLICE_LIT("/") : path);
    request->route = find(finder, request->http->method, request, &segments);
    if (request->route != NULL)
        return ROUTE_FOUND;
    request->allow = allowed_methods(finder, request->arena, &segments, UINT_MAX);
    return request->allow.data == NULL ? ROUTE_UNKNOWN_PATH : ROUTE_UNKNOWN_METHOD;
}
