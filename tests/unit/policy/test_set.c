/* The effect of files on the defaults: overrides, deprecated rules, and log messages. */
#include "policy/evaluate.h"
#include "policy/rules_baremetal.h"
#include "policy/rules_placement.h"
#include "policy/tables.h"
#include "policy_of.h"

enum { NEW = 1, SCOPE = 2 };

/* Whether a caller with just this role passes the rule. */
static bool passes(const struct policy *policy, const char *rule, struct slice role)
{
    const struct identity identity = {.project_id = SLICE_LIT("p"), .roles = {&role, 1}};
    const struct policy_attribute about = {SLICE_LIT("project_id"), SLICE_LIT("p")};
    const struct policy_target target = {&about, 1};
    const struct policy_input input = {&identity, &target};
    return policy_evaluate(policy_find(&policy->sets[POLICY_OF_PLACEMENT], slice_of(rule))->root,
                           &input) == POLICY_TRUE;
}

/* The letters are the roles that pass: admin, service, reader, x. */
static void check_passes(const char *file, unsigned settings, const char *rule, const char *who)
{
    static const struct slice ROLES[] = {SLICE_LIT("admin"), SLICE_LIT("service"),
                                         SLICE_LIT("reader"), SLICE_LIT("x")};
    const struct policy_options options = {(settings & NEW) != 0, (settings & SCOPE) != 0,
                                           SLICE_LIT("default")};
    struct policy *policy = policy_of(&options, file);
    char found[5] = "";
    for (unsigned i = 0; i < 4; i++)
        if (passes(policy, rule, ROLES[i]))
            strncat(found, ROLES[i].data, 1);
    if (strcmp(found, who) != 0)
        fail_msg("%s: %s passes %s, not %s", file, rule, found, who);
    policy_release(policy);
}

static void overrides(void **state)
{
    (void)state;
    static const char LIST[] = "placement:traits:list";
    check_passes("", 0, LIST, "as");
    check_passes("'placement:traits:list': role:x", 0, LIST, "x");
    check_passes("'placement:traits:list': role:x", NEW, LIST, "x");
    check_passes("admin_or_service_api: role:x", 0, LIST, "x");
    check_passes("admin_or_service_api: role:x", 0, "placement:usages", "asr");
    check_passes("admin_api: role:x", 0, LIST, "as");
    check_passes("a: role:x\n'placement:traits:list': rule:a\na: role:reader", 0, LIST, "r");
    check_passes("'placement:traits:list': ''", 0, LIST, "asrx");
    check_passes("'placement:traits:list': rule:nothing\ndefault: role:reader", 0, LIST, "r");
    check_passes("default: role:reader", 0, LIST, "as");
}

static void deprecated_rules(void **state)
{
    (void)state;
    static const char RESHAPE[] = "placement:reshaper:reshape";
    check_passes("", 0, RESHAPE, "as");
    check_passes("", NEW, RESHAPE, "s");
    check_passes("service_api: role:x", 0, RESHAPE, "x");
    /* Its old name. */
    check_passes("'rule:admin_api': role:x", 0, RESHAPE, "x");
    check_passes("'rule:admin_api': role:x", NEW, RESHAPE, "x");
    check_passes("'rule:admin_api': role:x", 0, "placement:usages", "x");
    check_passes("'rule:admin_api': role:x\nservice_api: role:reader", 0, RESHAPE, "r");
    check_passes("'rule:admin_api': rule:service_api", 0, RESHAPE, "as");
    check_passes("'rule:admin_api': rule:service_api", 0, "placement:traits:list", "as");
    check_passes("'rule:admin_api': rule:service_api", NEW, "placement:traits:list", "s");
    /* Aliases of 8.0.0. */
    check_passes("", 0, "system_admin_api", "a");
    check_passes("", NEW, "system_admin_api", "");
    check_passes("'placement:usages': rule:system_or_project_reader", NEW, "placement:usages", "r");
}

