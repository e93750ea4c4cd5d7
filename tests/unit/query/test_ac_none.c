/* Why there are no candidates: every reason, each on a cloud where that condition alone is in the
 * way. */
#include <stdlib.h>

#include "query/ac_search.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "unit.h"

enum { CLASS_A = 1, CLASS_B, CLASS_C, CLASS_SHARED };
enum { TRAIT_X = 1, TRAIT_Y, TRAIT_NOBODY, TRAIT_SHARES };
enum { AGGREGATE_1 = 1, AGGREGATE_2 };

struct scene {
    struct arena *arena;
    struct replica *replica;
    struct edit *edit;
    struct change_list changes;
    const struct version *version;
    struct ac_request request;
    struct ac_group groups[4];
};

static void names(struct scene *scene, enum change_kind kind, const char *const *list)
{
    for (int64_t id = 1; list[id - 1] != NULL; id++)
        change_append(&scene->changes, kind)->catalog =
            (struct change_catalog){id, slice_of(list[id - 1])};
}

static void provider(struct scene *scene, int64_t id, int64_t parent)
{
    struct slice uuid = arena_printf(scene->arena, "P%d", (int)id);
    change_append(&scene->changes, CHANGE_PROVIDER_INSERT)->provider =
        (struct change_provider){id, parent, 0, 0, uuid, uuid};
}

static void inventory(struct scene *scene, int64_t id, int64_t class_id, int32_t total)
{
    change_append(&scene->changes, CHANGE_INVENTORY_INSERT)->inventory = (struct change_inventory){
        .provider_id = id,
        .class_id = class_id,
        .total = total,
        .min_unit = 1,
        .max_unit = total,
        .step_size = 1,
        .allocation_ratio = 1.0,
    };
}

static void link_to(struct scene *scene, enum change_kind kind, int64_t id, int64_t other)
{
    change_append(&scene->changes, kind)->link = (struct change_link){id, other};
}

/* Trees: P1 with P2 below it; P3 alone; P4 alone, which shares. P1 has class A and trait X and is
 * in aggregate 1, P2 has class B and trait Y, P3 has classes A and B and nothing else, P4 shares
 * class SHARED with aggregate 1. Nobody has class C or trait NOBODY, or is in aggregate 2. */
static void cloud(struct scene *scene)
{
    static const char *const CLASSES[] = {"A", "B", "C", "SHARED", NULL};
    static const char *const TRAITS[] = {"X", "Y", "NOBODY", "MISC_SHARES_VIA_AGGREGATE", NULL};
    static const char *const AGGREGATES[] = {"1", "2", NULL};
    names(scene, CHANGE_CLASS_INSERT, CLASSES);
    names(scene, CHANGE_TRAIT_INSERT, TRAITS);
    names(scene, CHANGE_AGGREGATE_INSERT, AGGREGATES);
    provider(scene, 1, 0);
    provider(scene, 2, 1);
    provider(scene, 3, 0);
    provider(scene, 4, 0);
    change_append(&scene->changes, CHANGE_LOAD_PROVIDERS_END);
    inventory(scene, 1, CLASS_A, 10);
    inventory(scene, 2, CLASS_B, 10);
    inventory(scene, 3, CLASS_A, 4);
    inventory(scene, 3, CLASS_B, 4);
    inventory(scene, 4, CLASS_SHARED, 100);
    link_to(scene, CHANGE_PROVIDER_TRAIT_INSERT, 1, TRAIT_X);
    link_to(scene, CHANGE_PROVIDER_TRAIT_INSERT, 2, TRAIT_Y);
    link_to(scene, CHANGE_PROVIDER_TRAIT_INSERT, 4, TRAIT_SHARES);
    link_to(scene, CHANGE_PROVIDER_AGGREGATE_INSERT, 1, AGGREGATE_1);
    link_to(scene, CHANGE_PROVIDER_AGGREGATE_INSERT, 4, AGGREGATE_1);
}

