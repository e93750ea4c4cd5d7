/* THE table: method, path, microversions, policy, what is accepted, who answers. In the order in
 * which upstream lists the methods of a path, because Allow repeats it. */
#include "api/routes.h"

#include "api/placement/handlers.h"

static const struct api_route ROUTES[] = {
    {.method = "GET", .path = "/", .max_minor = API_MINOR_MAX, .handle = handle_root},
    {.method = "GET",
     .path = "/resource_classes",
     .min_minor = 2,
     .max_minor = API_MINOR_MAX,
     .accept = ACCEPT_JSON,
     .policy = POLICY_CLASSES_LIST,
     .handle = handle_classes_list,
     .reads = true},
    {.method = "POST",
     .path = "/resource_classes",
     .min_minor = 2,
     .max_minor = API_MINOR_MAX,
     .content = CONTENT_JSON,
     .policy = POLICY_CLASSES_CREATE,
     .handle = handle_class_create,
     .finish = finish_class_create},
    {.method = "GET",
     .path = "/resource_classes/{name}",
     .min_minor = 2,
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .accept = ACCEPT_JSON,
     .policy = POLICY_CLASSES_SHOW,
     .handle = handle_class_show,
     .reads = true},
    {.method = "PUT",
     .path = "/resource_classes/{name}",
     .min_minor = 2,
     .max_minor = 6,
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_CLASSES_UPDATE,
     .handle = handle_class_rename,
     .finish = finish_class_rename},
    {.method = "PUT",
     .path = "/resource_classes/{name}",
     .min_minor = 7,
     .max_minor = API_MINOR_MAX,
     .policy = POLICY_CLASSES_UPDATE,
     .handle = handle_class_ensure,
     .finish = finish_class_ensure},
    {.method = "DELETE",
     .path = "/resource_classes/{name}",
     .min_minor = 2,
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .policy = POLICY_CLASSES_DELETE,
     .handle = handle_class_delete,
     .finish = finish_deleted},
    {.method = "POST",
     .path = "/resource_providers",
     .max_minor = API_MINOR_MAX,
     .content = CONTENT_JSON,
     .policy = POLICY_PROVIDERS_CREATE,
     .handle = handle_provider_create,
     .finish = finish_provider_create},
    {.method = "GET",
     .path = "/resource_providers/{uuid}",
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .accept = ACCEPT_JSON,
     .policy = POLICY_PROVIDERS_SHOW,
     .handle = handle_provider_show,
     .reads = true},
    {.method = "DELETE",
     .path = "/resource_providers/{uuid}",
     .max_minor = API_MINOR_MAX,
     .policy = POLICY_PROVIDERS_DELETE,
     .handle = handle_provider_delete,
     .finish = finish_deleted},
    {.method = "PUT",
     .path = "/resource_providers/{uuid}",
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_PROVIDERS_UPDATE,
     .handle = handle_provider_update,
     .finish = finish_provider_update,
     .reads = true},
    {.method = "GET",
     .path = "/resource_providers/{uuid}/inventories",
     .max_minor = API_MINOR_MAX,
     .accept = ACCEPT_JSON,
     .policy = POLICY_INVENTORIES_LIST,
     .handle = handle_inventories_list,
     .reads = true},
    {.method = "POST",
     .path = "/resource_providers/{uuid}/inventories",
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_INVENTORIES_CREATE,
     .handle = handle_inventory_create,
     .finish = finish_inventory_create,
     .reads = true},
    {.method = "PUT",
     .path = "/resource_providers/{uuid}/inventories",
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_INVENTORIES_UPDATE,
     .handle = handle_inventories_set,
     .finish = finish_inventories_set,
     .reads = true},
    {.method = "DELETE",
     .path = "/resource_providers/{uuid}/inventories",
     .min_minor = 5,
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .hidden_405 = true,
     .policy = POLICY_INVENTORIES_DELETE,
     .handle = handle_inventories_delete,
     .finish = finish_deleted},
    {.method = "GET",
     .path = "/resource_providers/{uuid}/inventories/{resource_class}",
     .max_minor = API_MINOR_MAX,
     .accept = ACCEPT_JSON,
     .policy = POLICY_INVENTORIES_SHOW,
     .handle = handle_inventory_show,
     .reads = true},
    {.method = "PUT",
     .path = "/resource_providers/{uuid}/inventories/{resource_class}",
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_INVENTORIES_UPDATE,
     .handle = handle_inventory_update,
     .finish = finish_inventory_update,
     .reads = true},
    {.method = "DELETE",
     .path = "/resource_providers/{uuid}/inventories/{resource_class}",
     .max_minor = API_MINOR_MAX,
     .policy = POLICY_INVENTORIES_DELETE,
     .handle = handle_inventory_delete,
     .finish = finish_inventory_delete},
    {.method = "GET",
     .path = "/resource_providers/{uuid}/aggregates",
     .min_minor = 1,
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .accept = ACCEPT_JSON,
     .policy = POLICY_AGGREGATES_LIST,
     .handle = handle_aggregates_list,
     .reads = true,
     .content_before_version = true},
    {.method = "PUT",
     .path = "/resource_providers/{uuid}/aggregates",
     .min_minor = 1,
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_AGGREGATES_UPDATE,
     .handle = handle_aggregates_set,
     .finish = finish_aggregates_set,
     .reads = true,
     .content_before_version = true},
    {.method = "GET",
     .path = "/traits",
     .min_minor = 6,
     .max_minor = API_MINOR_MAX,
     .accept = ACCEPT_JSON,
     .policy = POLICY_TRAITS_LIST,
     .handle = handle_traits_list,
     .reads = true},
    {.method = "GET",
     .path = "/traits/{name}",
     .min_minor = 6,
     .max_minor = API_MINOR_MAX,
     .policy = POLICY_TRAITS_SHOW,
     .handle = handle_trait_show,
     .reads = true},
    {.method = "PUT",
     .path = "/traits/{name}",
     .min_minor = 6,
     .max_minor = API_MINOR_MAX,
     .policy = POLICY_TRAITS_UPDATE,
     .handle = handle_trait_put,
     .finish = finish_trait_put},
    {.method = "DELETE",
     .path = "/traits/{name}",
     .min_minor = 6,
     .max_minor = API_MINOR_MAX,
     .policy = POLICY_TRAITS_DELETE,
     .handle = handle_trait_delete,
     .finish = finish_deleted},
    {.method = "GET",
     .path = "/resource_providers/{uuid}/traits",
     .min_minor = 6,
     .max_minor = API_MINOR_MAX,
     .accept = ACCEPT_JSON,
     .policy = POLICY_PROVIDER_TRAITS_LIST,
     .handle = handle_provider_traits_list,
     .reads = true},
    {.method = "PUT",
     .path = "/resource_providers/{uuid}/traits",
     .min_minor = 6,
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .content = CONTENT_JSON,
     .policy = POLICY_PROVIDER_TRAITS_UPDATE,
     .handle = handle_provider_traits_set,
     .finish = finish_provider_traits_set},
    {.method = "DELETE",
     .path = "/resource_providers/{uuid}/traits",
     .min_minor = 6,
     .max_minor = API_MINOR_MAX,
     .bare_404 = true,
     .policy = POLICY_PROVIDER_TRAITS_DELETE,
     .handle = handle_provider_traits_delete,
     .finish = finish_deleted},
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
