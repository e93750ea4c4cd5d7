/* The moments of accesses, and that keys whose hashes collide stay apart. */
#include "store/accesses.h"

#include "base/arena.h"
#include "unit.h"

enum { KEY = 1, FEW = 1000, MANY = 300000 };

static struct object_entry *entry_of(struct accesses *accesses, const struct object_key *key)
{
    return &accesses->entries[accesses_entry(accesses, key)];
}

/* The earliest moment of that access, which is then placed there, or at `moment` if that is later.
 */
static uint32_t touch(struct accesses *accesses, enum access access, uint32_t moment)
{
    const struct object_key key = {.kind = KEY};
    accesses_touch(accesses, accesses_entry(accesses, &key), 0, access);
    uint32_t earliest = accesses->earliest;
    accesses_place(accesses, moment > earliest ? moment : earliest);
    return earliest;
}

static void test_moments(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct accesses accesses = {.arena = arena};
    assert_int_equal(touch(&accesses, ACCESS_USE, 9), 0);
    assert_int_equal(touch(&accesses, ACCESS_USE, 5), 0);    /* uses are in any order */
    assert_int_equal(touch(&accesses, ACCESS_SHARE, 0), 10); /* after all of them */
    assert_int_equal(touch(&accesses, ACCESS_SHARE, 0), 10); /* in the same statement */
    assert_int_equal(touch(&accesses, ACCESS_USE, 0), 10);   /* so is a use after it */
    assert_int_equal(touch(&accesses, ACCESS_SHARE, 0), 11); /* but not the other way round */
    assert_int_equal(touch(&accesses, ACCESS_OWN, 0), 12);
    assert_int_equal(touch(&accesses, ACCESS_OWN, 20), 13);
    assert_int_equal(touch(&accesses, ACCESS_USE, 0), 20);
    assert_int_equal(touch(&accesses, ACCESS_OWN, 0), 21);
    arena_destroy(arena);
}

/* The latest of all objects counts, and each object has its own moments. */
static void test_several_objects(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct accesses accesses = {.arena = arena};
    const struct object_key key = {.kind = KEY, .a = 1};
    const struct object_key other = {.kind = KEY, .a = 2};
    accesses_touch(&accesses, accesses_entry(&accesses, &key), 0, ACCESS_OWN);
    accesses_place(&accesses, 7);
    accesses_touch(&accesses, accesses_entry(&accesses, &key), 1, ACCESS_OWN);
    accesses_touch(&accesses, accesses_entry(&accesses, &other), 0, ACCESS_USE);
    assert_int_equal(accesses.earliest, 1);
    accesses_place(&accesses, 3);
    accesses_touch(&accesses, accesses_entry(&accesses, &key), 0, ACCESS_USE);
    accesses_touch(&accesses, accesses_entry(&accesses, &key), 1, ACCESS_USE);
    accesses_touch(&accesses, accesses_entry(&accesses, &other), 0, ACCESS_OWN);
    assert_int_equal(accesses.earliest, 7);
    accesses_place(&accesses, 8);
    assert_int_equal(entry_of(&accesses, &key)->object[0].owned, 7);
    assert_int_equal(entry_of(&accesses, &key)->object[1].used, 8);
    assert_int_equal(entry_of(&accesses, &other)->object[0].owned, 8);
    arena_destroy(arena);
}

/* Makes entries for `count` keys, and finds each again. */
static void assert_distinct(int count, uint64_t step_a, int64_t step_b, bool is_text)
{
    struct arena *arena = arena_create();
    struct accesses accesses = {.arena = arena};
    for (int i = 1; i <= count; i++) {
        struct object_key key = {KEY, (int64_t)(step_a * (uint64_t)i), step_b * i, {0}};
        if (is_text)
            key.text = arena_printf(arena, "%d", i);
        assert_int_equal(accesses_entry(&accesses, &key), i - 1);
        assert_int_equal(accesses_entry(&accesses, &key), i - 1);
    }
    arena_destroy(arena);
}

static void test_keys_are_distinct(void **state)
{
    (void)state;
    assert_distinct(FEW, 0xcc9bb99e80000000u, 0, false); /* hash_id() is i / 2 */
    assert_distinct(MANY, 0, 1, false);                  /* of so many, some have equal hashes */
    assert_distinct(MANY, 0, 0, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_several_objects),
        cmocka_unit_test(test_keys_are_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
