/* The arena: allocated blocks are aligned and separate, and are all freed at once. */
#include "base/arena.h"
#include "base/memory_budget.h"
#include "unit.h"

static void blocks_do_not_overlap(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    struct arena *arena = arena_create();
    unsigned char *at[COUNT];
    size_t size[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        size[i] = i * i % 5000 + (i == 200 ? 3u << 20 : 0); /* one larger than any block */
        at[i] = arena_alloc(arena, size[i]);
        assert_int_equal((uintptr_t)at[i] % 16, 0);
        memset(at[i], (int)(i % 251), size[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < size[i]; k++)
            if (at[i][k] != i % 251)
                fail_msg("allocation %zu, byte %zu", i, k);
    arena_destroy(arena);
    arena_destroy(NULL);
}

static void zeroed(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (unsigned round = 0; round < 2; round++) {
        memset(arena_alloc(arena, 4000), 0xff, 4000);
        arena_reset(arena);
        const unsigned char *bytes = arena_zalloc(arena, 4000);
        for (size_t i = 0; i < 4000; i++)
            assert_int_equal(bytes[i], 0);
        arena_reset(arena);
    }
    assert_non_null(arena_alloc(arena, 0));
    assert_non_null(arena_array(arena, 0, SIZE_MAX));
    arena_destroy(arena);
}

static void reset_keeps_one_small_block(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    size_t first = arena_footprint_bytes(arena);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 100; i++)
            (void)arena_alloc(arena, 50000);
        assert_true(arena_footprint_bytes(arena) >= 5000000);
        arena_reset(arena);
        assert_true(arena_footprint_bytes(arena) >= first);
        assert_true(arena_footprint_bytes(arena) <= 65 * 1024);
    }
    void *at = arena_alloc(arena, 100);
    arena_reset(arena);
    assert_ptr_equal(arena_alloc(arena, 100), at);
    arena_destroy(arena);
}

static void arrays_grow(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    unsigned *numbers = NULL;
    size_t capacity = 0;
    for (unsigned i = 0; i < 1000; i++) {
        unsigned *before = numbers;
        size_t room = capacity;
        numbers = arena_grow(arena, numbers, i, &capacity, sizeof(*numbers));
        assert_true(capacity > i && capacity <= 2 * (size_t)i + 16);
        assert_true(i == room || numbers == before); /* it does not move while there is room */
        numbers[i] = i;
    }
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i);
    arena_destroy(arena);
}

static void texts(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct slice copy = arena_copy(arena, (struct slice){"a\0b", 3});
    assert_int_equal(copy.len, 3);
    assert_memory_equal(copy.data, "a\0b", 4); /* with the NUL after it */
    copy = arena_copy(arena, (struct slice){0});
    assert_int_equal(copy.len, 0);
    assert_int_equal(copy.data[0], '\0');
    struct slice text = arena_printf(arena, "%d-%s", 42, "x");
    assert_true(slice_equal(text, SLICE_LIT("42-x")));
    assert_int_equal(text.data[4], '\0');
    text = arena_printf(arena, "%*s", 20000, "x");
    assert_int_equal(text.len, 20000);
    assert_int_equal(text.data[19999], 'x');
    arena_destroy(arena);
}

/* Memory beyond its first 128 KiB is charged until the arena is reset. */
static void what_it_takes_is_charged(void **state)
{
    (void)state;
    enum { KIB = 1024 };
    struct memory_budget *budget = memory_budget_create(1024 * KIB);
    struct memory_share share = {.budget = budget, .owner = 1, .address = 2};
    struct arena *arena = arena_create();
    arena_charge_to(arena, &share);
    for (unsigned round = 0; round < 2; round++) {
        (void)arena_alloc(arena, 100 * KIB);
        assert_int_equal(share.bytes, 0);
        (void)arena_alloc(arena, 300 * KIB);
        assert_in_range(share.bytes, arena_footprint_bytes(arena) - 129 * KIB,
                        arena_footprint_bytes(arena) - 127 * KIB);
        assert_int_equal(memory_budget_used(budget), share.bytes);
        assert_int_equal(share.over, MEMORY_GRANTED);
        arena_reset(arena);
        assert_int_equal(share.bytes, 0);
    }
    (void)arena_alloc(arena, 500 * KIB);
    struct arena *beside = arena_create_beside(arena);
    uint64_t before = share.bytes;
    (void)arena_alloc(beside, 300 * KIB); /* it succeeds, although it is more than half */
    assert_in_range(share.bytes, before + 170 * KIB, before + 190 * KIB);
    assert_int_equal(share.over, MEMORY_TOO_MUCH);
    arena_destroy(beside);
    assert_int_equal(share.bytes, before);
    struct memory_share heir = share;
    arena_charge_to(arena, &heir);
    share.bytes = 0;
    arena_destroy(arena);
    assert_int_equal(heir.bytes, 0);
    memory_budget_destroy(budget); /* checks that nothing is charged */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_not_overlap),
        cmocka_unit_test(zeroed),
        cmocka_unit_test(reset_keeps_one_small_block),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(texts),
        cmocka_unit_test(what_it_takes_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
