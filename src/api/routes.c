/* THE table: method, path, microversions, policy, what is accepted, who answers. In the order in
 * which upstream lists the methods of a path, because Allow repeats it. */
#include "api/routes.h"

#include <pthread.h>

#include "api/placement/allocation_handlers.h"
#include "api/placement/handlers.h"

#define SINCE(minor)          .min_minor = (minor), .max_minor = API_MINOR_MAX
#define READS(function)       .handle = (function), .reads = true, .accept = ACCEPT_JSON
#define WRITES(function, end) .handle = (function), .finish = (end)

static const struct api_route ROUTES[] = {
    {.method = "GET", .path = "/", SINCE(0), .handle = handle_root},
    {.method = "GET",
     .path = "/resource_providers/{uuid}/usages",
     SINCE(0),
     .policy = POLICY_PROVIDER_USAGES,
     READS(handle_provider_usages)},
    {.method = "GET",
     .path = "/resource_providers/{uuid}/allocations",
     SINCE(0),
     .policy = POLICY_PROVIDER_ALLOCATIONS_LIST,
     READS(handle_provider_allocations)},
    {.method = "POST",
     .path = "/allocations",
     SINCE(13),
     .policy = POLICY_ALLOCATIONS_MANAGE,
     .content = CONTENT_JSON,
     WRITES(handle_allocations_post, finish_no_content)},
    {.method = "GET",
     .path = "/allocations/{consumer_uuid}",
     SINCE(0),
     .policy = POLICY_ALLOCATIONS_LIST,
     READS(handle_allocations_show)},
    {.method = "PUT",
     .path = "/allocations/{consumer_uuid}",
     SINCE(0),
     .policy = POLICY_ALLOCATIONS_UPDATE,
     .content = CONTENT_JSON,
     WRITES(handle_allocations_put, finish_no_content)},
    {.method = "DELETE",
     .path = "/allocations/{consumer_uuid}",
     SINCE(0),
     .policy = POLICY_ALLOCATIONS_DELETE,
     WRITES(handle_allocations_delete, finish_no_content)},
    {.method = "GET",
     .path = "/resource_classes",
     SINCE(2),
     .policy = POLICY_CLASSES_LIST,
     READS(handle_classes_list)},
    {.method = "POST",
     .path = "/resource_classes",
     SINCE(2),
     .content = CONTENT_JSON,
     .policy = POLICY_CLASSES_CREATE,
     WRITES(handle_class_create, finish_class_create)},
    {.method = "GET",
     .path = "/resource_classes/{name}",
     SINCE(2),
     .bare_404 = true,
     .policy = POLICY_CLASSES_SHOW,
     READS(handle_class_show)},
    {.method = "PUT",
     .path = "/resource_classes/{name}",
     .min_minor = 2,
     .max_minor = 6,
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_CLASSES_UPDATE,
     WRITES(handle_class_rename, finish_class_rename)},
    {.method = "PUT",
     .path = "/resource_classes/{name}",
     SINCE(7),
     .policy = POLICY_CLASSES_UPDATE,
     WRITES(handle_class_ensure, finish_class_ensure)},
    {.method = "DELETE",
     .path = "/resource_classes/{name}",
     SINCE(2),
     .bare_404 = true,
     .policy = POLICY_CLASSES_DELETE,
     WRITES(handle_class_delete, finish_no_content)},
    {.method = "GET",
     .path = "/resource_providers",
     SINCE(0),
     .policy = POLICY_PROVIDERS_LIST,
     READS(handle_providers_list)},
    {.method = "POST",
     .path = "/resource_providers",
     SINCE(0),
     .content = CONTENT_JSON,
     .policy = POLICY_PROVIDERS_CREATE,
     WRITES(handle_provider_create, finish_provider_create)},
    {.method = "GET",
     .path = "/resource_providers/{uuid}",
     SINCE(0),
     .bare_404 = true,
     .policy = POLICY_PROVIDERS_SHOW,
     READS(handle_provider_show)},
    {.method = "DELETE",
     .path = "/resource_providers/{uuid}",
     SINCE(0),
     .policy = POLICY_PROVIDERS_DELETE,
     WRITES(handle_provider_delete, finish_no_content)},
    {.method = "PUT",
     .path = "/resource_providers/{uuid}",
     SINCE(0),
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_PROVIDERS_UPDATE,
     WRITES(handle_provider_update, finish_provider_update),
     .reads = true},
    {.method = "GET",
     .path = "/resource_providers/{uuid}/inventories",
     SINCE(0),
     .policy = POLICY_INVENTORIES_LIST,
     READS(handle_inventories_list)},
    {.method = "POST",
     .path = "/resource_providers/{uuid}/inventories",
     SINCE(0),
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_INVENTORIES_CREATE,
     WRITES(handle_inventory_create, finish_inventory_create),
     .reads = true},
    {.method = "PUT",
     .path = "/resource_providers/{uuid}/inventories",
     SINCE(0),
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_INVENTORIES_UPDATE,
     WRITES(handle_inventories_set, finish_inventories_set),
     .reads = true},
    {.method = "DELETE",
     .path = "/resource_providers/{uuid}/inventories",
     SINCE(5),
     .bare_404 = true,
     .hidden_405 = true,
     .policy = POLICY_INVENTORIES_DELETE,
     WRITES(handle_inventories_delete, finish_no_content)},
    {.method = "GET",
     .path = "/resource_providers/{uuid}/inventories/{resource_class}",
     SINCE(0),
     .policy = POLICY_INVENTORIES_SHOW,
     READS(handle_inventory_show)},
    {.method = "PUT",
     .path = "/resource_providers/{uuid}/inventories/{resource_class}",
     SINCE(0),
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_INVENTORIES_UPDATE,
     WRITES(handle_inventory_update, finish_inventory_update),
     .reads = true},
    {.method = "DELETE",
     .path = "/resource_providers/{uuid}/inventories/{resource_class}",
     SINCE(0),
     .policy = POLICY_INVENTORIES_DELETE,
     WRITES(handle_inventory_delete, finish_inventory_delete)},
    {.method = "GET",
     .path = "/resource_providers/{uuid}/aggregates",
     SINCE(1),
     .bare_404 = true,
     .policy = POLICY_AGGREGATES_LIST,
     READS(handle_aggregates_list),
     .content_before_version = true},
    {.method = "PUT",
     .path = "/resource_providers/{uuid}/aggregates",
     SINCE(1),
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_AGGREGATES_UPDATE,
     WRITES(handle_aggregates_set, finish_aggregates_set),
     .reads = true,
     .content_before_version = true},
    {.method = "GET",
     .path = "/traits",
     SINCE(6),
     .policy = POLICY_TRAITS_LIST,
     READS(handle_traits_list)},
    {.method = "GET",
     .path = "/traits/{name}",
     SINCE(6),
     .policy = POLICY_TRAITS_SHOW,
     .handle = handle_trait_show,
     .reads = true},
    {.method = "PUT",
     .path = "/traits/{name}",
     SINCE(6),
     .policy = POLICY_TRAITS_UPDATE,
     WRITES(handle_trait_put, finish_trait_put)},
    {.method = "DELETE",
     .path = "/traits/{name}",
     SINCE(6),
     .policy = POLICY_TRAITS_DELETE,
     WRITES(handle_trait_delete, finish_no_content)},
    {.method = "GET",
     .path = "/resource_providers/{uuid}/traits",
     SINCE(6),
     .policy = POLICY_PROVIDER_TRAITS_LIST,
     READS(handle_provider_traits_list)},
    {.method = "PUT",
     .path = "/resource_providers/{uuid}/traits",
     SINCE(6),
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_PROVIDER_TRAITS_UPDATE,
     WRITES(handle_provider_traits_set, finish_provider_traits_set)},
    {.method = "DELETE",
     .path = "/resource_providers/{uuid}/traits",
     SINCE(6),
     .bare_404 = true,
     .policy = POLICY_PROVIDER_TRAITS_DELETE,
     WRITES(handle_provider_traits_delete, finish_no_content)},
    {.method = "GET",
     .path = "/allocation_candidates",
     SINCE(10),
     .policy = POLICY_CANDIDATES_LIST,
     READS(handle_candidates_list)},
    {.method = "GET", .path = "/usages", SINCE(9), READS(handle_usages)},
    {.method = "POST",
     .path = "/reshaper",
     SINCE(30),
     .policy = POLICY_RESHAPE,
     .content = CONTENT_JSON,
     WRITES(handle_reshaper, finish_no_content)},
};