/* The same without nesting and sharing, where pages hold every filter. */
static void flat_cloud(struct scene *scene)
{
    static const char *const CLASSES[] = {"A", "B", "C", NULL};
    static const char *const TRAITS[] = {"X", "Y", "NOBODY", NULL};
    static const char *const AGGREGATES[] = {"1", "2", NULL};
    names(scene, CHANGE_CLASS_INSERT, CLASSES);
    names(scene, CHANGE_TRAIT_INSERT, TRAITS);
    names(scene, CHANGE_AGGREGATE_INSERT, AGGREGATES);
    provider(scene, 1, 0);
    provider(scene, 2, 0);
    change_append(&scene->changes, CHANGE_LOAD_PROVIDERS_END);
    inventory(scene, 1, CLASS_A, 10);
    inventory(scene, 2, CLASS_B, 10);
    link_to(scene, CHANGE_PROVIDER_TRAIT_INSERT, 1, TRAIT_X);
    link_to(scene, CHANGE_PROVIDER_AGGREGATE_INSERT, 1, AGGREGATE_1);
}

static void open_scene(struct scene *scene, void (*build)(struct scene *))
{
    *scene = (struct scene){.arena = arena_create(), .replica = replica_create()};
    scene->changes.arena = scene->arena;
    scene->edit = replica_edit_empty(scene->replica);
    build(scene);
    apply_changes(scene->edit, &scene->changes);
    struct version_stamp stamp = {{0}};
    replica_publish(scene->replica, scene->edit, &stamp);
    scene->version = replica_newest(scene->replica);
    scene->request =
        (struct ac_request){.groups = scene->groups, .limit = -1, .most = -1, .nested_aware = true};
}

static void close_scene(struct scene *scene)
{
    replica_destroy(scene->replica);
    arena_destroy(scene->arena);
}

static struct ac_names one(struct scene *scene, const char *name)
{
    struct ac_names list = {arena_array(scene->arena, 1, sizeof(struct slice)), 1};
    list.names[0] = slice_of(name);
    return list;
}

static struct ac_names *list_of(struct scene *scene, const char *name)
{
    struct ac_names *list = arena_array(scene->arena, 1, sizeof(*list));
    *list = one(scene, name);
    return list;
}

/* One more group; class NULL: resourceless. */
static struct ac_group *group(struct scene *scene, const char *suffix, const char *class_name,
                              int64_t amount)
{
    struct ac_group *made = &scene->groups[scene->request.group_count++];
    *made = (struct ac_group){.suffix = slice_of(suffix)};
    made->resources = arena_array(scene->arena, 2, sizeof(struct ac_resource));
    if (class_name != NULL)
        made->resources[made->resource_count++] =
            (struct ac_resource){slice_of(class_name), amount};
    return made;
}

static void require(struct scene *scene, struct ac_group *to, const char *trait)
{
    to->required = list_of(scene, trait);
    to->required_count = 1;
}

static void emit_nothing(void *cls, const struct ac_candidate *candidate)
{
    (void)candidate;
    ++*(unsigned *)cls;
}

/* Whoever falls by a condition of one group is counted until that condition leaves nobody. */
static void expect_counts(const struct ac_reason *reason)
{
    if (reason->none < AC_NONE_CAPACITY || reason->none > AC_NONE_IN_TREE ||
        reason->step_count == 0)
        return;
    const struct ac_step *last = &reason->steps[reason->step_count - 1];
    for (uint32_t i = 0; i + 1 < reason->step_count; i++)
        assert_true(reason->steps[i].providers > 0);
    if (reason->none != AC_NONE_REQUIRED_TRAITS || last->by == AC_NONE_REQUIRED_TRAITS) {
        assert_int_equal(last->by, reason->none);
        assert_int_equal(last->providers, 0);
    }
}

