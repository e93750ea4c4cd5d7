/* The built-in rules: every rule against every kind of caller, under each setting. */
#include "auth/policy.h"

#include "unit.h"

static const struct policy_settings LOOSE = {0};
static const struct policy_settings NEW = {.enforce_new_defaults = true};
static const struct policy_settings SCOPED = {.enforce_new_defaults = true, .enforce_scope = true};

static struct identity with_role(const char *role)
{
    return (struct identity){
        .project_id = SLICE_LIT("p1"), .roles = {slice_of(role)}, .role_count = 1};
}

static enum policy_verdict ask(const struct policy_settings *settings, enum policy_rule rule,
                               const char *role, const char *target)
{
    struct identity identity = with_role(role);
    struct slice project = {0};
    if (target != NULL)
        project = slice_of(target);
    return policy_check(settings, rule, &identity, project);
}

static void every_rule(void **state)
{
    (void)state;
    for (int i = POLICY_NONE + 1; i < POLICY_RULE_COUNT; i++) {
        enum policy_rule rule = (enum policy_rule)i;
        assert_memory_equal(policy_rule_name(rule), "placement:", 10);
        assert_int_equal(ask(&LOOSE, rule, "admin", NULL), POLICY_ALLOWED);
        assert_int_equal(ask(&LOOSE, rule, "Admin", NULL), POLICY_ALLOWED);
        assert_int_equal(ask(&LOOSE, rule, "service", NULL), POLICY_ALLOWED);
        assert_int_equal(ask(&NEW, rule, "service", NULL), POLICY_ALLOWED);
        assert_int_equal(ask(&LOOSE, rule, "member", NULL), POLICY_DENIED);
        assert_int_equal(ask(&LOOSE, rule, "reader", NULL), POLICY_DENIED);
        assert_int_equal(ask(&NEW, rule, "admin", NULL),
                         rule == POLICY_RESHAPE ? POLICY_DENIED : POLICY_ALLOWED);
    }
}

static void names_are_distinct(void **state)
{
    (void)state;
    for (int i = POLICY_NONE + 1; i < POLICY_RULE_COUNT; i++)
        for (int j = i + 1; j < POLICY_RULE_COUNT; j++)
            assert_string_not_equal(policy_rule_name((enum policy_rule)i),
                                    policy_rule_name((enum policy_rule)j));
}

static void readers_of_a_project(void **state)
{
    (void)state;
    assert_int_equal(ask(&LOOSE, POLICY_USAGES, "reader", "p1"), POLICY_ALLOWED);
    assert_int_equal(ask(&LOOSE, POLICY_USAGES, "reader", "p2"), POLICY_DENIED);
    assert_int_equal(ask(&LOOSE, POLICY_USAGES, "member", "p1"), POLICY_DENIED);
    assert_int_equal(ask(&LOOSE, POLICY_PROVIDERS_LIST, "reader", "p1"), POLICY_DENIED);
}

/* With scope enforced, system and domain tokens are refused whatever their roles. */
static void scope(void **state)
{
    (void)state;
    struct identity identity = with_role("service");
    identity.system_scope = SLICE_LIT("all");
    identity.project_id = (struct slice){0};
    struct slice none = {0};
    assert_int_equal(policy_check(&NEW, POLICY_TRAITS_LIST, &identity, none), POLICY_ALLOWED);
    assert_int_equal(policy_check(&SCOPED, POLICY_TRAITS_LIST, &identity, none),
                     POLICY_DENIED_SCOPE);
    identity.system_scope = (struct slice){0};
    assert_int_equal(policy_check(&SCOPED, POLICY_TRAITS_LIST, &identity, none), POLICY_ALLOWED);
    identity.domain_id = SLICE_LIT("d1");
    assert_int_equal(policy_check(&SCOPED, POLICY_TRAITS_LIST, &identity, none),
                     POLICY_DENIED_SCOPE);
}

static void no_rule(void **state)
{
    (void)state;
    struct identity nobody = {0};
    struct slice none = {0};
    assert_int_equal(policy_check(&SCOPED, POLICY_NONE, &nobody, none), POLICY_ALLOWED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule),
        cmocka_unit_test(names_are_distinct),
        cmocka_unit_test(readers_of_a_project),
        cmocka_unit_test(scope),
        cmocka_unit_test(no_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
