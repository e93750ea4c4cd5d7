/* Sums of random amounts compared with a plain table, with few keys and with many. */
#include "base/sums.h"

#include <stdlib.h>

#include "base/arena.h"
#include "unit.h"

enum { KEYS = 5, AMOUNTS = 2000, ROUNDS = 300 };

struct plain {
    int64_t sum[KEYS][KEYS][KEYS];
    bool is_there[KEYS][KEYS][KEYS];
    size_t count;
};

static const int64_t VALUES[KEYS] = {INT64_MIN, -1, 0, 7, INT64_MAX};

static unsigned place_of(int64_t value)
{
    unsigned at = 0;
    while (VALUES[at] != value)
        at++;
    return at;
}

static struct sums fill(struct plain *plain, size_t amounts, struct arena *arena)
{
    struct sums sums = {.arena = arena};
    *plain = (struct plain){.count = 0};
    for (size_t i = 0; i < amounts; i++) {
        unsigned at[SUM_KEYS];
        int64_t amount = random() % 9 - 4;
        for (unsigned k = 0; k < SUM_KEYS; k++)
            at[k] = (unsigned)random() % KEYS;
        int64_t *sum = &plain->sum[at[0]][at[1]][at[2]];
        plain->count += !plain->is_there[at[0]][at[1]][at[2]];
        plain->is_there[at[0]][at[1]][at[2]] = true;
        *sum += amount;
        sums_add(&sums, VALUES[at[0]], VALUES[at[1]], VALUES[at[2]], amount, sum);
    }
    return sums;
}

static void check_same(const struct sums *sums, const struct plain *plain)
{
    assert_int_equal(sums->count, plain->count);
    for (size_t i = 0; i < sums->count; i++) {
        const struct sum *sum = &sums->items[i];
        const int64_t *expected =
            &plain->sum[place_of(sum->key[0])][place_of(sum->key[1])][place_of(sum->key[2])];
        assert_int_equal(sum->amount, *expected);
        assert_ptr_equal(sum->of, expected);
    }
}

/* That the keys differ follows from the order, or from the count of the plain table. */
static void test_sums(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct plain *plain = malloc(sizeof(*plain));
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t amounts = round < ROUNDS / 2 ? round / 4 : (size_t)random() % AMOUNTS;
        struct sums sums = fill(plain, amounts, arena);
        sums_end(&sums);
        check_same(&sums, plain);
        sums = fill(plain, amounts, arena);
        sums_end_sorted(&sums);
        check_same(&sums, plain);
        for (size_t i = 1; i < sums.count; i++)
            assert_true(sums_compare(&sums.items[i - 1], &sums.items[i]) < 0);
        arena_reset(arena);
    }
    free(plain);
    arena_destroy(arena);
}

static void test_few_keep_their_order(void **state)
{
    (void)state;
    static const int64_t keys[] = {5, 3, 9, 3, 1, 5};
    static const int64_t order[] = {5, 3, 9, 1};
    struct arena *arena = arena_create();
    struct sums sums = {.arena = arena};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        sums_add(&sums, keys[i], 0, 0, 1, NULL);
    sums_end(&sums);
    assert_int_equal(sums.count, sizeof(order) / sizeof(*order));
    for (size_t i = 0; i < sums.count; i++)
        assert_int_equal(sums.items[i].key[0], order[i]);
    assert_int_equal(sums.items[0].amount, 2);
    arena_destroy(arena);
}

static void test_nothing(void **state)
{
    (void)state;
    struct sums sums = {0};
    sums_end(&sums);
    sums_end_sorted(&sums);
    assert_int_equal(sums.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_few_keep_their_order),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
