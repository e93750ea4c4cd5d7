/* The table of the spec (baremetal-allocations spec, 7), and where berth decides differently from
 * Ironic. tests/policy/access.py compares everything else with Ironic. */
#include <stdio.h>

#include "auth/noauth.h"
#include "baremetal/api/access.h"
#include "policy/keeper.h"
#include "policy/policy_of.h"

enum { OLD = 0, NEW = 1 };

static const struct slice NAMES[] = {SLICE_LIT("reader"), SLICE_LIT("member"), SLICE_LIT("manager"),
                                     SLICE_LIT("admin")};
enum role { NO_ROLE, READER, MEMBER, MANAGER, ADMIN };

static struct identity in_project(enum role role, struct slice project)
{
    return (struct identity){.project_id = project, .roles = {NAMES, role}};
}

static struct identity in_system(enum role role)
{
    return (struct identity){.system_scope = SLICE_LIT("all"), .roles = {NAMES, role}};
}

static struct identity in_domain(enum role role)
{
    return (struct identity){.domain_id = SLICE_LIT("d"), .roles = {NAMES, role}};
}

/* The caller and target of the checks. */
struct scene {
    struct policy_keeper *keeper;
    struct access access;
    struct err err;
};

static void scene_begin(struct scene *scene, const char *file, bool new_defaults,
                        const struct identity *identity)
{
    const struct policy_options options = {.enforce_new_defaults = new_defaults};
    scene->keeper = policy_keeper_of(policy_of(&options, file));
    scene->err = (struct err){.arena = arena_create()};
    access_begin(&scene->access, scene->keeper, identity, false);
}

static void scene_end(struct scene *scene)
{
    policy_keeper_close(scene->keeper);
    arena_destroy(scene->err.arena);
}

/* Status of POST with this owner and the owner that it gets, "201 p1", or the rule of the 403. */
static void check_create(const char *file, bool new_defaults, struct identity identity,
                         const char *owner, const char *expected)
{
    struct scene scene;
    struct access_creation creation;
    char shown[120];
    struct slice named = owner == NULL ? (struct slice){0} : slice_of(owner);
    scene_begin(&scene, file, new_defaults, &identity);
    if (access_allocation_create(&scene.access, named, &creation, &scene.err))
        snprintf(shown, sizeof(shown), "201 %.*s of %.*s", SLICE_ARG(creation.owner),
                 SLICE_ARG(creation.candidates_of));
    else
        snprintf(shown, sizeof(shown), "%d %.*s", scene.err.status, SLICE_ARG(scene.err.message));
    assert_string_equal(shown, expected);
    scene_end(&scene);
}

#define P1         SLICE_LIT("p1")
#define P2         SLICE_LIT("p2")
#define WORDS      "Access was denied to the following resource: baremetal:"
#define DENIED     "403 " WORDS
#define RESTRICTED DENIED "allocation:create_restricted"

