/* A limit on memory, shared fairly. */
#include "base/memory_budget.h"

#include <pthread.h>
#include <stdbool.h>

#include "unit.h"

enum { KIB = 1024 };

static struct memory_share share_of(struct memory_budget *budget, uint64_t owner, uint64_t address)
{
    return (struct memory_share){.budget = budget, .owner = owner, .address = address};
}

static void nobody_takes_more_than_half(void **state)
{
    (void)state;
    struct memory_budget *budget = memory_budget_create(64 * KIB);
    struct memory_share share = share_of(budget, 1, 1);
    assert_int_equal(memory_take(&share, 33 * KIB), MEMORY_TOO_MUCH);
    assert_int_equal(memory_take(&share, UINT64_MAX), MEMORY_TOO_MUCH);
    assert_int_equal(memory_take(&share, 32 * KIB), MEMORY_GRANTED);
    assert_int_equal(memory_take(&share, 1), MEMORY_TOO_MUCH);
    assert_int_equal(memory_budget_used(budget), 32 * KIB);
    memory_give_back(&share);
    memory_give_back(&share);
    assert_int_equal(memory_budget_used(budget), 0);
    memory_budget_destroy(budget);
}

/* However much one owner or one address requests, in however many pieces, others get some. */
static void greed(bool same_owner, bool same_address)
{
    enum { MANY = 200 };
    struct memory_budget *budget = memory_budget_create(64 * KIB);
    struct memory_share shares[MANY];
    unsigned granted = 0;
    for (unsigned i = 0; i < MANY; i++) {
        shares[i] = share_of(budget, same_owner ? 1 : i, same_address ? 1 : i);
        granted += memory_take(&shares[i], KIB) == MEMORY_GRANTED;
    }
    assert_int_equal(granted, 32);
    struct memory_share other = share_of(budget, 777, 777);
    assert_int_equal(memory_take(&other, 17 * KIB), MEMORY_TAKEN);
    assert_int_equal(memory_take(&other, 16 * KIB), MEMORY_GRANTED);
    struct memory_share third = share_of(budget, 778, 778);
    assert_int_equal(memory_take(&third, 8 * KIB), MEMORY_GRANTED);
    memory_give_back(&third);
    memory_give_back(&other);
    for (unsigned i = 0; i < MANY; i++)
        memory_give_back(&shares[i]);
    memory_budget_destroy(budget);
}

static void one_owner_is_bounded(void **state)
{
    (void)state;
    greed(true, false);
}

static void one_address_is_bounded(void **state)
{
    (void)state;
    greed(false, true);
}

static void many_owners_stay_within_the_limit(void **state)
{
    (void)state;
    enum { MANY = 500 };
    struct memory_budget *budget = memory_budget_create(64 * KIB);
    struct memory_share shares[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        shares[i] = share_of(budget, i, i);
        for (unsigned k = 0; k < 64; k++)
            (void)!memory_take(&shares[i], KIB);
        assert_in_range(memory_budget_used(budget), 32 * KIB, 64 * KIB);
    }
    for (unsigned i = 0; i < MANY; i++)
        memory_give_back(&shares[i]);
    assert_int_equal(memory_budget_used(budget), 0);
    memory_budget_destroy(budget);
}

/* All shares of one request are added up; charges without a request are reported. */
static void shares_of_one_holder(void **state)
{
    (void)state;
    struct memory_budget *budget = memory_budget_create(1000);
    uint64_t held = 0;
    struct memory_share body = {.budget = budget, .owner = 1, .address = 1, .held = &held};
    struct memory_share other = memory_another(&body);
    assert_int_equal(memory_take(&body, 300), MEMORY_GRANTED);
    assert_int_equal(memory_take(&other, 201), MEMORY_TOO_MUCH);
    assert_int_equal(memory_take(&other, 200), MEMORY_GRANTED);
    assert_int_equal(held, 500);
    memory_charge(&other, 1);
    assert_int_equal(other.over, MEMORY_TOO_MUCH);
    assert_int_equal(other.bytes, 201);
    memory_detach(&other);
    assert_int_equal(held, 300);
    memory_give_back_part(&other, 1);
    memory_give_back(&body);
    assert_int_equal(held, 0);

    struct memory_share late = {.budget = budget, .owner = 2, .address = 2, .held = &held};
    memory_charge(&late, 400); /* half of the 800 that are left */
    assert_int_equal(late.over, MEMORY_GRANTED);
    memory_charge(&late, 1);
    assert_int_equal(late.over, MEMORY_TAKEN);
    assert_int_equal(memory_budget_used(budget), 601);
    memory_give_back(&late);
    memory_give_back(&other);
    memory_budget_destroy(budget);
}

