/* Valet's rules (Valet spec, 2.3): groups and migrations are for admins; everything else is for all
 * callers that have a project, who see only the plans of that project. Constant data: any
 * thread. */
#include "policy/rules_valet.h"

#include "policy/rules.h"

#define AT(rule) [POLICY_VALET_##rule - 1]
#define RULE(rule, check_text, text, ...)                                                          \
    {                                                                                              \
        .name = "valet:" rule, .check = (check_text), .description = (text),                       \
        .scopes = POLICY_SCOPE_PROJECT, .operations = {                                            \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

#define ADMIN   "role:admin"
#define ANYBODY "@"

/* clang-format off */
static const struct policy_default rows[] = {
    AT(GROUP_LIST) = RULE("group:list", ADMIN, "List groups.", {"GET", "/v1/groups"}),
    AT(GROUP_SHOW) = RULE("group:show", ADMIN, "Show a group.", {"GET", "/v1/groups/{group_id}"}),
    AT(GROUP_CREATE) = RULE("group:create", ADMIN, "Create a group.", {"POST", "/v1/groups"}),
    AT(GROUP_UPDATE) = RULE("group:update", ADMIN, "Change the description of a group.", {"PUT", "/v1/groups/{group_id}"}),
    AT(GROUP_DELETE) = RULE("group:delete", ADMIN, "Delete a group.", {"DELETE", "/v1/groups/{group_id}"}),
    AT(GROUP_MEMBERS) = RULE("group:members", ADMIN, "Add or remove members of a group, or check whether a project is a member.", {"PUT", "/v1/groups/{group_id}/members"}, {"DELETE", "/v1/groups/{group_id}/members"}, {"GET", "/v1/groups/{group_id}/members/{member_id}"}, {"DELETE", "/v1/groups/{group_id}/members/{member_id}"}),
    AT(STATUS) = RULE("status", ANYBODY, "Show whether planning works.", {"HEAD", "/v1/status"}, {"GET", "/v1/status"}),
    AT(PLAN_LIST) = RULE("plan:list", ANYBODY, "List plans.", {"GET", "/v1/plans"}),
    AT(PLAN_SHOW) = RULE("plan:show", ANYBODY, "Show a plan.", {"GET", "/v1/plans/{plan_id}"}),
    AT(PLAN_CREATE) = RULE("plan:create", ANYBODY, "Create a plan.", {"POST", "/v1/plans"}),
    AT(PLAN_UPDATE) = RULE("plan:update", ANYBODY, "Change a plan.", {"PUT", "/v1/plans/{plan_id}"}),
    AT(PLAN_MIGRATE) = RULE("plan:migrate", ADMIN, "Change a plan by giving a server another host.", {"PUT", "/v1/plans/{plan_id}"}),
    AT(PLAN_DELETE) = RULE("plan:delete", ANYBODY, "Delete a plan.", {"DELETE", "/v1/plans/{plan_id}"}),
    AT(PLACEMENT_LIST) = RULE("placement:list", ANYBODY, "List placements.", {"GET", "/v1/placements"}),
    AT(PLACEMENT_SHOW) = RULE("placement:show", ANYBODY, "Show a placement.", {"GET", "/v1/placements/{placement_id}"}),
    AT(PLACEMENT_RESERVE) = RULE("placement:reserve", ANYBODY, "Reserve a placement, or choose a new host for its server.", {"POST", "/v1/placements/{placement_id}"}),
    AT(PLACEMENT_DELETE) = RULE("placement:delete", ANYBODY, "Delete a placement.", {"DELETE", "/v1/placements/{placement_id}"}),
    AT(ALL_PROJECTS) = RULE("all_projects", ADMIN, "See the plans and placements of all projects, not only of the caller's own.", {"GET", "/v1/plans"}, {"GET", "/v1/plans/{plan_id}"}, {"GET", "/v1/placements"}, {"GET", "/v1/placements/{placement_id}"}),
};
/* clang-format on */

const struct policy_table policy_of_valet = {
    .service = "valet",
    .title = "Valet",
    .checked = POLICY_VALET_COUNT - 1,
    .count = sizeof(rows) / sizeof(rows[0]),
    .rows = rows,
};
