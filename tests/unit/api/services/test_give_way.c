/* How long expensive work pauses, depending on the other work of the process, with given
 * measurements. */
#include "api/services/give_way.h"

#include "unit.h"

enum { SLICE_US = 1000, STEPS = 50 };

/* Slices one after the other, while others use that many thousandths of two processors; returns the
 * last pause. */
static uint64_t rest_beside(struct give_way *way, struct give_way_clocks *clocks, unsigned others)
{
    uint64_t rest_us = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t passed_us = SLICE_US + rest_us;
        clocks->now_us += passed_us;
        clocks->process_us += SLICE_US + passed_us * 2 * others / 1000;
        clocks->own_us = SLICE_US;
        rest_us = give_way_count(way, SLICE_US, clocks);
    }
    return rest_us;
}

static void rests_while_others_work(void **state)
{
    (void)state;
    struct give_way way = {.processors = 2};
    struct give_way_clocks clocks = {.now_us = 1000000, .process_us = 5000};
    assert_int_equal(rest_beside(&way, &clocks, 0), 0);
    assert_int_equal(rest_beside(&way, &clocks, 40), 0);
    assert_in_range(rest_beside(&way, &clocks, 250), SLICE_US * 9 / 10, SLICE_US * 11 / 10);
    assert_int_equal(rest_beside(&way, &clocks, 900), 3 * SLICE_US);
    assert_int_equal(rest_beside(&way, &clocks, 0), 0);
}

/* Its own work on several threads does not count as other work. */
static void own_work_does_not_count(void **state)
{
    (void)state;
    struct give_way way = {.processors = 2};
    struct give_way_clocks clocks = {.now_us = 1000000, .process_us = 5000};
    for (unsigned i = 0; i < STEPS; i++) {
        clocks.now_us += SLICE_US;
        clocks.process_us += 2 * SLICE_US;
        clocks.own_us = SLICE_US;
        assert_int_equal(give_way_count(&way, SLICE_US, &clocks), 0);
        assert_int_equal(give_way_count(&way, SLICE_US, &clocks), 0);
    }
}

/* The process's work before the first slice says nothing about the present. */
static void the_first_look_measures_nothing(void **state)
{
    (void)state;
    struct give_way way = {.processors = 1};
    struct give_way_clocks clocks = {.now_us = 10000, .process_us = 9000};
    assert_int_equal(give_way_count(&way, SLICE_US, &clocks), 0);
}

static void a_long_slice_has_a_short_rest(void **state)
{
    (void)state;
    struct give_way way = {.processors = 2};
    struct give_way_clocks clocks = {.now_us = 1000000, .process_us = 5000};
    (void)rest_beside(&way, &clocks, 900);
    clocks.own_us = 0;
    assert_int_equal(give_way_count(&way, 1000000, &clocks), 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rests_while_others_work),
        cmocka_unit_test(own_work_does_not_count),
        cmocka_unit_test(the_first_look_measures_nothing),
        cmocka_unit_test(a_long_slice_has_a_short_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
