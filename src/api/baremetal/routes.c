/* THE table of the bare metal API: method, path, microversions, who answers (baremetal-allocations
 * spec, 3, 8.1 and 9). A path's methods are in the order in which Allow tells them. */
#include "api/baremetal/routes.h"

#include "api/baremetal/handlers.h"

#define SINCE(minor)          .min_minor = (minor), .max_minor = BAREMETAL_MINOR_MAX
#define READS(function)       .handle = (function), .reads = true
#define WRITES(function, end) .handle = (function), .finish = (end)

const struct api_route baremetal_routes[] = {
    {.method = "GET", .path = "/", SINCE(0), .handle = baremetal_versions},
    {.method = "GET", .path = "/v1", SINCE(1), .handle = baremetal_version},

    {.method = "GET",
     .path = "/allocations",
     SINCE(52),
     .flags = ROUTE_OF_ALLOCATIONS,
     READS(baremetal_allocations_list)},
    {.method = "POST",
     .path = "/allocations",
     SINCE(52),
     .flags = ROUTE_OF_ALLOCATIONS | ROUTE_OLD_405,
     WRITES(baremetal_allocation_create, baremetal_finish_allocation_create)},
    {.method = "GET",
     .path = "/allocations/{ident}",
     SINCE(52),
     .flags = ROUTE_OF_ALLOCATIONS,
     READS(baremetal_allocation_show)},
    {.method = "PATCH",
     .path = "/allocations/{ident}",
     SINCE(57),
     .flags = ROUTE_OF_ALLOCATIONS | ROUTE_OLD_405,
     WRITES(baremetal_allocation_patch, baremetal_finish_allocation_patch)},
    {.method = "DELETE",
     .path = "/allocations/{ident}",
     SINCE(52),
     .flags = ROUTE_OF_ALLOCATIONS | ROUTE_OLD_405,
     WRITES(baremetal_allocation_delete, baremetal_finish_no_content)},
    {.method = "GET",
     .path = "/nodes/{ident}/allocation",
     SINCE(52),
     .flags = ROUTE_OF_ALLOCATIONS,
     READS(baremetal_node_allocation_show)},
    {.method = "DELETE",
     .path = "/nodes/{ident}/allocation",
     SINCE(52),
     .flags = ROUTE_OF_ALLOCATIONS,
     WRITES(baremetal_node_allocation_delete, baremetal_finish_no_content)},
};

_Static_assert(sizeof(baremetal_routes) / sizeof(baremetal_routes[0]) == BAREMETAL_ROUTE_COUNT,
               "the number of rows");