static void origins(void **state)
{
    (void)state;
    const struct policy_options options = {0};
    struct policy *policy =
        policy_of(&options, "'rule:admin_api': role:x\n\n'placement:usages': role:x\n");
    const struct policy_entry *usages =
        policy_find(&policy->sets[POLICY_OF_PLACEMENT], SLICE_LIT("placement:usages"));
    assert_string_equal(usages->where, "file:3");
    assert_false(usages->has_deprecated);
    const struct policy_entry *alias =
        policy_find(&policy->sets[POLICY_OF_PLACEMENT], SLICE_LIT("service_api"));
    assert_null(alias->where);
    assert_string_equal(alias->renamed, "file:1");
    assert_null(policy_find(&policy->sets[POLICY_OF_PLACEMENT], SLICE_LIT("nothing")));
    policy_release(policy);
    policy =
        policy_of(&options, "'placement:usages': rule:admin_or_project_reader_or_service_api\n");
    assert_true(policy_find(&policy->sets[POLICY_OF_PLACEMENT], SLICE_LIT("placement:usages"))
                    ->is_redundant);
    assert_true(
        policy_find(&policy->sets[POLICY_OF_PLACEMENT], SLICE_LIT("service_api"))->has_deprecated);
    assert_false(
        policy_find(&policy->sets[POLICY_OF_PLACEMENT], SLICE_LIT("admin_api"))->has_deprecated);
    policy_release(policy);
}

static void check_note(const char *file, const char *words)
{
    const struct policy_options options = {0};
    struct policy *policy = policy_of(&options, file);
    bool found = words == NULL && policy->notes.count == 0;
    for (unsigned i = 0; words != NULL && i < policy->notes.count; i++)
        found |= strstr(policy->notes.items[i].text.data, words) != NULL;
    if (!found)
        fail_msg("%s: %u notes, first: %s", file, policy->notes.count,
                 policy->notes.count == 0 ? "" : policy->notes.items[0].text.data);
    policy_release(policy);
}

static void notes(void **state)
{
    (void)state;
    check_note("'placement:usages': role:x", NULL);
    check_note("a: role:x", NULL);
    check_note("'placement:usage': role:x",
               "file:1: rule placement:usage: no operation uses a rule of this name");
    check_note("a:\n", "file:1: rule a: is empty, so it allows everybody");
    check_note("a: \"\"\nb: \"@\"", NULL);
    check_note("a: role:x\nb: and and", "file:2: rule b: cannot be understood");
    check_note("a: http://x", "file:1: rule a: http://x would query a server");
    check_note("a: rule:b", "file:1: rule a: refers to rule:b, which is not defined");
    check_note("a: rule:b\nb: not rule:a", "file:2: rule b: refers to itself");
    check_note("a: role:x\na: role:y", "file:2: rule a is defined a second time");
    check_note("5: role:x", "file:1: \"5\" is ignored");
    check_note("'rule:admin_api': role:x",
               "file:1: the deprecated rule:admin_api is overridden, which also applies to "
               "service_api");
    check_note("'placement:reshaper:reshape': rule:service_api",
               "rules in policy files that are equal to the defaults: placement:reshaper:reshape");
}

static void notes_end(void **state)
{
    (void)state;
    struct buf file = {0};
    for (unsigned i = 0; i < 2 * POLICY_NOTES_MAX; i++)
        buf_printf(&file, "a%u: wrong\n", i);
    buf_append_char(&file, '\0');
    const struct policy_options options = {0};
    struct policy *policy = policy_of(&options, file.data);
    assert_int_equal(policy->notes.count, POLICY_NOTES_MAX);
    assert_int_equal(policy->notes.more, POLICY_NOTES_MAX);
    assert_int_equal(policy->notes.more_warnings, POLICY_NOTES_MAX);
    policy_release(policy);
    buf_free(&file);
}

