/* A budget runs out, or is renewed as long as nobody cancels. */
#include "query/budget.h"
#include "unit.h"

static void runs_out(void **state)
{
    (void)state;
    struct budget budget = {.left = 3};
    assert_true(budget_take(&budget, 1));
    assert_true(budget_take(&budget, 2));
    assert_false(budget.exhausted);
    assert_false(budget_take(&budget, 1));
    assert_true(budget.exhausted);
    assert_false(budget_take(&budget, 0));
    budget.left = 100; /* once exhausted it stays so when it is asked again */
    assert_false(budget_renew(&budget));
}

static bool at_the_third(void *cls)
{
    return ++*(unsigned *)cls == 3;
}

static void renewed_until_cancelled(void **state)
{
    (void)state;
    unsigned asked = 0;
    unsigned taken = 0;
    struct budget budget = {.left = 10, .refill = 10, .cancelled = at_the_third, .cls = &asked};
    while (budget_take(&budget, 1))
        taken++;
    assert_int_equal(asked, 3);
    assert_int_equal(taken, 32); /* the step that finds nothing left is not taken off again */
    assert_true(budget.exhausted);
    assert_false(budget_take(&budget, 1));
    assert_int_equal(asked, 3);
}

static void renewed_for_ever(void **state)
{
    (void)state;
    struct budget budget = {.left = 0, .refill = 5};
    for (unsigned i = 0; i < 1000; i++)
        assert_true(budget_take(&budget, 3));
    assert_false(budget.exhausted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_out),
        cmocka_unit_test(renewed_until_cancelled),
        cmocka_unit_test(renewed_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
