/* The number of providers that each condition of a group leaves. */
#include "scene.h"

/* Enough slots for two pages; too many for the budget. */
enum { TREES = 2100, TOO_MANY_TREES = 10000 };

/* Its group, and for a resource, which of the group's. */
static void assert_step_is_of_the_request(const struct scene *scene, const struct ac_step *step)
{
    assert_in_range(step->group - scene->groups, 0, scene->request.group_count - 1);
    assert_int_equal(step->resource != NULL, step->by == AC_NONE_CAPACITY);
    if (step->resource != NULL)
        assert_in_range(step->resource - step->group->resources, 0,
                        step->group->resource_count - 1);
}

/* Forgets the groups. */
static void ask(struct scene *scene, enum ac_counts counts, struct ac_reason *reason)
{
    struct budget budget = {.left = 100000000};
    struct err err = {.arena = scene->arena};
    struct ac_summaries summaries;
    unsigned found = 0;
    scene->request.counts = counts;
    assert_int_equal(ac_search(scene->version, &scene->request, scene->arena, &budget, emit_nothing,
                               &found, &summaries, reason, &err),
                     AC_DONE);
    for (uint32_t i = 0; i < reason->step_count; i++)
        assert_step_is_of_the_request(scene, &reason->steps[i]);
    scene->request =
        (struct ac_request){.groups = scene->groups, .limit = -1, .most = -1, .nested_aware = true};
}

/* Searches with the given counts, which are compared with `want`, ended by -1. */
static void expect_steps(struct scene *scene, enum ac_counts counts, const int *want)
{
    struct ac_reason reason;
    uint32_t count = 0;
    ask(scene, counts, &reason);
    for (; want[count] >= 0; count++) {
        assert_true(count < reason.step_count);
        assert_int_equal(reason.steps[count].providers, want[count]);
    }
    assert_int_equal(reason.step_count, count);
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
    /* P1 and P3 have A, one of them 5 of it; each resource of the unsuffixed group is counted from
     * all providers, and nothing is counted after the first resource that no provider has */
    struct ac_group *asked = group(&scene, "", "A", 1);
    asked->resources[asked->resource_count++] = (struct ac_resource){SLICE_LIT("B"), 5};
    group(&scene, "1", "B", 11);
    group(&scene, "2", "A", 1);
    expect_steps(&scene, AC_COUNTS_IF_NONE, (const int[]){2, 1, 0, -1});
    /* in one granular group they combine: only P1 has 5 of A, and it has no B */
    asked = group(&scene, "1", "A", 5);
    asked->resources[asked->resource_count++] = (struct ac_resource){SLICE_LIT("B"), 1};
    expect_steps(&scene, AC_COUNTS_IF_NONE, (const int[]){1, 0, -1});
    asked = group(&scene, "1", "A", 5);
    asked->resources[asked->resource_count++] = (struct ac_resource){SLICE_LIT("B"), 1};
    struct ac_reason reason;
    ask(&scene, AC_COUNTS_IF_NONE, &reason);
    for (uint32_t i = 0; i < 2; i++)
        assert_ptr_equal(reason.steps[i].resource, &asked->resources[i]);
    /* without a resource, only a condition that some provider can meet is counted */
    asked = group(&scene, "1", NULL, 0);
    asked->forbidden = one(&scene, "X");
    asked->member_of = list_of(&scene, "1");
    asked->member_of_count = 1;
    asked->forbidden_aggregates = one(&scene, "1");
    expect_steps(&scene, AC_COUNTS_IF_NONE, (const int[]){1, 0, -1});
    /* and neither is anything else of the same group */
    require(&scene, group(&scene, "1", "A", 11), "X");
    expect_steps(&scene, AC_COUNTS_IF_NONE, (const int[]){0, -1});
    close_scene(&scene);
}

static void trees(struct scene *scene)
{
    scene_trees(scene, TREES);
}

