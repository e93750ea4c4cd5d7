/* Rules x roles x scopes x settings, compared with a second copy of the table of the operators spec
 * (Policy defaults). */
#include "policy/keeper.h"
#include "policy/rules_placement.h"
#include "unit.h"

static const struct slice ROLES[] = {SLICE_LIT("admin"), SLICE_LIT("service"), SLICE_LIT("reader")};
enum { ADMIN = 1, SERVICE = 2, READER = 4, ROLE_SETS = 8, BOTH_SETTINGS = 4 };
enum scope { SCOPE_OWN_PROJECT, SCOPE_OTHER_PROJECT, SCOPE_SYSTEM, SCOPE_DOMAIN, SCOPE_COUNT };

static struct identity identity_of(unsigned roles, enum scope scope)
{
    static struct slice names[ROLE_SETS][3];
    struct identity identity = {.roles.names = names[roles]};
    for (unsigned i = 0; i < 3; i++)
        if ((roles & 1u << i) != 0)
            names[roles][identity.roles.count++] = ROLES[i];
    if (scope == SCOPE_OWN_PROJECT)
        identity.project_id = SLICE_LIT("mine");
    else if (scope == SCOPE_OTHER_PROJECT)
        identity.project_id = SLICE_LIT("another");
    else if (scope == SCOPE_SYSTEM)
        identity.system_scope = SLICE_LIT("all");
    else
        identity.domain_id = SLICE_LIT("default");
    return identity;
}

static enum policy_verdict expected(enum policy_placement_rule rule, unsigned roles,
                                    enum scope scope, bool new_defaults, bool enforce_scope,
                                    bool is_target)
{
    if (enforce_scope && (scope == SCOPE_SYSTEM || scope == SCOPE_DOMAIN))
        return POLICY_DENIED_SCOPE;
    bool by_role = (roles & SERVICE) != 0;
    if (rule != POLICY_RESHAPE)
        by_role = by_role || (roles & ADMIN) != 0;
    bool by_project = rule == POLICY_USAGES && (roles & READER) != 0 && is_target;
    bool deprecated = !new_defaults && (roles & ADMIN) != 0;
    return by_role || by_project || deprecated ? POLICY_ALLOWED : POLICY_DENIED;
}

static struct policy_keeper *defaults(bool new_defaults, bool enforce_scope)
{
    struct err err = {0};
    const struct policy_options options = {new_defaults, enforce_scope, {0}};
    struct policy *policy = policy_build(&options, &(struct policy_overrides){0}, &err);
    assert_non_null(policy);
    assert_int_equal(policy->notes.count, 0);
    return policy_keeper_of(policy);
}

/* For a token without a project, a query without a project is about its own. */
static bool is_about_own(enum scope scope, struct slice target)
{
    if (target.data == NULL)
        return scope == SCOPE_SYSTEM || scope == SCOPE_DOMAIN;
    return scope == SCOPE_OWN_PROJECT;
}

static void everything(void **state)
{
    (void)state;
    for (unsigned settings = 0; settings < BOTH_SETTINGS; settings++) {
        struct policy_keeper *keeper = defaults(settings & 1, settings & 2);
        for (unsigned rule = POLICY_PLACEMENT_NONE + 1; rule < POLICY_PLACEMENT_COUNT; rule++)
            for (unsigned roles = 0; roles < ROLE_SETS; roles++)
                for (unsigned scope = 0; scope < SCOPE_COUNT; scope++)
                    for (unsigned named = 0; named < 2; named++) {
                        struct policy_attribute about = {SLICE_LIT("project_id"), {0}};
                        const struct policy_target target = {&about, 1};
                        if (named == 1)
                            about.value = SLICE_LIT("mine");
                        struct identity identity = identity_of(roles, scope);
                        enum policy_verdict want =
                            expected(rule, roles, scope, settings & 1, settings & 2,
                                     is_about_own(scope, about.value));
                        if (policy_placement_check(keeper, rule, &identity, &target) != want)
                            fail_msg("%s, roles %u, scope %u, settings %u",
                                     policy_placement_name(rule), roles, scope, settings);
                    }
        policy_keeper_close(keeper);
    }
}

static void no_rule_is_for_anybody(void **state)
{
    (void)state;
    struct identity nobody = {0};
    const struct policy_target target = {NULL, 0};
    struct policy_keeper *strict = defaults(true, true);
    assert_int_equal(policy_placement_check(strict, POLICY_PLACEMENT_NONE, &nobody, &target),
                     POLICY_ALLOWED);
    nobody.system_scope = SLICE_LIT("all");
    assert_int_equal(policy_placement_check(strict, POLICY_PLACEMENT_NONE, &nobody, &target),
                     POLICY_ALLOWED);
    policy_keeper_close(strict);
}

/* The names of the operators spec, in the order of the enum; each once. */
static void names(void **state)
{
    (void)state;
    static const char *const NAMES[] = {
        "resource_providers:list",
        "resource_providers:create",
        "resource_providers:show",
        "resource_providers:update",
        "resource_providers:delete",
        "resource_providers:inventories:list",
        "resource_providers:inventories:create",
        "resource_providers:inventories:show",
        "resource_providers:inventories:update",
        "resource_providers:inventories:delete",
        "resource_providers:aggregates:list",
        "resource_providers:aggregates:update",
        "resource_providers:traits:list",
        "resource_providers:traits:update",
        "resource_providers:traits:delete",
        "resource_providers:usages",
        "resource_providers:allocations:list",
        "resource_classes:list",
        "resource_classes:create",
        "resource_classes:show",
        "resource_classes:update",
        "resource_classes:delete",
        "traits:list",
        "traits:show",
        "traits:update",
        "traits:delete",
        "allocations:manage",
        "allocations:list",
        "allocations:update",
        "allocations:delete",
        "allocation_candidates:list",
        "usages",
        "reshaper:reshape",
    };
    assert_int_equal(sizeof(NAMES) / sizeof(NAMES[0]), POLICY_PLACEMENT_COUNT - 1);
    for (unsigned rule = 1; rule < POLICY_PLACEMENT_COUNT; rule++) {
        const char *name = policy_placement_name(rule);
        assert_memory_equal(name, "placement:", 10);
        assert_string_equal(name + 10, NAMES[rule - 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything),
        cmocka_unit_test(no_rule_is_for_anybody),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
