/* The table. The rules of operations refer to the aliases behind them, which are what a file
 * usually overrides. Deprecated is what every rule was before: the role admin. Constant data: any
 * thread. */
#include "policy/rules.h"

#include "base/check.h"

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
    "The newer defaults tell services, admins and readers of a project apart; before, every rule "
    "asked for the role admin.",
    "Wallaby",
};

/* clang-format off */
const struct policy_default policy_rules[POLICY_TABLE_COUNT] = {
    [POLICY_PROVIDERS_LIST] = OPERATION("resource_providers:list", AOS, "List resource providers.", {"GET", "/resource_providers"}),
    [POLICY_PROVIDERS_CREATE] = OPERATION("resource_providers:create", AOS, "Create a resource provider.", {"POST", "/resource_providers"}),
    [POLICY_PROVIDERS_SHOW] = OPERATION("resource_providers:show", AOS, "Show a resource provider.", {"GET", "/resource_providers/{uuid}"}),
    [POLICY_PROVIDERS_UPDATE] = OPERATION("resource_providers:update", AOS, "Rename a resource provider or change its parent.", {"PUT", "/resource_providers/{uuid}"}),
    [POLICY_PROVIDERS_DELETE] = OPERATION("resource_providers:delete", AOS, "Delete a resource provider.", {"DELETE", "/resource_providers/{uuid}"}),
    [POLICY_INVENTORIES_LIST] = OPERATION("resource_providers:inventories:list", AOS, "List the inventories of a resource provider.", {"GET", "/resource_providers/{uuid}/inventories"}),
    [POLICY_INVENTORIES_CREATE] = OPERATION("resource_providers:inventories:create", AOS, "Add an inventory to a resource provider.", {"POST", "/resource_providers/{uuid}/inventories"}),
    [POLICY_INVENTORIES_SHOW] = OPERATION("resource_providers:inventories:show", AOS, "Show an inventory of a resource provider.", {"GET", "/resource_providers/{uuid}/inventories/{resource_class}"}),
    [POLICY_INVENTORIES_UPDATE] = OPERATION("resource_providers:inventories:update", AOS, "Change one or all inventories of a resource provider.", {"PUT", "/resource_providers/{uuid}/inventories"}, {"PUT", "/resource_providers/{uuid}/inventories/{resource_class}"}),
    [POLICY_INVENTORIES_DELETE] = OPERATION("resource_providers:inventories:delete", AOS, "Delete one or all inventories of a resource provider.", {"DELETE", "/resource_providers/{uuid}/inventories"}, {"DELETE", "/resource_providers/{uuid}/inventories/{resource_class}"}),
    [POLICY_AGGREGATES_LIST] = OPERATION("resource_providers:aggregates:list", AOS, "List the aggregates of a resource provider.", {"GET", "/resource_providers/{uuid}/aggregates"}),
    [POLICY_AGGREGATES_UPDATE] = OPERATION("resource_providers:aggregates:update", AOS, "Set the aggregates of a resource provider.", {"PUT", "/resource_providers/{uuid}/aggregates"}),
    [POLICY_PROVIDER_TRAITS_LIST] = OPERATION("resource_providers:traits:list", AOS, "List the traits of a resource provider.", {"GET", "/resource_providers/{uuid}/traits"}),
    [POLICY_PROVIDER_TRAITS_UPDATE] = OPERATION("resource_providers:traits:update", AOS, "Set the traits of a resource provider.", {"PUT", "/resource_providers/{uuid}/traits"}),
    [POLICY_PROVIDER_TRAITS_DELETE] = OPERATION("resource_providers:traits:delete", AOS, "Take all traits off a resource provider.", {"DELETE", "/resource_providers/{uuid}/traits"}),
    [POLICY_PROVIDER_USAGES] = OPERATION("resource_providers:usages", AOS, "Show what of a resource provider is used.", {"GET", "/resource_providers/{uuid}/usages"}),
    [POLICY_PROVIDER_ALLOCATIONS_LIST] = OPERATION("resource_providers:allocations:list", AOS, "List the allocations against a resource provider.", {"GET", "/resource_providers/{uuid}/allocations"}),
    [POLICY_CLASSES_LIST] = OPERATION("resource_classes:list", AOS, "List resource classes.", {"GET", "/resource_classes"}),
    [POLICY_CLASSES_CREATE] = OPERATION("resource_classes:create", AOS, "Create a resource class.", {"POST", "/resource_classes"}),
    [POLICY_CLASSES_SHOW] = OPERATION("resource_classes:show", AOS, "Show a resource class.", {"GET", "/resource_classes/{name}"}),
    [POLICY_CLASSES_UPDATE] = OPERATION("resource_classes:update", AOS, "Rename a resource class, or create it if it is missing.", {"PUT", "/resource_classes/{name}"}),
    [POLICY_CLASSES_DELETE] = OPERATION("resource_classes:delete", AOS, "Delete a resource class.", {"DELETE", "/resource_classes/{name}"}),
    [POLICY_TRAITS_LIST] = OPERATION("traits:list", AOS, "List traits.", {"GET", "/traits"}),
    [POLICY_TRAITS_SHOW] = OPERATION("traits:show", AOS, "Show whether a trait exists.", {"GET", "/traits/{name}"}),
    [POLICY_TRAITS_UPDATE] = OPERATION("traits:update", AOS, "Create a trait.", {"PUT", "/traits/{name}"}),
    [POLICY_TRAITS_DELETE] = OPERATION("traits:delete", AOS, "Delete a trait.", {"DELETE", "/traits/{name}"}),
    [POLICY_ALLOCATIONS_MANAGE] = OPERATION("allocations:manage", AOS, "Write the allocations of several consumers at once.", {"POST", "/allocations"}),
    [POLICY_ALLOCATIONS_LIST] = OPERATION("allocations:list", AOS, "List the allocations of a consumer.", {"GET", "/allocations/{consumer_uuid}"}),
    [POLICY_ALLOCATIONS_UPDATE] = OPERATION("allocations:update", AOS, "Write the allocations of a consumer.", {"PUT", "/allocations/{consumer_uuid}"}),
    [POLICY_ALLOCATIONS_DELETE] = OPERATION("allocations:delete", AOS, "Delete the allocations of a consumer.", {"DELETE", "/allocations/{consumer_uuid}"}),
    [POLICY_CANDIDATES_LIST] = OPERATION("allocation_candidates:list", AOS, "List allocation candidates.", {"GET", "/allocation_candidates"}),
    [POLICY_USAGES] = OPERATION("usages", "rule:admin_or_project_reader_or_service_api", "Show what a project uses.", {"GET", "/usages"}),
    [POLICY_RESHAPE] = OPERATION("reshaper:reshape", "rule:service_api", "Move inventories and allocations between resource providers.", {"POST", "/reshaper"}),

    [POLICY_ALIAS_ADMIN] = ALIAS("admin_api", "role:admin", "Admins.", POLICY_SCOPE_PROJECT, NULL),
    [POLICY_ALIAS_SERVICE] = ALIAS("service_api", "role:service", "Other services.", POLICY_SCOPE_PROJECT, &ROLE_ADMIN),
    [POLICY_ALIAS_ADMIN_OR_SERVICE] = ALIAS(
        "admin_or_service_api", "role:admin or role:service", "Admins and other services: the default of most operations.", POLICY_SCOPE_PROJECT, &ROLE_ADMIN),
    [POLICY_ALIAS_PROJECT_READER] = ALIAS(
        "project_reader_api", "role:reader and project_id:%(project_id)s", "Readers of the project that the request is about.", POLICY_SCOPE_PROJECT, &ROLE_ADMIN),
    [POLICY_ALIAS_ADMIN_OR_PROJECT_READER_OR_SERVICE] = ALIAS(
        "admin_or_project_reader_or_service_api", "role:admin or rule:project_reader_api or role:service", "Admins, other services, and readers of the project that the request is about.", POLICY_SCOPE_PROJECT, &ROLE_ADMIN),
    [POLICY_ALIAS_SYSTEM_ADMIN] = ALIAS(
        "system_admin_api", "role:admin and system_scope:all", "Admins of the system; for files of release 8.0.0.", 0, &ROLE_ADMIN),
    [POLICY_ALIAS_SYSTEM_READER] = ALIAS(
        "system_reader_api", "role:reader and system_scope:all", "Readers of the system; for files of release 8.0.0.", 0, &ROLE_ADMIN),
    [POLICY_ALIAS_SYSTEM_OR_PROJECT_READER] = ALIAS(
        "system_or_project_reader", "rule:system_reader_api or rule:project_reader_api", "Readers of the system or of the project; for files of release 8.0.0.", 0, &ROLE_ADMIN),
};
/* clang-format on */

const char *policy_rule_name(enum policy_rule rule)
{
    check(rule < POLICY_RULE_COUNT);
    return rule == POLICY_NONE ? "" : policy_rules[rule].name;
}
