/* Placement's rules. Those of operations refer to the aliases after them, which are usually what a
 * file overrides. The deprecated form of every rule is the former one: the role admin. Constant
 * data: any thread. */
#include "policy/rules_placement.h"

#include "policy/rules.h"

#define AT(rule) [POLICY_##rule - 1]
#define OPERATION(rule, check_text, text, ...)                                                     \
    {                                                                                              \
        .name = "placement:" rule, .check = (check_text), .description = (text),                   \
        .scopes = POLICY_SCOPE_PROJECT, .operations = {                                            \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define ALIAS(rule, check_text, text, scope_types, old)                                            \
    {                                                                                              \
        .name = (rule), .check = (check_text), .description = (text), .scopes = (scope_types),     \
        .deprecated = (old)                                                                        \
    }

#define AOS "rule:admin_or_service_api"

/* The name is upstream's, with "rule:" in it: its own sample file has it as a key. */
static const struct policy_deprecation ROLE_ADMIN = {
    "rule:admin_api",
    "role:admin",
    "The newer defaults distinguish services, admins and readers of a project; before, every rule "
    "required the role admin.",
    "Wallaby",
};

/* After the rules of operations. */
enum {
    CHECKED = POLICY_PLACEMENT_COUNT - 1,
    ALIAS_ADMIN = CHECKED,
    ALIAS_SERVICE,
    ALIAS_ADMIN_OR_SERVICE,
    ALIAS_PROJECT_READER,
    ALIAS_ADMIN_OR_PROJECT_READER_OR_SERVICE,
    ALIAS_SYSTEM_ADMIN, /* from here on: 8.0.0's, for files that still refer to them */
    ALIAS_SYSTEM_READER,
    ALIAS_SYSTEM_OR_PROJECT_READER,
};

/* clang-format off */
static const struct policy_default rows[] = {
    AT(PROVIDERS_LIST) = OPERATION("resource_providers:list", AOS, "List resource providers.", {"GET", "/resource_providers"}),
    AT(PROVIDERS_CREATE) = OPERATION("resource_providers:create", AOS, "Create a resource provider.", {"POST", "/resource_providers"}),
    AT(PROVIDERS_SHOW) = OPERATION("resource_providers:show", AOS, "Show a resource provider.", {"GET", "/resource_providers/{uuid}"}),
    AT(PROVIDERS_UPDATE) = OPERATION("resource_providers:update", AOS, "Rename a resource provider or change its parent.", {"PUT", "/resource_providers/{uuid}"}),
    AT(PROVIDERS_DELETE) = OPERATION("resource_providers:delete", AOS, "Delete a resource provider.", {"DELETE", "/resource_providers/{uuid}"}),
    AT(INVENTORIES_LIST) = OPERATION("resource_providers:inventories:list", AOS, "List the inventories of a resource provider.", {"GET", "/resource_providers/{uuid}/inventories"}),
    AT(INVENTORIES_CREATE) = OPERATION("resource_providers:inventories:create", AOS, "Add an inventory to a resource provider.", {"POST", "/resource_providers/{uuid}/inventories"}),
    AT(INVENTORIES_SHOW) = OPERATION("resource_providers:inventories:show", AOS, "Show an inventory of a resource provider.", {"GET", "/resource_providers/{uuid}/inventories/{resource_class}"}),
    AT(INVENTORIES_UPDATE) = OPERATION("resource_providers:inventories:update", AOS, "Change one or all inventories of a resource provider.", {"PUT", "/resource_providers/{uuid}/inventories"}, {"PUT", "/resource_providers/{uuid}/inventories/{resource_class}"}),
    AT(INVENTORIES_DELETE) = OPERATION("resource_providers:inventories:delete", AOS, "Delete one or all inventories of a resource provider.", {"DELETE", "/resource_providers/{uuid}/inventories"}, {"DELETE", "/resource_providers/{uuid}/inventories/{resource_class}"}),
    AT(AGGREGATES_LIST) = OPERATION("resource_providers:aggregates:list", AOS, "List the aggregates of a resource provider.", {"GET", "/resource_providers/{uuid}/aggregates"}),
    AT(AGGREGATES_UPDATE) = OPERATION("resource_providers:aggregates:update", AOS, "Set the aggregates of a resource provider.", {"PUT", "/resource_providers/{uuid}/aggregates"}),
    AT(PROVIDER_TRAITS_LIST) = OPERATION("resource_providers:traits:list", AOS, "List the traits of a resource provider.", {"GET", "/resource_providers/{uuid}/traits"}),
    AT(PROVIDER_TRAITS_UPDATE) = OPERATION("resource_providers:traits:update", AOS, "Set the traits of a resource provider.", {"PUT", "/resource_providers/{uuid}/traits"}),
    AT(PROVIDER_TRAITS_DELETE) = OPERATION("resource_providers:traits:delete", AOS, "Remove all traits from a resource provider.", {"DELETE", "/resource_providers/{uuid}/traits"}),
    AT(PROVIDER_USAGES) = OPERATION("resource_providers:usages", AOS, "Show the usage of a resource provider.", {"GET", "/resource_providers/{uuid}/usages"}),
    AT(PROVIDER_ALLOCATIONS_LIST) = OPERATION("resource_providers:allocations:list", AOS, "List the allocations against a resource provider.", {"GET", "/resource_providers/{uuid}/allocations"}),
    AT(CLASSES_LIST) = OPERATION("resource_classes:list", AOS, "List resource classes.", {"GET", "/resource_classes"}),
    AT(CLASSES_CREATE) = OPERATION("resource_classes:create", AOS, "Create a resource class.", {"POST", "/resource_classes"}),
    AT(CLASSES_SHOW) = OPERATION("resource_classes:show", AOS, "Show a resource class.", {"GET", "/resource_classes/{name}"}),
    AT(CLASSES_UPDATE) = OPERATION("resource_classes:update", AOS, "Rename a resource class, or create it if it is missing.", {"PUT", "/resource_classes/{name}"}),
    AT(CLASSES_DELETE) = OPERATION("resource_classes:delete", AOS, "Delete a resource class.", {"DELETE", "/resource_classes/{name}"}),
    AT(TRAITS_LIST) = OPERATION("traits:list", AOS, "List traits.", {"GET", "/traits"}),
    AT(TRAITS_SHOW) = OPERATION("traits:show", AOS, "Show whether a trait exists.", {"GET", "/traits/{name}"}),
    AT(TRAITS_UPDATE) = OPERATION("traits:update", AOS, "Create a trait.", {"PUT", "/traits/{name}"}),
    AT(TRAITS_DELETE) = OPERATION("traits:delete", AOS, "Delete a trait.", {"DELETE", "/traits/{name}"}),
    AT(ALLOCATIONS_MANAGE) = OPERATION("allocations:manage", AOS, "Write the allocations of several consumers at once.", {"POST", "/allocations"}),
    AT(ALLOCATIONS_LIST) = OPERATION("allocations:list", AOS, "List the allocations of a consumer.", {"GET", "/allocations/{consumer_uuid}"}),
    AT(ALLOCATIONS_UPDATE) = OPERATION("allocations:update", AOS, "Write the allocations of a consumer.", {"PUT", "/allocations/{consumer_uuid}"}),
    AT(ALLOCATIONS_DELETE) = OPERATION("allocations:delete", AOS, "Delete the allocations of a consumer.", {"DELETE", "/allocations/{consumer_uuid}"}),
    AT(CANDIDATES_LIST) = OPERATION("allocation_candidates:list", AOS, "List allocation candidates.", {"GET", "/allocation_candidates"}),
    AT(USAGES) = OPERATION("usages", "rule:admin_or_project_reader_or_service_api", "Show the usage of a project.", {"GET", "/usages"}),
    AT(RESHAPE) = OPERATION("reshaper:reshape", "rule:service_api", "Move inventories and allocations between resource providers.", {"POST", "/reshaper"}),

    [ALIAS_ADMIN] = ALIAS("admin_api", "role:admin", "Admins.", POLICY_SCOPE_PROJECT, NULL),
    [ALIAS_SERVICE] = ALIAS("service_api", "role:service", "Other services.", POLICY_SCOPE_PROJECT, &ROLE_ADMIN),
    [ALIAS_ADMIN_OR_SERVICE] = ALIAS(
        "admin_or_service_api", "role:admin or role:service", "Admins and other services: the default of most operations.", POLICY_SCOPE_PROJECT, &ROLE_ADMIN),
    [ALIAS_PROJECT_READER] = ALIAS(
        "project_reader_api", "role:reader and project_id:%(project_id)s", "Readers of the project that the request is about.", POLICY_SCOPE_PROJECT, &ROLE_ADMIN),
    [ALIAS_ADMIN_OR_PROJECT_READER_OR_SERVICE] = ALIAS(
        "admin_or_project_reader_or_service_api", "role:admin or rule:project_reader_api or role:service", "Admins, other services, and readers of the project that the request is about.", POLICY_SCOPE_PROJECT, &ROLE_ADMIN),
    [ALIAS_SYSTEM_ADMIN] = ALIAS(
        "system_admin_api", "role:admin and system_scope:all", "Admins of the system; for files of release 8.0.0.", 0, &ROLE_ADMIN),
    [ALIAS_SYSTEM_READER] = ALIAS(
        "system_reader_api", "role:reader and system_scope:all", "Readers of the system; for files of release 8.0.0.", 0, &ROLE_ADMIN),
    [ALIAS_SYSTEM_OR_PROJECT_READER] = ALIAS(
        "system_or_project_reader", "rule:system_reader_api or rule:project_reader_api", "Readers of the system or of the project; for files of release 8.0.0.", 0, &ROLE_ADMIN),
};
/* clang-format on */

const struct policy_table policy_of_placement = {
    .service = "placement",
    .title = "Placement",
    .checked = CHECKED,
    .count = sizeof(rows) / sizeof(rows[0]),
    .rows = rows,
};