static void creating_allocations(void **state)
{
    (void)state;
    check_create("", NEW, in_system(MEMBER), NULL, "201  of ");
    check_create("", NEW, in_system(READER), NULL, RESTRICTED);
    check_create("", NEW, in_project(MEMBER, P1), NULL, "201 p1 of p1");
    check_create("", NEW, in_project(READER, P1), NULL, RESTRICTED);
    check_create("", NEW, in_project(MEMBER, P2), NULL, "201 p2 of p2");
    check_create("", NEW, in_system(MEMBER), "p1", "201 p1 of ");
    check_create("", NEW, in_system(READER), "p1", RESTRICTED);
    check_create("", NEW, in_project(MEMBER, P1), "p1", "201 p1 of p1");
    check_create("", NEW, in_project(MEMBER, P2), "p1", RESTRICTED);
    check_create("", NEW, in_project(NO_ROLE, P1), NULL, RESTRICTED);
    check_create("", NEW, in_project(READER, P2), "p1", DENIED "allocation:create");
    /* A domain does not count as a project. */
    check_create("", NEW, in_domain(MEMBER), NULL, RESTRICTED);
    /* By the old rules an admin of any project creates allocations of any owner; others get their
     * own project. */
    check_create("", OLD, in_project(ADMIN, P1), NULL, "201  of ");
    check_create("", OLD, in_project(ADMIN, P1), "p2", "201 p2 of ");
    check_create("", OLD, in_project(MEMBER, P1), NULL, "201 p1 of ");
    check_create("", OLD, in_project(READER, P1), "p1", DENIED "allocation:create_pre_rbac");
    check_create("", OLD, in_project(READER, P1), "p2", DENIED "allocation:create");
    /* By default. */
    static const char CLOSED[] = "'baremetal:allocation:create_restricted': '!'";
    check_create(CLOSED, OLD, in_project(MEMBER, P1), NULL, RESTRICTED);
    check_create(CLOSED, OLD, in_project(MEMBER, P1), "p1", "201 p1 of p1");
    check_create(CLOSED, OLD, in_project(MEMBER, P1), "p2", RESTRICTED);
    check_create(CLOSED, NEW, in_system(MEMBER), "p2", RESTRICTED);
    check_create("'baremetal:allocation:create': '!'", NEW, in_system(MEMBER), "p2", "201 p2 of ");
}

/* "all", "its", or 0: a 403. */
static void check_list(struct identity identity, const char *wanted, const char *expected)
{
    struct scene scene;
    struct slice project;
    scene_begin(&scene, "", NEW, &identity);
    struct slice filter = wanted == NULL ? (struct slice){0} : slice_of(wanted);
    if (access_list(&scene.access, ACCESS_ALLOCATIONS, filter, &project, &scene.err))
        assert_true(slice_equal(project, slice_of(expected)));
    else
        assert_true(expected[0] == '4' && slice_equal(scene.err.message, slice_of(expected + 4)));
    scene_end(&scene);
}

static void listing_allocations(void **state)
{
    (void)state;
    check_list(in_system(MEMBER), NULL, "");
    check_list(in_system(READER), NULL, "");
    check_list(in_project(MEMBER, P1), NULL, "p1");
    check_list(in_project(READER, P2), NULL, "p2");
    check_list(in_system(READER), "p1", "p1");
    check_list(in_project(READER, P1), "p1", "p1");
    check_list(in_project(READER, P2), "p1", DENIED "allocation:list_all");
    check_list(in_project(NO_ROLE, P1), NULL, DENIED "allocation:list");
}

static void check_allocation(struct identity identity, enum policy_baremetal_rule rule,
                             const char *owner, int expected)
{
    struct scene scene;
    scene_begin(&scene, "", NEW, &identity);
    struct slice of = owner == NULL ? (struct slice){0} : slice_of(owner);
    static const int STATUS[] = {
        [ACCESS_ALLOWED] = 200, [ACCESS_REFUSED] = 403, [ACCESS_HIDDEN] = 404};
    enum access_verdict verdict = access_allocation(&scene.access, rule, of, &scene.err);
    assert_int_equal(STATUS[verdict], expected);
    assert_int_equal(scene.err.status, expected == 403 ? 403 : 0);
    scene_end(&scene);
}

static void changing_allocations(void **state)
{
    (void)state;
    static const struct {
        enum policy_baremetal_rule rule;
        const char *owner;
        int status[5]; /* system member, system reader, p1 member, p1 reader, p2 member */
    } ROWS[] = {
        {POLICY_NODE_ALLOCATION_GET, "p1", {200, 200, 200, 200, 404}},
        {POLICY_NODE_ALLOCATION_GET, NULL, {200, 200, 404, 404, 404}},
        {POLICY_NODE_ALLOCATION_UPDATE, "p1", {200, 403, 200, 403, 404}},
        {POLICY_NODE_ALLOCATION_DELETE, "p1", {200, 403, 200, 403, 404}},
        {POLICY_NODE_ALLOCATION_DELETE, NULL, {200, 403, 404, 404, 404}},
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        const struct identity who[5] = {in_system(MEMBER), in_system(READER),
                                        in_project(MEMBER, P1), in_project(READER, P1),
                                        in_project(MEMBER, P2)};
        for (unsigned w = 0; w < 5; w++)
            check_allocation(who[w], ROWS[i].rule, ROWS[i].owner, ROWS[i].status[w]);
    }
    /* A missing project does not equal a missing owner. */
    check_allocation(in_domain(ADMIN), POLICY_NODE_ALLOCATION_GET, NULL, 404);
}

