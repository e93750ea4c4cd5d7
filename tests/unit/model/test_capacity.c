/* The capacity rule, figure by figure. The integers were computed in Python:
 * int((total - reserved) * allocation_ratio). */
#include <math.h>

#include "model/capacity.h"
#include "unit.h"

static struct inventory_figures figures(int32_t total, int32_t reserved, double ratio)
{
    return (struct inventory_figures){total, reserved, 1, INT32_MAX, 1, ratio};
}

static void whole_part(void **state)
{
    (void)state;
    static const struct {
        int32_t total, reserved;
        double ratio;
        int64_t capacity;
    } CASES[] = {
        {10, 0, 0.7, 7},    /* 10 x 0.7 is 7.0 */
        {100, 0, 0.29, 28}, /* 28.999999999999996 */
        {3, 0, 1.1, 3},
        {10, 0, 1.1, 11},
        {1000, 0, 1.001, 1000}, /* 1000.9999999999999 */
        {7, 2, 16.0, 80},
        {7, 7, 16.0, 0},
        {2, 5, 1.5, -4}, /* rounded towards zero */
        {1, 0, 0.999, 0},
        {0, 1, 0.999, 0},
        {2147483647, 0, 1.0, 2147483647},
        {2147483647, 0, 1.0000000001, 2147483647},
        {2147483647, 0, 1000.0, 2147483647000},
        {2147483647, -2147483647, 1.0, 4294967294},
        {2147483647, 0, 3.40282e+38, (int64_t)1 << 62},
        {0, 2147483647, 3.40282e+38, -((int64_t)1 << 62)},
        {1, 0, -1.5, -1},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct inventory_figures f = figures(CASES[i].total, CASES[i].reserved, CASES[i].ratio);
        assert_int_equal(capacity_of(&f), CASES[i].capacity);
    }
}

/* Other programs may have written any float. */
static void floats_that_are_no_numbers(void **state)
{
    (void)state;
    struct inventory_figures f = figures(1, 0, (double)INFINITY);
    assert_int_equal(capacity_of(&f), (int64_t)1 << 62);
    f = figures(1, 1, (double)INFINITY); /* 0 x infinity */
    assert_int_equal(capacity_of(&f), 0);
    assert_int_equal(capacity_headroom(&f, 0), 0);
    f = figures(1, 0, (double)NAN);
    assert_int_equal(capacity_of(&f), 0);
}

static void units(void **state)
{
    (void)state;
    static const struct {
        int32_t min, max, step;
        int64_t amount;
        bool fits;
    } CASES[] = {
        {1, 10, 1, 1, true},
        {1, 10, 1, 10, true},
        {1, 10, 1, 11, false},
        {1, 10, 1, 0, false},
        {2, 10, 1, 1, false},
        {2, 10, 1, 2, true},
        {1, 10, 3, 3, true},
        {1, 10, 3, 4, false},
        {1, 10, 3, 9, true},
        {4, 10, 3, 3, false},
        {4, 10, 3, 6, true},
        {1, 10, 10, 10, true},
        {1, 10, 11, 10, false},
        {1, 10, 0, 7, true},
        {8, 4, 1, 6, false},
        {1, INT32_MAX, 1, (int64_t)INT32_MAX + 1, false},
        {1, INT32_MAX, 1, INT64_MAX, false},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct inventory_figures f = {100, 0, CASES[i].min, CASES[i].max, CASES[i].step, 1.0};
        assert_int_equal(capacity_unit_fits(&f, CASES[i].amount), CASES[i].fits);
        assert_int_equal(capacity_is_odd(&f), CASES[i].min != 1 || CASES[i].step != 1);
    }
}

static void headroom(void **state)
{
    (void)state;
    struct inventory_figures f = figures(10, 2, 1.5);
    assert_int_equal(capacity_headroom(&f, 0), 12);
    assert_int_equal(capacity_headroom(&f, 11), 1);
    assert_int_equal(capacity_headroom(&f, 12), 0);
    assert_int_equal(capacity_headroom(&f, 500), 0); /* overcommitted in the meantime */
    f.max_unit = 5;
    assert_int_equal(capacity_headroom(&f, 0), 5);
    assert_int_equal(capacity_headroom(&f, 9), 3);
    f = figures(INT32_MAX, 0, 1e30);
    assert_int_equal(capacity_headroom(&f, 0), INT32_MAX);
    assert_int_equal(capacity_headroom(&f, (int64_t)1 << 61), INT32_MAX);
    f = figures(0, INT32_MAX, 1e30);
    assert_int_equal(capacity_headroom(&f, (int64_t)1 << 61), 0);
    f = figures(10, 0, 1.0);
    f.max_unit = -3;
    assert_int_equal(capacity_headroom(&f, 0), 0);
}

/* Headroom is the largest amount that fits, compared with a linear search. */
static void headroom_is_the_largest_that_fits(void **state)
{
    (void)state;
    for (int32_t total = 0; total < 12; total++)
        for (int32_t max_unit = 1; max_unit < 14; max_unit += 3)
            for (int64_t used = 0; used < 20; used += 3) {
                struct inventory_figures f = {total, 1, 1, max_unit, 1, 1.3};
                int32_t largest = 0;
                for (int32_t amount = 1; amount < 40; amount++)
                    if (capacity_unit_fits(&f, amount) && used + amount <= capacity_of(&f))
                        largest = amount;
                assert_int_equal(capacity_headroom(&f, used), largest);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_part),
        cmocka_unit_test(floats_that_are_no_numbers),
        cmocka_unit_test(units),
        cmocka_unit_test(headroom),
        cmocka_unit_test(headroom_is_the_largest_that_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