enum { ROUTE_COUNT = sizeof(ROUTES) / sizeof(ROUTES[0]) };

enum { SEGMENTS_MAX = 4 };

/* What stands between the slashes of a path: "/" has none. */
struct segments {
    struct slice names[SEGMENTS_MAX];
    unsigned count; /* SEGMENTS_MAX + 1: no route's path */
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
        if (path.len == 0) /* a slash at the end is one too many */
            found.count = SEGMENTS_MAX + 1;
    }
    if (path.len > 0)
        found.count = SEGMENTS_MAX + 1;
    return found;
}

/* The table's texts, cut up once; those of n segments are patterns[first[n]] and on, in the order
 * of the table. */
static struct pattern {
    const struct api_route *route;
    struct slice method;
    struct segments path;
} patterns[ROUTE_COUNT];
static unsigned first[SEGMENTS_MAX + 3];
static pthread_once_t patterns_once = PTHREAD_ONCE_INIT;

static void make_patterns(void)
{
    unsigned count = 0;
    for (unsigned n = 0; n <= SEGMENTS_MAX; n++) {
        first[n] = count;
        for (unsigned i = 0; i < ROUTE_COUNT; i++) {
            struct segments path = split(slice_of(ROUTES[i].path));
            if (path.count == n)
                patterns[count++] = (struct pattern){&ROUTES[i], slice_of(ROUTES[i].method), path};
        }
    }
    check(count == ROUTE_COUNT);
    first[SEGMENTS_MAX + 1] = first[SEGMENTS_MAX + 2] = count;
}