/* What only informs is no warning, also where it is only counted. */
static void notes_that_inform(void **state)
{
    (void)state;
    struct policy_notes notes = {.arena = arena_create()};
    for (unsigned i = 0; i < POLICY_NOTES_MAX + 2; i++)
        policy_note(&notes, LOG_LEVEL_INFO, "note %u", i);
    policy_note(&notes, LOG_LEVEL_WARNING, "the last one");
    assert_int_equal(notes.count, POLICY_NOTES_MAX);
    assert_int_equal(notes.more, 3);
    assert_int_equal(notes.more_warnings, 1);
    arena_destroy(notes.arena);
}

static void too_many_rules(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct buf file = {0};
    for (unsigned i = 0; i <= POLICY_ENTRIES_MAX; i++)
        buf_printf(&file, "a%u: '@'\n", i);
    buf_append_char(&file, '\0');
    assert_string_equal(refusal_of(arena, file.data),
                        "file:2001: more than 2000 rules in policy files");
    buf_free(&file);
    arena_destroy(arena);
}

static bool asks(const struct policy *policy, enum policy_service service, unsigned rule,
                 struct slice role)
{
    const struct identity identity = {.project_id = SLICE_LIT("p"), .roles = {&role, 1}};
    const struct policy_attribute about = {SLICE_LIT("project_id"), SLICE_LIT("p")};
    const struct policy_target target = {&about, 1};
    return policy_decide(policy, service, rule, &identity, &target) == POLICY_ALLOWED;
}

/* What a file says counts for each service that has the name, and for no other. */
static void services(void **state)
{
    (void)state;
    static const struct slice X = SLICE_LIT("x");
    static const struct slice ROOT = SLICE_LIT("administrator");
    const struct policy_options options = {0};
    struct policy *policy = policy_of(&options, "");
    assert_true(asks(policy, POLICY_OF_BAREMETAL, POLICY_NODE_DELETE, ROOT));
    assert_false(asks(policy, POLICY_OF_PLACEMENT, POLICY_TRAITS_LIST, ROOT));
    policy_release(policy);
    policy = policy_of(&options, "admin_api: role:x\n'placement:usages': rule:admin_api");
    assert_true(asks(policy, POLICY_OF_BAREMETAL, POLICY_NODE_DELETE, X) &&
                asks(policy, POLICY_OF_PLACEMENT, POLICY_USAGES, X));
    assert_false(asks(policy, POLICY_OF_BAREMETAL, POLICY_NODE_DELETE, ROOT) ||
                 asks(policy, POLICY_OF_PLACEMENT, POLICY_TRAITS_LIST, X));
    policy_release(policy);
    /* Own names are there for both; a service's own, unless a file has it, for it alone. */
    policy = policy_of(&options, "a: role:x\n'placement:usages': rule:a\n"
                                 "'baremetal:driver:get': rule:a\n"
                                 "'placement:traits:list': rule:is_admin\n"
                                 "'baremetal:shards:get': rule:admin_or_service_api");
    assert_true(asks(policy, POLICY_OF_PLACEMENT, POLICY_USAGES, X) &&
                asks(policy, POLICY_OF_BAREMETAL, POLICY_DRIVER_GET, X));
    assert_false(asks(policy, POLICY_OF_PLACEMENT, POLICY_TRAITS_LIST, ROOT));
    assert_false(asks(policy, POLICY_OF_BAREMETAL, POLICY_SHARDS_GET, SLICE_LIT("admin")));
    assert_int_equal(policy_service_of(policy, SLICE_LIT("is_admin")), POLICY_OF_BAREMETAL);
    assert_int_equal(policy_service_of(policy, SLICE_LIT("baremetal:x")), POLICY_OF_BAREMETAL);
    assert_int_equal(policy_service_of(policy, SLICE_LIT("service_api")), POLICY_OF_PLACEMENT);
    assert_int_equal(policy_service_of(policy, SLICE_LIT("a")), POLICY_OF_PLACEMENT);
    assert_int_equal(policy_service_of(policy, SLICE_LIT("nothing")), POLICY_OF_PLACEMENT);
    policy_release(policy);
    policy = policy_of(&options, "a: rule:b\nb: role:x\n'baremetal:driver:get': rule:a");
    assert_int_equal(policy_service_of(policy, SLICE_LIT("b")), POLICY_OF_BAREMETAL);
    policy_release(policy);
}