static void nodes(void **state)
{
    (void)state;
    const struct access_node leased = {P2, P1};
    const struct access_node free = {{0}, {0}};
    struct identity reader = in_project(READER, P1);
    struct identity domain = in_domain(ADMIN);
    struct scene scene;
    scene_begin(&scene, "", NEW, &reader);
    assert_true(access_node_passes(&scene.access, POLICY_NODE_GET, &leased));
    assert_int_equal(access_node(&scene.access, POLICY_NODE_GET, &free, &scene.err), ACCESS_HIDDEN);
    assert_int_equal(access_node_delete(&scene.access, &free, &scene.err), ACCESS_HIDDEN);
    assert_false(err_is_set(&scene.err));
    assert_int_equal(access_node_delete(&scene.access, &leased, &scene.err), ACCESS_REFUSED);
    assert_string_equal(scene.err.message.data, WORDS "node:delete:self_owned_node");
    unsigned masks = access_node_masks(&scene.access, access_masks(&scene.access, NULL), &leased);
    assert_int_equal(masks, ACCESS_DRIVER_SECRETS | ACCESS_INSTANCE_SECRETS | ACCESS_FILTERED |
                                ACCESS_LAST_ERROR | ACCESS_RESERVATION |
                                ACCESS_DRIVER_INTERNAL_INFO | ACCESS_DRIVER_INFO);
    scene_end(&scene);
    scene_begin(&scene, "", NEW, &domain);
    assert_int_equal(access_node(&scene.access, POLICY_NODE_GET, &free, &scene.err), ACCESS_HIDDEN);
    scene_end(&scene);
}

static void check_create_node(bool new_defaults, struct identity identity, const char *owner,
                              const char *expected)
{
    struct scene scene;
    struct slice effective;
    char shown[120];
    struct slice named = owner == NULL ? (struct slice){0} : slice_of(owner);
    scene_begin(&scene, "", new_defaults, &identity);
    if (access_node_create(&scene.access, named, &effective, &scene.err))
        snprintf(shown, sizeof(shown), "201 %.*s", SLICE_ARG(effective));
    else
        snprintf(shown, sizeof(shown), "%d %.*s", scene.err.status, SLICE_ARG(scene.err.message));
    assert_memory_equal(shown, expected, strlen(expected));
    scene_end(&scene);
}

static void creating_nodes(void **state)
{
    (void)state;
    check_create_node(NEW, in_system(ADMIN), NULL, "201 ");
    check_create_node(NEW, in_system(ADMIN), "p1", "201 p1");
    check_create_node(NEW, in_system(MEMBER), NULL, DENIED "node:create");
    check_create_node(NEW, in_project(ADMIN, P1), NULL, "201 p1");
    check_create_node(NEW, in_project(ADMIN, P1), "p1", "201 p1");
    check_create_node(NEW, in_project(ADMIN, P1), "p2", "400 ");
    check_create_node(NEW, in_project(MEMBER, P1), NULL, DENIED "node:create");
    check_create_node(NEW, in_domain(ADMIN), NULL, DENIED "node:create");
    check_create_node(OLD, in_project(ADMIN, P1), "p2", "201 p2");
}