static void without_a_budget_all_is_granted(void **state)
{
    (void)state;
    struct memory_share share = {0};
    assert_int_equal(memory_take(&share, UINT64_MAX / 2), MEMORY_GRANTED);
    memory_give_back(&share);
}

struct crowd {
    struct memory_budget *budget;
};

static void *crowd_run(void *cls)
{
    struct crowd *crowd = cls;
    for (unsigned i = 0; i < 20000; i++) {
        struct memory_share share = share_of(crowd->budget, i % 7, i % 5);
        if (memory_take(&share, 1 + i % (16 * KIB)) == MEMORY_GRANTED)
            (void)!memory_take(&share, KIB);
        memory_give_back(&share);
    }
    return NULL;
}

static void threads_lose_nothing(void **state)
{
    (void)state;
    struct crowd crowd = {.budget = memory_budget_create(64 * KIB)};
    pthread_t threads[4];
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_run, &crowd), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(memory_budget_used(crowd.budget), 0);
    struct memory_share share = share_of(crowd.budget, 1, 1);
    assert_int_equal(memory_take(&share, 32 * KIB), MEMORY_GRANTED);
    memory_give_back(&share);
    memory_budget_destroy(crowd.budget);
}

/* Owner and address have a row in common with those of somebody who took all that it could get. */
static void whose_row_is_full(void **state)
{
    (void)state;
    struct memory_budget *budget = memory_budget_create(64 * KIB);
    struct memory_share greedy = share_of(budget, 1, 1);
    assert_int_equal(memory_take(&greedy, 32 * KIB), MEMORY_GRANTED);
    struct memory_share other = share_of(budget, 1 + ((uint64_t)1 << 25), 1 + ((uint64_t)1 << 50));
    assert_int_equal(memory_take(&other, 16 * KIB), MEMORY_GRANTED);
    memory_give_back(&other);
    memory_give_back(&greedy);
    memory_budget_destroy(budget);
}

struct asking {
    struct memory_budget *budget;
    uint64_t owner;
    _Atomic bool *ends;
};

static void *ask_in_vain(void *cls)
{
    struct asking *asking = cls;
    while (!*asking->ends) {
        struct memory_share share = share_of(asking->budget, asking->owner, asking->owner);
        check(memory_take(&share, 24 * KIB) == MEMORY_TAKEN);
    }
    return NULL;
}

/* Those who ask for too much are refused, however many they are, without effect on others. */
static void refusals_are_nobody_elses(void **state)
{
    (void)state;
    enum { THREADS = 4, TIMES = 200000 };
    struct memory_budget *budget = memory_budget_create(64 * KIB);
    struct memory_share held = share_of(budget, 100, 100);
    assert_int_equal(memory_take(&held, 32 * KIB), MEMORY_GRANTED);
    _Atomic bool ends = false;
    struct asking asking[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        asking[i] = (struct asking){budget, i, &ends};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_in_vain, &asking[i]), 0);
    }
    unsigned granted = 0;
    for (unsigned i = 0; i < TIMES; i++) {
        struct memory_share share = share_of(budget, 200, 200);
        granted += memory_take(&share, 8 * KIB) == MEMORY_GRANTED;
        memory_give_back(&share);
    }
    ends = true;
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(granted, TIMES);
    memory_give_back(&held);
    memory_budget_destroy(budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_takes_more_than_half),
        cmocka_unit_test(one_owner_is_bounded),
        cmocka_unit_test(one_address_is_bounded),
        cmocka_unit_test(many_owners_stay_within_the_limit),
        cmocka_unit_test(shares_of_one_holder),
        cmocka_unit_test(without_a_budget_all_is_granted),
        cmocka_unit_test(threads_lose_nothing),
        cmocka_unit_test(whose_row_is_full),
        cmocka_unit_test(refusals_are_nobody_elses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
