/* THE table of the Valet API: method, path, rule, who answers (Valet spec, section 1). A path's
 * methods are in the order in which Allow tells them; what has no row is asked the rule of the
 * path's first one. */
#include "api/valet/routes.h"

#include "api/valet/handlers.h"

#define READS(function)       .handle = (function), .reads = true
#define WRITES(function, end) .handle = (function), .finish = (end), .reads = true

const struct api_route valet_routes[] = {
    {.method = "GET", .path = "/", .handle = valet_versions},
    {.method = "GET", .path = "/v1", .handle = valet_version},

    {.method = "GET",
     .path = "/v1/groups",
     .policy = POLICY_VALET_GROUP_LIST,
     READS(valet_groups_list)},
    {.method = "POST",
     .path = "/v1/groups",
     .policy = POLICY_VALET_GROUP_CREATE,
     WRITES(valet_group_create, finish_valet_group)},
    {.method = "GET",
     .path = "/v1/groups/{group_id}",
     .flags = VALET_OF_GROUP,
     .policy = POLICY_VALET_GROUP_SHOW,
     READS(valet_group_show)},
    {.method = "PUT",
     .path = "/v1/groups/{group_id}",
     .flags = VALET_OF_GROUP,
     .policy = POLICY_VALET_GROUP_UPDATE,
     WRITES(valet_group_update, finish_valet_group)},
    {.method = "DELETE",
     .path = "/v1/groups/{group_id}",
     .flags = VALET_OF_GROUP,
     .policy = POLICY_VALET_GROUP_DELETE,
     WRITES(valet_group_delete, finish_valet_empty)},
    {.method = "PUT",
     .path = "/v1/groups/{group_id}/members",
     .flags = VALET_OF_GROUP,
     .policy = POLICY_VALET_GROUP_MEMBERS,
     WRITES(valet_members_add, finish_valet_group)},
    {.method = "DELETE",
     .path = "/v1/groups/{group_id}/members",
     .flags = VALET_OF_GROUP,
     .policy = POLICY_VALET_GROUP_MEMBERS,
     WRITES(valet_members_delete, finish_valet_empty)},
    {.method = "GET",
     .path = "/v1/groups/{group_id}/members/{member_id}",
     .flags = VALET_OF_GROUP | VALET_OF_MEMBER,
     .policy = POLICY_VALET_GROUP_MEMBERS,
     READS(valet_member_verify)},
    {.method = "DELETE",
     .path = "/v1/groups/{group_id}/members/{member_id}",
     .flags = VALET_OF_GROUP | VALET_OF_MEMBER,
     .policy = POLICY_VALET_GROUP_MEMBERS,
     WRITES(valet_member_delete, finish_valet_empty)},

    {.method = "HEAD",
     .path = "/v1/status",
     .policy = POLICY_VALET_STATUS,
     .handle = valet_status_show},
    {.method = "GET",
     .path = "/v1/status",
     .policy = POLICY_VALET_STATUS,
     .handle = valet_status_show},
};

_Static_assert(sizeof(valet_routes) / sizeof(valet_routes[0]) == VALET_ROUTE_COUNT,
               "the number of rows");