static void patches(void **state)
{
    (void)state;
    static const struct {
        struct slice path;
        enum policy_baremetal_rule rule;
    } PATHS[] = {
        {SLICE_LIT("/extra"), POLICY_NODE_UPDATE_EXTRA},
        {SLICE_LIT("/extra/a"), POLICY_NODE_UPDATE_EXTRA},
        {SLICE_LIT("/driver"), POLICY_NODE_UPDATE_DRIVER_INTERFACES},
        {SLICE_LIT("/driver_info/x"), POLICY_NODE_UPDATE_DRIVER_INFO},
        {SLICE_LIT("/raid_interface"), POLICY_NODE_UPDATE_DRIVER_INTERFACES},
        {SLICE_LIT("/firmware_interface"), POLICY_NODE_UPDATE},
        {SLICE_LIT("/retired_reason"), POLICY_NODE_UPDATE_RETIRED},
        {SLICE_LIT("/automated_clean"), POLICY_NODE_UPDATE},
        {SLICE_LIT("/resource_class"), POLICY_NODE_UPDATE},
        {SLICE_LIT(""), POLICY_NODE_UPDATE},
    };
    for (size_t i = 0; i < sizeof(PATHS) / sizeof(PATHS[0]); i++)
        assert_int_equal(access_rule_of_patch(PATHS[i].path, false), PATHS[i].rule);
    assert_int_equal(access_rule_of_patch(SLICE_LIT("/automated_clean"), true),
                     POLICY_NODE_DISABLE_CLEANING);
    /* The lessee's member may change extra, not driver_info; the first rule that fails is reported.
     */
    static const enum policy_baremetal_rule RULES[] = {
        POLICY_NODE_UPDATE, POLICY_NODE_UPDATE_DRIVER_INFO, POLICY_NODE_UPDATE_NAME};
    const struct access_node leased = {P2, P1};
    struct identity member = in_project(MEMBER, P1);
    struct scene scene;
    scene_begin(&scene, "'baremetal:node:update': '!'\n'baremetal:node:update_extra': '@'", NEW,
                &member);
    static const enum policy_baremetal_rule EXTRA = POLICY_NODE_UPDATE_EXTRA;
    assert_int_equal(access_node_patch(&scene.access, &leased, &EXTRA, 1, &scene.err),
                     ACCESS_ALLOWED);
    assert_int_equal(access_node_patch(&scene.access, &leased, RULES, 3, &scene.err),
                     ACCESS_REFUSED);
    assert_string_equal(scene.err.message.data, WORDS "node:update:driver_info");
    struct err none = {.arena = scene.err.arena};
    assert_int_equal(access_node_patch(&scene.access, &leased, NULL, 0, &none), ACCESS_REFUSED);
    assert_string_equal(none.message.data, WORDS "node:update");
    scene_end(&scene);
}

/* The identity without authentication passes every rule of the table individually, too. */
static void without_authentication(void **state)
{
    (void)state;
    struct identity everybody = noauth_admin_identity();
    const struct access_node node = {P2, P1};
    for (unsigned setting = OLD; setting <= NEW; setting++) {
        struct scene scene;
        scene_begin(&scene, "show_password: rule:is_admin\n", setting, &everybody);
        for (unsigned rule = POLICY_BAREMETAL_NONE + 1; rule < POLICY_BAREMETAL_COUNT; rule++)
            if (rule != POLICY_NODE_DELETE_SELF_OWNED && rule != POLICY_SHOW_INSTANCE_SECRETS)
                assert_true(access_node_passes(&scene.access, rule, &node));
        access_begin(&scene.access, scene.keeper, &everybody, true);
        for (unsigned rule = POLICY_BAREMETAL_NONE + 1; rule < POLICY_BAREMETAL_COUNT; rule++) {
            bool is_secret = rule == POLICY_SHOW_PASSWORD || rule == POLICY_SHOW_INSTANCE_SECRETS;
            assert_int_equal(access_node_passes(&scene.access, rule, &node), !is_secret);
        }
        scene_end(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creating_allocations),   cmocka_unit_test(listing_allocations),
        cmocka_unit_test(changing_allocations),   cmocka_unit_test(nodes),
        cmocka_unit_test(creating_nodes),         cmocka_unit_test(patches),
        cmocka_unit_test(without_authentication),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
