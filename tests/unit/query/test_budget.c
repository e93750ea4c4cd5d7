/* A budget runs out, or is renewed until it is cancelled. */
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
    budget.left = 100; /* once exhausted, it stays exhausted */
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
    assert_int_equal(taken, 32); /* the step that finds nothing left is not subtracted again */
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

/* A worker begins nothing that may need more than what is left. */
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
    assert_true(budget_allows(&budget, 7)); /* renewed, because less is left */
    assert_int_equal(asked, 1);
    assert_int_equal(budget.left, 7);
    assert_false(budget_allows(&budget, 13)); /* more than a renewal gives */
    assert_true(budget.exhausted);
    assert_false(budget_allows(&budget, 1));

    budget = (struct budget){.left = 1, .refill = 5, .cancelled = at_the_third, .cls = &asked};
    assert_true(budget_allows(&budget, 1000)); /* the slow lane has time for everything */
}

/* What was overdrawn is subtracted from later renewals, and renewals end. */
static void short_ones_pay(void **state)
{
    (void)state;
    struct budget budget = {.left = 10, .refill = 5, .is_short = true, .spare = 12};
    assert_true(budget_take(&budget, 14));
    assert_int_equal(budget.left, 1);
    assert_true(budget_take(&budget, 6));
    assert_int_equal(budget.left, 0);
    assert_false(budget_take(&budget, 1)); /* two are spare, less than a full renewal */
    assert_true(budget.exhausted);

    budget = (struct budget){.left = 10, .refill = 5, .is_short = true, .spare = 100};
    assert_false(budget_take(&budget, 16));
    assert_true(budget.exhausted);
}

/* It takes what it uses, at most what it may, and returns the rest. */
static void parts_take_what_they_use(void **state)
{
    (void)state;
    struct budget whole = {.left = 100000};
    struct budget part = budget_begin_part(&whole, 3500);
    assert_true(budget_take(&part, 10));
    budget_end_part(&part);
    assert_int_equal(whole.left, 100000 - 10);

    part = budget_begin_part(&whole, 3500);
    int64_t taken = 0;
    while (budget_take(&part, 100))
        taken += 100;
    assert_true(part.exhausted);
    assert_int_equal(taken, 3500);
    assert_false(whole.exhausted);
    part.left = 0;
    budget_end_part(&part);
    assert_int_equal(whole.left, 100000 - 10 - 3500);

    /* Work that was done all the same is paid for: first by the part, then by the whole. */
    part = budget_begin_part(&whole, 3500);
    part.left -= 3000;
    assert_true(budget_take(&part, 0));
    part.left -= 3000;
    assert_false(budget_take(&part, 0));
    budget_end_part(&part);
    assert_int_equal(whole.left, 100000 - 10 - 3500 - 6000);
}

/* A request whose answer is known is not ended because a part found nothing left. */
static void parts_of_a_worker(void **state)
{
    (void)state;
    unsigned asked = 0;
    struct budget whole = {.left = 1500,
                           .refill = 5000,
                           .cancelled = at_the_third,
                           .cls = &asked,
                           .is_short = true,
                           .spare = 11000};
    struct budget part = budget_begin_part(&whole, 1000000);
    int64_t taken = 0;
    while (budget_take(&part, 100))
        taken += 100;
    assert_true(part.exhausted);
    assert_int_equal(asked, 3);
    assert_true(taken > 10000 && taken <= 11500);
    budget_end_part(&part);
    assert_false(whole.exhausted);
    assert_true(whole.left >= 0);
    assert_true(budget_take(&whole, 0));

    whole = (struct budget){.left = 500};
    part = budget_begin_part(&whole, 1000000);
    part.left -= 700;
    assert_false(budget_take(&part, 0));
    budget_end_part(&part);
    assert_int_equal(whole.left, 0);
    assert_false(whole.exhausted);

    whole = (struct budget){.left = 500, .exhausted = true};
    part = budget_begin_part(&whole, 1000000);
    assert_false(budget_take(&part, 1));
}

/* The slow lane is asked as often as by the request itself, and can end both. */
static void parts_on_the_slow_lane(void **state)
{
    (void)state;
    unsigned asked = 0;
    int64_t taken = 0;
    struct budget whole = {.left = 5000, .refill = 5000, .cancelled = at_the_third, .cls = &asked};
    struct budget part = budget_begin_part(&whole, 1000000);
    while (budget_take(&part, 100))
        taken += 100;
    assert_int_equal(asked, 3);
    assert_in_range(taken, 14000, 17000);
    budget_end_part(&part);
    assert_true(whole.exhausted);
    assert_false(budget_take(&whole, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_out),          cmocka_unit_test(renewed_until_cancelled),
        cmocka_unit_test(renewed_for_ever),  cmocka_unit_test(short_ones),
        cmocka_unit_test(short_ones_pay),    cmocka_unit_test(parts_take_what_they_use),
        cmocka_unit_test(parts_of_a_worker), cmocka_unit_test(parts_on_the_slow_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