static void too_many_trees(struct scene *scene)
{
    scene_trees(scene, TOO_MANY_TREES);
}

static struct ac_group *in_aggregate(struct scene *scene, const char *suffix, const char *name)
{
    struct ac_group *asked = group(scene, suffix, "A", 1);
    asked->member_of = list_of(scene, name);
    asked->member_of_count = 1;
    return asked;
}

/* In the unsuffixed group, an aggregate of the root is one of its whole tree; a forbidden trait
 * concerns each provider itself, and a required one may be any provider's of the tree. */
static void counts_in_trees(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene, trees);
    const int thirds = TREES / 3;
    const int fifths = TREES / 5;
    const int both = TREES / 15;
    in_aggregate(&scene, "", "1");
    expect_steps(&scene, AC_COUNTS_ALWAYS,
                 (const int[]){2 * TREES, thirds + thirds + fifths - both, -1});
    group(&scene, "", "A", 1)->forbidden_aggregates = one(&scene, "1");
    expect_steps(&scene, AC_COUNTS_ALWAYS,
                 (const int[]){2 * TREES, TREES - thirds + TREES - thirds - fifths + both, -1});
    group(&scene, "", "A", 1)->forbidden = one(&scene, "X");
    expect_steps(&scene, AC_COUNTS_ALWAYS, (const int[]){2 * TREES, TREES / 2 + TREES, -1});
    require(&scene, group(&scene, "", "A", 1), "X");
    expect_steps(&scene, AC_COUNTS_ALWAYS, (const int[]){2 * TREES, -1});
    /* in a granular group, everything concerns the provider itself */
    in_aggregate(&scene, "1", "1");
    expect_steps(&scene, AC_COUNTS_ALWAYS, (const int[]){2 * TREES, thirds + fifths, -1});
    group(&scene, "1", "A", 1)->forbidden_aggregates = one(&scene, "1");
    expect_steps(&scene, AC_COUNTS_ALWAYS,
                 (const int[]){2 * TREES, 2 * TREES - thirds - fifths, -1});
    require(&scene, group(&scene, "1", "A", 1), "X");
    expect_steps(&scene, AC_COUNTS_ALWAYS, (const int[]){2 * TREES, TREES / 2, -1});
    group(&scene, "", "A", 1)->in_tree = SLICE_LIT("P9");
    expect_steps(&scene, AC_COUNTS_ALWAYS, (const int[]){2 * TREES, 2, -1});
    close_scene(&scene);
}

static void expect_reason(struct scene *scene, enum ac_none none, uint32_t step_count)
{
    struct ac_reason reason;
    ask(scene, AC_COUNTS_ALWAYS, &reason);
    assert_string_equal(ac_none_name(reason.none), ac_none_name(none));
    assert_int_equal(reason.step_count, step_count);
}

/* The search for the condition and the count have a part of the budget each; what does not fit is
 * left out. */
static void work_is_bounded(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene, trees);
    in_aggregate(&scene, "", "2");
    expect_reason(&scene, AC_NONE_MEMBER_OF, 2);
    close_scene(&scene);
    open_scene(&scene, too_many_trees);
    in_aggregate(&scene, "", "2");
    expect_reason(&scene, AC_NONE_NOT_KNOWN, 0);
    in_aggregate(&scene, "", "1");
    expect_reason(&scene, AC_NONE_FOUND_SOME, 0);
    close_scene(&scene);
}

/* Where each tree is one provider, a required trait is that provider's own, in any group. */
static void required_traits_in_a_flat_cloud(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene, flat_cloud);
    require(&scene, group(&scene, "", "B", 1), "X");
    expect_reason(&scene, AC_NONE_REQUIRED_TRAITS, 2);
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_conditions),
        cmocka_unit_test(counts_in_trees),
        cmocka_unit_test(work_is_bounded),
        cmocka_unit_test(required_traits_in_a_flat_cloud),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