/* Asks, and forgets the groups. */
static void expect(struct scene *scene, enum ac_none want)
{
    struct budget budget = {.left = 1000000};
    struct err err = {.arena = scene->arena};
    struct ac_summaries summaries;
    struct ac_reason reason = {.none = AC_NONE_COUNT};
    unsigned found = 0;
    scene->request.counts = AC_COUNTS_ALWAYS;
    enum ac_outcome outcome = ac_search(scene->version, &scene->request, scene->arena, &budget,
                                        emit_nothing, &found, &summaries, &reason, &err);
    bool refused = want == AC_NONE_UNKNOWN_CLASS || want == AC_NONE_UNKNOWN_TRAIT;
    assert_int_equal(outcome, refused ? AC_REFUSED : AC_DONE);
    assert_string_equal(ac_none_name(reason.none), ac_none_name(want));
    assert_int_equal(found > 0, want == AC_NONE_FOUND_SOME);
    if (outcome == AC_DONE)
        expect_counts(&reason);
    scene->request =
        (struct ac_request){.groups = scene->groups, .limit = -1, .most = -1, .nested_aware = true};
}

/* What is known of one group, in either kind of cloud; and for either kind of group. */
static void one_group(struct scene *scene, const char *suffix)
{
    group(scene, suffix, "A", 1);
    expect(scene, AC_NONE_FOUND_SOME);
    group(scene, suffix, "UNHEARD_OF", 1);
    expect(scene, AC_NONE_UNKNOWN_CLASS);
    require(scene, group(scene, suffix, "A", 1), "UNHEARD_OF");
    expect(scene, AC_NONE_UNKNOWN_TRAIT);
    group(scene, suffix, "C", 1);
    expect(scene, AC_NONE_INVENTORY);
    group(scene, suffix, "A", 11);
    expect(scene, AC_NONE_CAPACITY);
    group(scene, suffix, "A", INT64_MAX);
    expect(scene, AC_NONE_CAPACITY);
    require(scene, group(scene, suffix, "A", 1), "NOBODY");
    expect(scene, AC_NONE_REQUIRED_TRAITS);
    group(scene, suffix, "A", 5)->forbidden = one(scene, "X");
    expect(scene, AC_NONE_FORBIDDEN_TRAITS);
    struct ac_group *asked = group(scene, suffix, "A", 5);
    asked->member_of = list_of(scene, "2");
    asked->member_of_count = 1;
    expect(scene, AC_NONE_MEMBER_OF);
    asked = group(scene, suffix, "A", 5);
    asked->member_of = list_of(scene, "nowhere");
    asked->member_of_count = 1;
    expect(scene, AC_NONE_MEMBER_OF);
    group(scene, suffix, "A", 5)->forbidden_aggregates = one(scene, "1");
    expect(scene, AC_NONE_FORBIDDEN_AGGREGATES);
    group(scene, suffix, "A", 1)->in_tree = SLICE_LIT("UNHEARD_OF");
    expect(scene, AC_NONE_IN_TREE);
    group(scene, suffix, "B", 5)->in_tree = SLICE_LIT("P1");
    if (scene->version->nested_count == 0)
        expect(scene, AC_NONE_IN_TREE); /* P2 is a tree of its own */
    else
        expect(scene, AC_NONE_FOUND_SOME);
    group(scene, suffix, "A", 5);
    scene->request.root_required = one(scene, "Y");
    expect(scene, AC_NONE_ROOT_TRAITS);
    group(scene, suffix, "A", 5);
    scene->request.root_forbidden = one(scene, "X");
    expect(scene, AC_NONE_ROOT_TRAITS);
    group(scene, suffix, "A", 1);
    scene->request.most = 0;
    expect(scene, AC_NONE_LIMIT);
}

static void conditions_of_a_group(void **state)
{
    (void)state;
    static void (*const BUILDERS[])(struct scene *) = {cloud, flat_cloud};
    for (unsigned i = 0; i < 2; i++) {
        struct scene scene;
        open_scene(&scene, BUILDERS[i]);
        one_group(&scene, "");
        one_group(&scene, "1");
        close_scene(&scene);
    }
}

