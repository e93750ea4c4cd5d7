/* Texts as the server sends them, and what they are in memory. */
#include "store/mariadb/exchange/cells.h"

#include "unit.h"

static struct mariadb_cells read_one(unsigned at, enum rows_table table, struct slice text)
{
    const char *values[ROWS_CELLS_MAX] = {NULL};
    unsigned long lengths[ROWS_CELLS_MAX] = {0};
    struct mariadb_cells cells;
    mariadb_cells_begin(&cells, table);
    values[at] = text.data;
    lengths[at] = text.len;
    mariadb_cells_read(&cells, values, lengths);
    for (unsigned i = 0; i < cells.count; i++)
        if (i != at)
            assert_true(cells.at[i].is_null);
    return cells;
}

static void test_integers(void **state)
{
    static const struct {
        const char *text;
        bool is_null;
        int64_t value;
    } cases[] = {
        {"0", false, 0},
        {"-1", false, -1},
        {"9223372036854775807", false, INT64_MAX},
        {"-9223372036854775808", false, INT64_MIN},
        {"9223372036854775808", true, 0},
        {"-9223372036854775809", true, 0},
        {"", true, 0},
        {"-", true, 0},
        {"1.5", true, 0},
        {" 1", true, 0},
        {"1e3", true, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mariadb_cells cells = read_one(0, ROWS_TRAITS, slice_of(cases[i].text));
        assert_int_equal(cells.at[0].is_null, cases[i].is_null);
        assert_true(cells.at[0].integer == cases[i].value);
    }
    assert_true(read_one(0, ROWS_TRAITS, (struct slice){NULL, 0}).at[0].is_null);
}

static void test_ratios(void **state)
{
    enum { RATIO = 9 };
    char digits[400];
    (void)state;
    assert_true(read_one(RATIO, ROWS_INVENTORIES, SLICE_LIT("16.100000381469727")).at[9].ratio ==
                (double)16.1F);
    assert_true(read_one(RATIO, ROWS_INVENTORIES, SLICE_LIT("-1e-5")).at[9].ratio == -1e-5);
    assert_true(read_one(RATIO, ROWS_INVENTORIES, SLICE_LIT("1e999")).at[9].is_null);
    assert_true(read_one(RATIO, ROWS_INVENTORIES, SLICE_LIT("nan")).at[9].is_null);
    assert_true(read_one(RATIO, ROWS_INVENTORIES, SLICE_LIT("1,5")).at[9].is_null);
    assert_true(read_one(RATIO, ROWS_INVENTORIES, SLICE_LIT("")).at[9].is_null);
    memset(digits, '9', sizeof(digits));
    assert_true(read_one(RATIO, ROWS_INVENTORIES, (struct slice){digits, 400}).at[9].is_null);
    /* it does not end with a NUL byte */
    assert_true(read_one(RATIO, ROWS_INVENTORIES, (struct slice){digits, 3}).at[9].ratio == 999);
}

static void test_texts(void **state)
{
    enum { NAME = 3 };
    (void)state;
    struct mariadb_cells cells = read_one(NAME, ROWS_TRAITS, SLICE_LIT("a\0b "));
    assert_false(cells.at[NAME].is_null);
    assert_true(slice_equal(cells.at[NAME].text, SLICE_LIT("a\0b ")));
    cells = read_one(NAME, ROWS_TRAITS, SLICE_LIT(""));
    assert_false(cells.at[NAME].is_null);
    assert_int_equal(cells.at[NAME].text.len, 0);
    assert_true(read_one(NAME, ROWS_TRAITS, (struct slice){NULL, 0}).at[NAME].is_null);
}

static void test_times(void **state)
{
    const int64_t second_us = INT64_C(1764273599000000);
    (void)state;
    assert_true(read_one(1, ROWS_TRAITS, SLICE_LIT("2025-11-27 19:59:59")).at[1].integer ==
                second_us);
    assert_true(read_one(1, ROWS_TRAITS, SLICE_LIT("2025-11-27 19:59:59.000001")).at[1].integer ==
                second_us + 1);
    assert_true(read_one(1, ROWS_TRAITS, SLICE_LIT("0000-00-00 00:00:00")).at[1].is_null);
    assert_true(read_one(1, ROWS_TRAITS, SLICE_LIT("now")).at[1].is_null);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