static bool is_parameter(struct slice name)
{
    return name.data[0] == '{';
}

/* Paths of one number of segments. A parameter takes any non-empty segment. */
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

/* The route of a method may be there twice, for older and for newer microversions. */
static const struct api_route *find(struct api_request *request, const struct segments *path)
{
    const struct pattern *found = NULL;
    for (unsigned i = first[path->count]; i < first[path->count + 1]; i++)
        if (slice_equal(request->http->method, patterns[i].method) &&
            path_matches(&patterns[i].path, path) &&
            (found == NULL || request->minor >= patterns[i].route->min_minor))
            found = &patterns[i];
    if (found == NULL)
        return NULL;
    take_args(request, &found->path, path);
    return found->route;
}

static struct slice allowed_methods(struct api_request *request, const struct segments *path)
{
    struct buf allow = {0};
    struct slice last = {0};
    for (unsigned i = first[path->count]; i < first[path->count + 1]; i++) {
        if (!path_matches(&patterns[i].path, path) || slice_equal(last, patterns[i].method))
            continue;
        last = patterns[i].method;
        if (allow.len > 0)
            buf_append_lit(&allow, ", ");
        buf_append_slice(&allow, last);
    }
    struct slice text = {0};
    if (allow.len > 0)
        text = arena_copy(request->arena, buf_slice(&allow));
    buf_free(&allow);
    return text;
}

enum route_found routes_find(struct api_request *request)
{
    pthread_once(&patterns_once, make_patterns);
    struct segments path = split(request->path.len == 0 ? SLICE_LIT("/") : request->path);
    request->route = find(request, &path);
    if (request->route != NULL)
        return ROUTE_FOUND;
    request->allow = allowed_methods(request, &path);
    return request->allow.data == NULL ? ROUTE_UNKNOWN_PATH : ROUTE_UNKNOWN_METHOD;
}

unsigned routes_count(void)
{
    return ROUTE_COUNT;
}

const struct api_route *routes_at(unsigned number)
{
    check(number < ROUTE_COUNT);
    return &ROUTES[number];
}

unsigned routes_number(const struct api_route *route)
{
    return (unsigned)(route - ROUTES);
}
