/* How much each of many holders has. */
#include "base/shares.h"

#include <stdlib.h>

#include "base/check.h"
#include "unit.h"

static struct shares *nobody_has_anything(void)
{
    struct shares *shares = calloc(1, sizeof(*shares));
    check(shares != NULL);
    return shares;
}

static void each_has_its_own(void **state)
{
    (void)state;
    struct shares *shares = nobody_has_anything();
    const uint64_t first = 0x123456789abcdef0, second = ~first;
    assert_int_equal(shares_of(shares, first), 0);
    assert_int_equal(shares_add(shares, first, 10), 10);
    assert_int_equal(shares_add(shares, second, 7), 7);
    assert_int_equal(shares_add(shares, first, 5), 15);
    assert_int_equal(shares_of(shares, first), 15);
    shares_subtract(shares, first, 10);
    assert_int_equal(shares_of(shares, first), 5);
    assert_int_equal(shares_of(shares, second), 7);
    shares_subtract(shares, first, 5);
    assert_int_equal(shares_of(shares, first), 0);
    free(shares);
}

/* Holders with one row in common, in whichever table: the one has nothing of what the other has. */
static void one_row_in_common(void **state)
{
    (void)state;
    const uint64_t row = SHARES_ROWS - 1, holder = 0;
    const uint64_t others[] = {row << 21 | row << 42, row | row << 42, row | row << 21};
    for (unsigned i = 0; i < 3; i++) {
        struct shares *shares = nobody_has_anything();
        assert_int_equal(shares_add(shares, others[i], 1000), 1000);
        assert_int_equal(shares_of(shares, holder), 0);
        assert_int_equal(shares_add(shares, holder, 1), 1);
        free(shares);
    }
}

/* Each row is in common with somebody: the least of these is added, and never less than what it
 * has. */
static void every_row_in_common(void **state)
{
    (void)state;
    const uint64_t row = SHARES_ROWS - 1, holder = 0;
    struct shares *shares = nobody_has_anything();
    shares_add(shares, row << 21 | row << 42, 300);
    shares_add(shares, row | row << 42, 200);
    assert_int_equal(shares_add(shares, holder, 1), 1);
    shares_add(shares, row | row << 21, 100);
    assert_int_equal(shares_of(shares, holder), 101);
    shares_subtract(shares, row | row << 21, 100);
    assert_int_equal(shares_of(shares, holder), 1);
    free(shares);
}

/* Among many that have little and a few that have much, no one of the many has more than it has. */
static void few_that_have_much(void **state)
{
    (void)state;
    enum { MANY = 1000, FEW = 3, MUCH = 1000000 };
    struct shares *shares = nobody_has_anything();
    uint64_t hash = 88172645463325252;
    uint64_t holders[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        hash ^= hash << 13, hash ^= hash >> 7, hash ^= hash << 17;
        holders[i] = hash;
        shares_add(shares, hash, i < FEW ? MUCH : 1);
    }
    for (unsigned i = FEW; i < MANY; i++)
        assert_in_range(shares_of(shares, holders[i]), 1, MANY);
    free(shares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_own),
        cmocka_unit_test(one_row_in_common),
        cmocka_unit_test(every_row_in_common),
        cmocka_unit_test(few_that_have_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
