/* The form that a planned change gets before memory has it. */
#include "store/value_forms.h"
#include "unit.h"

static const struct value_forms none = {0};
static const struct value_forms both = {.has_whole_seconds = true, .has_single_ratios = true};

static struct change inventory(double ratio)
{
    return (struct change){.kind = CHANGE_INVENTORY_INSERT,
                           .created_at_us = 1700000000999999,
                           .updated_at_us = 1700000001000000,
                           .inventory.allocation_ratio = ratio};
}

static void as_it_is(void **state)
{
    struct change change = inventory(16.123456789);
    (void)state;
    value_forms_apply(&none, &change);
    assert_true(change.inventory.allocation_ratio == 16.123456789);
    assert_int_equal(change.created_at_us, 1700000000999999);
}

static void whole_seconds(void **state)
{
    struct change change = inventory(1.0);
    (void)state;
    value_forms_apply(&both, &change);
    assert_int_equal(change.created_at_us, 1700000000000000);
    assert_int_equal(change.updated_at_us, 1700000001000000);
    change.created_at_us = 0; /* not known */
    value_forms_apply(&both, &change);
    assert_int_equal(change.created_at_us, 0);
    change = (struct change){.kind = CHANGE_NODE_PUT, .created_at_us = 1700000000999999};
    value_forms_apply(&both, &change);
    assert_int_equal(change.created_at_us, 1700000000999999);
}

/* As `SELECT allocation_ratio` shows a FLOAT. A value in that form stays as it is. */
static void single_ratios(void **state)
{
    static const struct {
        double planned, kept;
    } cases[] = {
        {16.1, 16.1},
        {1.0, 1.0},
        {0.1, 0.1},
        {16.123456789, 16.1235},
        {1.0 / 3, 0.333333},
        {123456789.0, 123457000.0},
        {3.40282e38, 3.40282e38},
        {1e-7, 1e-7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct change change = inventory(cases[i].planned);
        value_forms_apply(&both, &change);
        assert_true(change.inventory.allocation_ratio == cases[i].kept);
        value_forms_apply(&both, &change);
        assert_true(change.inventory.allocation_ratio == cases[i].kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_it_is),
        cmocka_unit_test(whole_seconds),
        cmocka_unit_test(single_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
