/* The built-in rules: HEAD's defaults, with the deprecated ones OR'd where the settings say so
 * (operators spec, Policy defaults). Pure; any thread. */
#include "auth/policy.h"

#include "base/check.h"

enum grant {
    GRANT_ADMIN_OR_SERVICE,
    GRANT_PROJECT_READER_TOO, /* role:reader of the project asked about, beside admin and service */
    GRANT_SERVICE,
};

static const struct {
    const char *name;
    enum grant grant;
} RULES[POLICY_RULE_COUNT] = {
    [POLICY_NONE] = {"", GRANT_ADMIN_OR_SERVICE},
    [POLICY_PROVIDERS_LIST] = {"placement:resource_providers:list", GRANT_ADMIN_OR_SERVICE},
    [POLICY_PROVIDERS_CREATE] = {"placement:resource_providers:create", GRANT_ADMIN_OR_SERVICE},
    [POLICY_PROVIDERS_SHOW] = {"placement:resource_providers:show", GRANT_ADMIN_OR_SERVICE},
    [POLICY_PROVIDERS_UPDATE] = {"placement:resource_providers:update", GRANT_ADMIN_OR_SERVICE},
    [POLICY_PROVIDERS_DELETE] = {"placement:resource_providers:delete", GRANT_ADMIN_OR_SERVICE},
    [POLICY_INVENTORIES_LIST] = {"placement:resource_providers:inventories:list",
                                 GRANT_ADMIN_OR_SERVICE},
    [POLICY_INVENTORIES_CREATE] = {"placement:resource_providers:inventories:create",
                                   GRANT_ADMIN_OR_SERVICE},
    [POLICY_INVENTORIES_SHOW] = {"placement:resource_providers:inventories:show",
                                 GRANT_ADMIN_OR_SERVICE},
    [POLICY_INVENTORIES_UPDATE] = {"placement:resource_providers:inventories:update",
                                   GRANT_ADMIN_OR_SERVICE},
    [POLICY_INVENTORIES_DELETE] = {"placement:resource_providers:inventories:delete",
                                   GRANT_ADMIN_OR_SERVICE},
    [POLICY_AGGREGATES_LIST] = {"placement:resource_providers:aggregates:list",
                                GRANT_ADMIN_OR_SERVICE},
    [POLICY_AGGREGATES_UPDATE] = {"placement:resource_providers:aggregates:update",
                                  GRANT_ADMIN_OR_SERVICE},
    [POLICY_PROVIDER_TRAITS_LIST] = {"placement:resource_providers:traits:list",
                                     GRANT_ADMIN_OR_SERVICE},
    [POLICY_PROVIDER_TRAITS_UPDATE] = {"placement:resource_providers:traits:update",
                                       GRANT_ADMIN_OR_SERVICE},
    [POLICY_PROVIDER_TRAITS_DELETE] = {"placement:resource_providers:traits:delete",
                                       GRANT_ADMIN_OR_SERVICE},
    [POLICY_PROVIDER_USAGES] = {"placement:resource_providers:usages", GRANT_ADMIN_OR_SERVICE},
    [POLICY_PROVIDER_ALLOCATIONS_LIST] = {"placement:resource_providers:allocations:list",
                                          GRANT_ADMIN_OR_SERVICE},
    [POLICY_CLASSES_LIST] = {"placement:resource_classes:list", GRANT_ADMIN_OR_SERVICE},
    [POLICY_CLASSES_CREATE] = {"placement:resource_classes:create", GRANT_ADMIN_OR_SERVICE},
    [POLICY_CLASSES_SHOW] = {"placement:resource_classes:show", GRANT_ADMIN_OR_SERVICE},
    [POLICY_CLASSES_UPDATE] = {"placement:resource_classes:update", GRANT_ADMIN_OR_SERVICE},
    [POLICY_CLASSES_DELETE] = {"placement:resource_classes:delete", GRANT_ADMIN_OR_SERVICE},
    [POLICY_TRAITS_LIST] = {"placement:traits:list", GRANT_ADMIN_OR_SERVICE},
    [POLICY_TRAITS_SHOW] = {"placement:traits:show", GRANT_ADMIN_OR_SERVICE},
    [POLICY_TRAITS_UPDATE] = {"placement:traits:update", GRANT_ADMIN_OR_SERVICE},
    [POLICY_TRAITS_DELETE] = {"placement:traits:delete", GRANT_ADMIN_OR_SERVICE},
    [POLICY_ALLOCATIONS_MANAGE] = {"placement:allocations:manage", GRANT_ADMIN_OR_SERVICE},
    [POLICY_ALLOCATIONS_LIST] = {"placement:allocations:list", GRANT_ADMIN_OR_SERVICE},
    [POLICY_ALLOCATIONS_UPDATE] = {"placement:allocations:update", GRANT_ADMIN_OR_SERVICE},
    [POLICY_ALLOCATIONS_DELETE] = {"placement:allocations:delete", GRANT_ADMIN_OR_SERVICE},
    [POLICY_CANDIDATES_LIST] = {"placement:allocation_candidates:list", GRANT_ADMIN_OR_SERVICE},
    [POLICY_USAGES] = {"placement:usages", GRANT_PROJECT_READER_TOO},
    [POLICY_RESHAPE] = {"placement:reshaper:reshape", GRANT_SERVICE},
};

const char *policy_rule_name(enum policy_rule rule)
{
    check(rule < POLICY_RULE_COUNT);
    return RULES[rule].name;
}

static bool granted(enum grant grant, const struct identity *identity, struct slice target_project)
{
    if (identity_has_role(identity, SLICE_LIT("service")))
        return true;
    if (grant == GRANT_SERVICE)
        return false;
    if (identity_has_role(identity, SLICE_LIT("admin")))
        return true;
    return grant == GRANT_PROJECT_READER_TOO && target_project.data != NULL &&
           identity->project_id.data != NULL && identity_has_role(identity, SLICE_LIT("reader")) &&
           slice_equal(identity->project_id, target_project);
}

enum policy_verdict policy_check(const struct policy_settings *settings, enum policy_rule rule,
                                 const struct identity *identity, struct slice target_project)
{
    if (rule == POLICY_NONE)
        return POLICY_ALLOWED;
    if (settings->enforce_scope && (identity->system_scope.len > 0 || identity->domain_id.len > 0))
        return POLICY_DENIED_SCOPE;
    if (granted(RULES[rule].grant, identity, target_project))
        return POLICY_ALLOWED;
    if (!settings->enforce_new_defaults && identity_has_role(identity, SLICE_LIT("admin")))
        return POLICY_ALLOWED;
    return POLICY_DENIED;
}