/* Asks with counts as given; they are compared with `want`, which ends with -1. */
static void expect_steps(struct scene *scene, enum ac_counts counts, const int *want)
{
    struct budget budget = {.left = 1000000};
    struct err err = {.arena = scene->arena};
    struct ac_summaries summaries;
    struct ac_reason reason;
    unsigned found = 0;
    scene->request.counts = counts;
    assert_int_equal(ac_search(scene->version, &scene->request, scene->arena, &budget, emit_nothing,
                               &found, &summaries, &reason, &err),
                     AC_DONE);
    uint32_t count = 0;
    for (; want[count] >= 0; count++) {
        assert_true(count < reason.step_count);
        assert_int_equal(reason.steps[count].providers, want[count]);
    }
    assert_int_equal(reason.step_count, count);
    scene->request =
        (struct ac_request){.groups = scene->groups, .limit = -1, .most = -1, .nested_aware = true};
}

static void counts_of_conditions(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene, cloud);
    require(&scene, group(&scene, "1", "A", 1), "X");
    expect_steps(&scene, AC_COUNTS_ALWAYS, (const int[]){2, 1, -1});
    require(&scene, group(&scene, "1", "A", 1), "X");
    expect_steps(&scene, AC_COUNTS_IF_NONE, (const int[]){-1});
    group(&scene, "1", "A", 11);
    expect_steps(&scene, AC_COUNTS_NEVER, (const int[]){-1});
    group(&scene, "1", "A", 11);
    expect_steps(&scene, AC_COUNTS_IF_NONE, (const int[]){0, -1});
    /* two of P1 and P3 have A, one of them 5 of it; each resource of the unsuffixed group begins
     * anew, and nothing behind the first that nobody has is counted */
    struct ac_group *asked = group(&scene, "", "A", 1);
    asked->resources[asked->resource_count++] = (struct ac_resource){SLICE_LIT("B"), 5};
    group(&scene, "1", "B", 11);
    group(&scene, "2", "A", 1);
    expect_steps(&scene, AC_COUNTS_IF_NONE, (const int[]){2, 1, 0, -1});
    /* in one granular group they add up: P1 alone has 5 of A, and has no B */
    asked = group(&scene, "1", "A", 5);
    asked->resources[asked->resource_count++] = (struct ac_resource){SLICE_LIT("B"), 1};
    expect_steps(&scene, AC_COUNTS_IF_NONE, (const int[]){1, 0, -1});
    /* without a resource, only what somebody can meet is counted */
    asked = group(&scene, "1", NULL, 0);
    asked->forbidden = one(&scene, "X");
    asked->member_of = list_of(&scene, "1");
    asked->member_of_count = 1;
    asked->forbidden_aggregates = one(&scene, "1");
    expect_steps(&scene, AC_COUNTS_IF_NONE, (const int[]){1, 0, -1});
    close_scene(&scene);
}

static void conditions_of_a_tree(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene, cloud);
    /* the amounts decide in which tree each is */
    group(&scene, "", "A", 5);
    group(&scene, "1", "B", 5);
    scene.groups[1].in_tree = SLICE_LIT("P1");
    expect(&scene, AC_NONE_FOUND_SOME);
    group(&scene, "", "A", 5);
    group(&scene, "1", "B", 1)->in_tree = SLICE_LIT("P3");
    expect(&scene, AC_NONE_ONE_TREE);
    group(&scene, "", "SHARED", 1);
    require(&scene, group(&scene, "1", "A", 1), "X");
    expect(&scene, AC_NONE_FOUND_SOME);
    group(&scene, "", "SHARED", 1);
    group(&scene, "1", "A", 1)->in_tree = SLICE_LIT("P3");
    expect(&scene, AC_NONE_SHARING);
    /* a root's aggregate is its tree's, for the unsuffixed group */
    struct ac_group *asked = group(&scene, "", "B", 5);
    asked->member_of = list_of(&scene, "1");
    asked->member_of_count = 1;
    expect(&scene, AC_NONE_FOUND_SOME);
    asked = group(&scene, "1", "B", 5);
    asked->member_of = list_of(&scene, "1");
    asked->member_of_count = 1;
    expect(&scene, AC_NONE_MEMBER_OF);
    group(&scene, "", "B", 5)->forbidden_aggregates = one(&scene, "1");
    expect(&scene, AC_NONE_FORBIDDEN_AGGREGATES);
    close_scene(&scene);
}

