/* What it costs to find why there are no candidates, in counted steps: all of it is charged, it is
 * bounded, and a request on the slow lane has its turns meanwhile. */
#include "scene.h"
#include "steps.h"

enum {
    FEW_TREES = 1000,
    MANY_TREES = 20000,
    ENOUGH = 100000000,
    STEPS_A_CHARGE = 40,
    OF_A_PAGE = 1000, /* what a page that has been begun may cost beyond the bound */
    SLICE = 5000,
};

static void few_trees(struct scene *scene)
{
    scene_trees(scene, FEW_TREES);
}

static void many_trees(struct scene *scene)
{
    scene_trees(scene, MANY_TREES);
}

/* Members of an aggregate that has none: each provider and its root are looked at. */
static enum ac_outcome search(struct scene *scene, struct budget *budget, struct ac_reason *reason)
{
    struct err err = {.arena = scene->arena};
    struct ac_summaries summaries;
    unsigned found = 0;
    struct ac_group *asked = group(scene, "", "A", 1);
    asked->member_of = list_of(scene, "2");
    asked->member_of_count = 1;
    scene->request.counts = AC_COUNTS_ALWAYS;
    enum ac_outcome outcome = ac_search(scene->version, &scene->request, scene->arena, budget,
                                        emit_nothing, &found, &summaries, reason, &err);
    assert_int_equal(found, 0);
    scene->request =
        (struct ac_request){.groups = scene->groups, .limit = -1, .most = -1, .nested_aware = true};
    return outcome;
}

struct cost {
    int64_t charged;
    uint64_t steps;
};

static struct cost cost_of(struct scene *scene, struct ac_reason *reason)
{
    struct budget budget = {.left = ENOUGH};
    uint64_t before = steps_now();
    assert_int_equal(search(scene, &budget, reason), AC_DONE);
    return (struct cost){ENOUGH - budget.left, steps_since(before)};
}

static void assert_charged(void (*build)(struct scene *), enum ac_none none)
{
    struct scene scene;
    struct ac_reason reason;
    open_scene(&scene, build);
    struct cost without = cost_of(&scene, NULL);
    struct cost with = cost_of(&scene, &reason);
    assert_string_equal(ac_none_name(reason.none), ac_none_name(none));
    int64_t charged = with.charged - without.charged;
    uint64_t steps = with.steps - without.steps;
    assert_true(with.steps > without.steps);
    print_message("charged %lld for %llu steps\n", (long long)charged, (unsigned long long)steps);
    assert_in_range(charged, 1, AC_REASON_STEPS_MOST + OF_A_PAGE);
    assert_in_range(steps, charged / 4, charged * STEPS_A_CHARGE);
    close_scene(&scene);
}

static void all_is_charged_and_bounded(void **state)
{
    (void)state;
    assert_charged(few_trees, AC_NONE_MEMBER_OF);
    assert_charged(many_trees, AC_NONE_NOT_KNOWN);
}

/* The lane's looks, of which the last ends the request. */
struct looks {
    unsigned count;
    unsigned end_at; /* 0: none ends it */
    uint64_t last;   /* steps_now() */
    uint64_t widest; /* steps from one to the next */
};

static bool look(void *cls)
{
    struct looks *looks = cls;
    uint64_t steps = steps_now() - looks->last;
    looks->widest = steps > looks->widest ? steps : looks->widest;
    looks->last = steps_now();
    return ++looks->count == looks->end_at;
}

static enum ac_outcome search_slowly(struct scene *scene, struct looks *looks,
                                     struct ac_reason *reason)
{
    struct budget budget = {.left = SLICE, .refill = SLICE, .cancelled = look, .cls = looks};
    looks->last = steps_now();
    return search(scene, &budget, reason);
}

static void turns_are_taken(void **state)
{
    (void)state;
    struct scene scene;
    struct ac_reason reason;
    struct looks without = {0};
    struct looks with = {0};
    open_scene(&scene, many_trees);
    assert_int_equal(search_slowly(&scene, &without, NULL), AC_DONE);
    assert_int_equal(search_slowly(&scene, &with, &reason), AC_DONE);
    assert_in_range(with.count - without.count, AC_REASON_STEPS_MOST / SLICE * 3 / 4,
                    AC_REASON_STEPS_MOST / SLICE + 2);
    assert_in_range(with.widest, 1, SLICE * STEPS_A_CHARGE);

    /* A client that disconnects meanwhile ends it. */
    struct looks ended = {.end_at = without.count + 3};
    assert_int_equal(search_slowly(&scene, &ended, &reason), AC_EXPENSIVE);
    assert_int_equal(ended.count, ended.end_at);
    assert_in_range(steps_now() - ended.last, 0, SLICE * STEPS_A_CHARGE);
    close_scene(&scene);
}

static bool never(void *cls)
{
    (void)cls;
    return false;
}

/* What the search has left of a worker's budget is used, and the answer is not given up for it. */
static void a_worker_gives_what_is_left(void **state)
{
    (void)state;
    struct scene scene;
    struct ac_reason reason;
    open_scene(&scene, few_trees);
    int64_t needed = cost_of(&scene, NULL).charged;
    struct budget budget = {.left = needed + 2000, .is_short = true};
    assert_int_equal(search(&scene, &budget, &reason), AC_DONE);
    assert_string_equal(ac_none_name(reason.none), "not_known");
    assert_int_equal(reason.step_count, 0);
    assert_false(budget.exhausted);
    assert_in_range(budget.left, 0, 2000);

    budget = (struct budget){.left = needed,
                             .refill = 20000,
                             .cancelled = never,
                             .is_short = true,
                             .spare = AC_REASON_STEPS_MOST};
    assert_int_equal(search(&scene, &budget, &reason), AC_DONE);
    assert_string_equal(ac_none_name(reason.none), "member_of");
    assert_int_equal(reason.step_count, 2);
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_charged_and_bounded),
        cmocka_unit_test(turns_are_taken),
        cmocka_unit_test(a_worker_gives_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