/* What is said of a rule is what is so where it is used. */
static void notes_of_services(void **state)
{
    (void)state;
    check_note("'baremetal:node:gett': role:x",
               "file:1: rule baremetal:node:gett: no operation uses a rule of this name");
    check_note("'baremetal:driver:get': project_name:x or rule:is_admin", NULL);
    check_note("a: project_name:x or rule:is_admin\n'baremetal:driver:get': rule:a", NULL);
    check_note("a: project_name:x\n'placement:usages': rule:a",
               "file:1: rule a: project_name:x never passes");
    check_note("'placement:usages': rule:is_admin",
               "file:1: rule placement:usages: refers to rule:is_admin, which is not defined");
    check_note("'baremetal:port:create': role:x", "rules in policy files whose operations berth "
                                                  "does not serve: baremetal:port:create");
    check_note("admin_api: role:admin", NULL);
    check_note("admin_api: role:admin or role:administrator", NULL);
    check_note("is_node_owner: project_id:%(node.owner)s",
               "rules in policy files that are equal to the defaults: is_node_owner");
    check_note("'baremetal:node:get': role:x",
               "file:1: the deprecated baremetal:node:get is overridden, which also applies to "
               "baremetal:node:get:driver_info");
    check_note("is_admin: rule:admin_api\nadmin_api: rule:is_admin",
               "file:1: rule is_admin: refers to itself");
}

static void scopes(void **state)
{
    (void)state;
    const unsigned project = POLICY_SCOPE_PROJECT;
    const unsigned others = POLICY_SCOPE_SYSTEM | POLICY_SCOPE_DOMAIN;
    const unsigned any = 0;
    const struct identity of_project = {.project_id = SLICE_LIT("p")};
    const struct identity of_system = {.system_scope = SLICE_LIT("all"),
                                       .domain_id = SLICE_LIT("d")};
    const struct identity of_domain = {.domain_id = SLICE_LIT("d")};
    assert_true(policy_scope_fits(project, &of_project));
    assert_true(policy_scope_fits(project, &(struct identity){0}));
    assert_false(policy_scope_fits(project, &of_system));
    assert_false(policy_scope_fits(project, &of_domain));
    assert_false(policy_scope_fits(others, &of_project));
    assert_true(policy_scope_fits(others, &of_system));
    assert_true(policy_scope_fits(others, &of_domain));
    assert_true(policy_scope_fits(any, &of_project));
    assert_true(policy_scope_fits(any, &of_system));
}

/* Every row is whole: a file that is made from the tables must be a file. */
static void the_tables(void **state)
{
    (void)state;
    for (unsigned service = 0; service < POLICY_SERVICE_COUNT; service++) {
        const struct policy_table *table = policy_table_of(service);
        size_t prefix = strlen(table->service);
        for (unsigned i = 0; i < table->count; i++) {
            const struct policy_default *row = &table->rows[i];
            assert_non_null(row->name);
            assert_ptr_equal(policy_table_find(table, slice_of(row->name)), row);
            assert_true(row->description != NULL && row->description[0] != '\0');
            bool is_operation = strncmp(row->name, table->service, prefix) == 0;
            assert_int_equal(row->operations[0].method != NULL, is_operation);
            assert_true(!row->unserved || (is_operation && i >= table->checked));
            for (unsigned o = 0; o < POLICY_OPERATIONS_MAX; o++)
                assert_true(row->operations[o].method == NULL || row->operations[o].path[0] == '/');
            if (i < table->checked)
                assert_string_equal(policy_rule_name(service, i + 1), row->name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overrides),         cmocka_unit_test(deprecated_rules),
        cmocka_unit_test(origins),           cmocka_unit_test(notes),
        cmocka_unit_test(notes_end),         cmocka_unit_test(notes_that_inform),
        cmocka_unit_test(too_many_rules),    cmocka_unit_test(services),
        cmocka_unit_test(notes_of_services), cmocka_unit_test(scopes),
        cmocka_unit_test(the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
