/* Why there are no candidates: every reason, each in a cloud where only that condition excludes
 * all. */
#include "scene.h"

/* Providers excluded by a condition of a group are counted until that condition leaves none. */
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

/* Searches, then discards the groups. */
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

/* What is known of one group, in both kinds of cloud, for both kinds of group. */
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
    require(scene, group(scene, suffix, "A", 11), "NOBODY");
    expect(scene, AC_NONE_CAPACITY);
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
        expect(scene, AC_NONE_IN_TREE); /* P2 is in a tree of its own */
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
    /* for the unsuffixed group, a root's aggregate is its tree's */
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
    /* A is on P1 and B on P2 below it: P2 is a subtree without both, and P1 is a subtree that has
     * both but is not chosen */
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
    /* a provider has Y, but none that has A */
    require(&scene, group(&scene, "", "A", 1), "Y");
    expect(&scene, AC_NONE_REQUIRED_TRAITS);
    group(&scene, "1", NULL, 0);
    expect(&scene, AC_NONE_NOTHING_REQUESTED);
    close_scene(&scene);
}

/* An unknown name after a group that matches nothing is not an error: the earlier group is
 * reported. */
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
        cmocka_unit_test(conditions_of_a_group),
        cmocka_unit_test(conditions_of_a_tree),
        cmocka_unit_test(conditions_of_groups_together),
        cmocka_unit_test(earlier_groups_first),
        cmocka_unit_test(names_are_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