static void conditions_of_groups_together(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene, cloud);
    group(&scene, "1", "A", 6);
    group(&scene, "2", "A", 6);
    expect(&scene, AC_NONE_SUMS);
    group(&scene, "1", "A", 1)->in_tree = SLICE_LIT("P1");
    group(&scene, "2", "A", 1)->in_tree = SLICE_LIT("P1");
    scene.request.isolate = true;
    expect(&scene, AC_NONE_GROUP_POLICY);
    /* A is on P1 and B on P2 below it: P2 is no subtree that has both, P1 is one that is not chosen
     */
    struct ac_names both = {(struct slice[]){SLICE_LIT("1"), SLICE_LIT("2")}, 2};
    group(&scene, "1", "A", 5);
    group(&scene, "2", "B", 5);
    scene.request.same_subtrees = &both;
    scene.request.same_subtree_count = 1;
    expect(&scene, AC_NONE_FOUND_SOME);
    group(&scene, "1", "A", 5);
    group(&scene, "2", "B", 5);
    scene.request.nested_aware = false;
    expect(&scene, AC_NONE_ONE_PROVIDER);
    /* the shared disk is in no subtree of P1 */
    group(&scene, "1", "A", 5);
    group(&scene, "2", "SHARED", 5);
    scene.request.same_subtrees = &both;
    scene.request.same_subtree_count = 1;
    expect(&scene, AC_NONE_SAME_SUBTREE);
    /* somebody has Y, but nobody who gives of A */
    require(&scene, group(&scene, "", "A", 1), "Y");
    expect(&scene, AC_NONE_REQUIRED_TRAITS);
    group(&scene, "1", NULL, 0);
    expect(&scene, AC_NONE_NOTHING_ASKED);
    close_scene(&scene);
}

/* An unknown name behind a group that matches nobody is no error: the earlier group is told. */
static void earlier_groups_first(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene, cloud);
    group(&scene, "", "A", 11);
    group(&scene, "1", "UNHEARD_OF", 1);
    expect(&scene, AC_NONE_CAPACITY);
    group(&scene, "", "A", 1)->in_tree = SLICE_LIT("UNHEARD_OF");
    group(&scene, "1", "UNHEARD_OF", 1);
    expect(&scene, AC_NONE_IN_TREE);
    group(&scene, "1", "UNHEARD_OF", 1);
    scene.request.root_required = one(&scene, "NOBODY");
    expect(&scene, AC_NONE_ROOT_TRAITS);
    struct ac_group *asked = group(&scene, "1", "A", 1);
    asked->member_of = list_of(&scene, "2");
    asked->member_of_count = 1;
    require(&scene, asked, "UNHEARD_OF");
    expect(&scene, AC_NONE_MEMBER_OF);
    group(&scene, "1", "C", 1);
    group(&scene, "2", "A", 11);
    expect(&scene, AC_NONE_INVENTORY);
    close_scene(&scene);
}

static void names_are_distinct(void **state)
{
    (void)state;
    for (int i = 1; i < AC_NONE_COUNT; i++) {
        assert_true(ac_none_name((enum ac_none)i)[0] != '\0');
        for (int j = 0; j < i; j++)
            assert_string_not_equal(ac_none_name((enum ac_none)i), ac_none_name((enum ac_none)j));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_of_a_group), cmocka_unit_test(counts_of_conditions),
        cmocka_unit_test(conditions_of_a_tree),  cmocka_unit_test(conditions_of_groups_together),
        cmocka_unit_test(earlier_groups_first),  cmocka_unit_test(names_are_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
