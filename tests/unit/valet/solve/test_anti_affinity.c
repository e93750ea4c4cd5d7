/* The combined effect of diversity groups: which sets remain, and which servers are kept apart from
 * each other. */
#include "valet/solve/stack_units.h"

#include <stdlib.h>

#include "plan.h"
#include "unit.h"
#include "valet/solve/bits.h"

enum { SERVERS = 6 };

struct scene {
    struct arena *arena;
    struct plan *plan;
    struct units units;
    struct slice reason;
};

static int open_scene(void **state)
{
    static const char *const NAMES[SERVERS] = {"a", "b", "c", "d", "e", "f"};
    struct scene *scene = calloc(1, sizeof(*scene));
    scene->arena = arena_create();
    scene->plan = plan_create(scene->arena);
    for (unsigned i = 0; i < SERVERS; i++)
        plan_add_server(scene->plan, NAMES[i], 1, 1, 1);
    *state = scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;
    arena_destroy(scene->arena);
    free(scene);
    return 0;
}

/* A group of the servers with the given letters. */
static uint32_t group(struct scene *scene, enum stack_group_type type, enum stack_level level,
                      const char *letters)
{
    uint32_t at = plan_add_group(scene->plan, letters, type, level, 0);
    for (; *letters != '\0'; letters++)
        plan_add_to(scene->plan, at, (uint32_t)(*letters - 'a'));
    return at;
}

static bool make(struct scene *scene)
{
    return units_of_stack(&scene->plan->stack, scene->plan->pins, scene->arena, &scene->units,
                          &scene->reason);
}

static void expect_from(const uint64_t *from, unsigned expected)
{
    for (uint32_t i = 0; i < SERVERS; i++)
        assert_int_equal(from != NULL && bits_has(from, i), expected >> i & 1);
}

static void parts_of_others_are_left_out(void **state)
{
    struct scene *scene = *state;
    group(scene, STACK_DIVERSITY, STACK_HOST, "ab");
    uint32_t most = group(scene, STACK_DIVERSITY, STACK_HOST, "abcd");
    group(scene, STACK_DIVERSITY, STACK_HOST, "dbca");
    group(scene, STACK_DIVERSITY, STACK_HOST, "bd");
    group(scene, STACK_DIVERSITY, STACK_HOST, "f");
    uint32_t other = group(scene, STACK_DIVERSITY, STACK_HOST, "de");
    assert_true(make(scene));
    assert_int_equal(scene->units.apart_count, 2);
    assert_int_equal(scene->units.apart[0].group, most);
    assert_int_equal(scene->units.apart[0].member_count, 4);
    assert_int_equal(scene->units.apart[1].group, other);
    expect_from(scene->units.unit[0].apart_from, 0xe);
    expect_from(scene->units.unit[3].apart_from, 0x17);
    expect_from(scene->units.unit[4].apart_from, 0x8);
    expect_from(scene->units.unit[5].apart_from, 0);
    assert_int_equal(scene->units.unit[3].apart_count, 2);
}

static void levels_are_not_parts_of_each_other(void **state)
{
    struct scene *scene = *state;
    group(scene, STACK_DIVERSITY, STACK_HOST, "ab");
    group(scene, STACK_DIVERSITY, STACK_RACK, "abc");
    assert_true(make(scene));
    assert_int_equal(scene->units.apart_count, 2);
    assert_true(scene->units.apart[0].is_rack);
    expect_from(scene->units.unit[0].apart_from, 0x2);
    expect_from(scene->units.block[0].apart_from, 0x6);
    assert_true(scene->units.unit[2].needs_rack);
    assert_false(scene->units.unit[3].needs_rack);
}

static void units_are_members(void **state)
{
    struct scene *scene = *state;
    uint32_t pair = group(scene, STACK_AFFINITY, STACK_HOST, "ab");
    uint32_t apart = group(scene, STACK_DIVERSITY, STACK_HOST, "cd");
    plan_add_group_to(scene->plan, apart, pair);
    group(scene, STACK_DIVERSITY, STACK_HOST, "bc");
    assert_true(make(scene));
    assert_int_equal(scene->units.unit_count, 5);
    assert_int_equal(scene->units.apart_count, 1);
    expect_from(scene->units.unit[0].apart_from, 0x6);
}

static void what_is_bound_is_not_apart(void **state)
{
    struct scene *scene = *state;
    group(scene, STACK_AFFINITY, STACK_HOST, "ab");
    group(scene, STACK_DIVERSITY, STACK_HOST, "cab");
    assert_false(make(scene));
    assert_string_equal(scene->reason.data, "Valet error: 'a' and 'b' are bound to one host by "
                                            "affinity, but kept on different hosts by 'cab'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_of_others_are_left_out, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(levels_are_not_parts_of_each_other, open_scene,
                                        close_scene),
        cmocka_unit_test_setup_teardown(units_are_members, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(what_is_bound_is_not_apart, open_scene, close_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
