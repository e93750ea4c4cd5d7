/* The capacity rule: rounding, bounds, units, headroom. */
#include "model/capacity.h"

#include "unit.h"

static const struct inventory_figures PLAIN = {
    .total = 10, .min_unit = 1, .max_unit = INT32_MAX, .step_size = 1, .allocation_ratio = 1.0};

static int64_t capacity(int32_t total, int32_t reserved, double ratio)
{
    struct inventory_figures figures = PLAIN;
    figures.total = total;
    figures.reserved = reserved;
    figures.allocation_ratio = ratio;
    return capacity_of(&figures);
}

/* 10 x 0.7 is 7 everywhere, also where a single-precision column makes 6 of it. */
static void whole_part_towards_zero(void **state)
{
    (void)state;
    assert_int_equal(capacity(10, 0, 1.0), 10);
    assert_int_equal(capacity(10, 3, 1.0), 7);
    assert_int_equal(capacity(10, 0, 0.7), 7);
    assert_int_equal(capacity(3, 0, 1.5), 4);
    assert_int_equal(capacity(1, 0, 0.5), 0);
    assert_int_equal(capacity(1, 4, 0.5), -1);
    assert_int_equal(capacity(4, 4, 16.0), 0);
}

static void extremes_stay_in_bounds(void **state)
{
    (void)state;
    assert_int_equal(capacity(INT32_MAX, 0, 1.0), INT32_MAX);
    assert_int_equal(capacity(INT32_MAX, 0, 3.4e38), (int64_t)1 << 62);
    assert_int_equal(capacity(0, INT32_MAX, 3.4e38), -((int64_t)1 << 62));
    assert_int_equal(capacity(0, INT32_MAX, 1.0), -(int64_t)INT32_MAX);
}

static void units(void **state)
{
    (void)state;
    struct inventory_figures figures = PLAIN;
    figures.min_unit = 4;
    figures.max_unit = 9;
    figures.step_size = 2;
    assert_false(capacity_unit_fits(&figures, 2));
    assert_true(capacity_unit_fits(&figures, 4));
    assert_false(capacity_unit_fits(&figures, 5));
    assert_true(capacity_unit_fits(&figures, 8));
    assert_false(capacity_unit_fits(&figures, 10));
    assert_true(capacity_is_odd(&figures));
    assert_false(capacity_is_odd(&PLAIN));
}

static void headroom(void **state)
{
    (void)state;
    struct inventory_figures figures = PLAIN;
    assert_int_equal(capacity_headroom(&figures, 0), 10);
    assert_int_equal(capacity_headroom(&figures, 10), 0);
    assert_int_equal(capacity_headroom(&figures, 11), 0);
    figures.max_unit = 3;
    assert_int_equal(capacity_headroom(&figures, 0), 3);
    assert_int_equal(capacity_headroom(&figures, 8), 2);
    figures.max_unit = INT32_MAX;
    figures.allocation_ratio = 3.4e38;
    assert_int_equal(capacity_headroom(&figures, 0), INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_part_towards_zero),
        cmocka_unit_test(extremes_stay_in_bounds),
        cmocka_unit_test(units),
        cmocka_unit_test(headroom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
