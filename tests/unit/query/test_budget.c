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

/* A worker begins nothing that is more than what may be left. */
static void short_ones(void **state)
{
    (void)state;
    unsigned asked = 0;
    struct budget budget = {.left = 10,
                            .refill = 5,
                            .cancelled = at_the_third,
                            .cls = &asked,
                            .is_short = true,
                            .spare = 100};
    assert_true(budget_allows(&budget, 10));
    assert_int_equal(budget.left, 10);
    assert_int_equal(asked, 0);
    assert_true(budget_take(&budget, 8));
    assert_true(budget_allows(&budget, 7)); /* renewed, since less is left */
    assert_int_equal(asked, 1);
    assert_int_equal(budget.left, 7);
    assert_false(budget_allows(&budget, 13)); /* more than what renewing gives */
    assert_true(budget.exhausted);
    assert_false(budget_allows(&budget, 1));

    budget = (struct budget){.left = 1, .refill = 5, .cancelled = at_the_third, .cls = &asked};
    assert_true(budget_allows(&budget, 1000)); /* the slow lane has time for everything */
}

/* What was taken too much is paid by what renewing gives, and all of it has an end. */
static void short_ones_pay(void **state)
{
    (void)state;
    struct budget budget = {.left = 10, .refill = 5, .is_short = true, .spare = 12};
    assert_true(budget_take(&budget, 14));
    assert_int_equal(budget.left, 1);
    assert_true(budget_take(&budget, 6));
    assert_int_equal(budget.left, 0);
    assert_false(budget_take(&budget, 1)); /* two are spare, which is no whole refill */
    assert_true(budget.exhausted);

    budget = (struct budget){.left = 10, .refill = 5, .is_short = true, .spare = 100};
    assert_false(budget_take(&budget, 16));
    assert_true(budget.exhausted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_out),         cmocka_unit_test(renewed_until_cancelled),
        cmocka_unit_test(renewed_for_ever), cmocka_unit_test(short_ones),
        cmocka_unit_test(short_ones_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
