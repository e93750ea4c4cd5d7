/* Requests that recently were too expensive for a worker. */
#include "api/services/expensive.h"
#include "unit.h"

static const uint64_t SECOND_US = 1000000;

static void notes_end(void **state)
{
    (void)state;
    struct expensive *expensive = expensive_create();
    uint64_t query_hash = 0x123456789abcdef0;
    uint64_t now_us = 5000 * SECOND_US;
    assert_false(expensive_has_any(expensive, now_us));
    assert_false(expensive_is(expensive, query_hash, now_us));
    assert_false(expensive_is(expensive, 0, 0)); /* like one that was never noted */
    expensive_note(expensive, query_hash, now_us);
    for (unsigned s = 0; s < 7; s++) {
        assert_true(expensive_has_any(expensive, now_us + s * SECOND_US));
        assert_true(expensive_is(expensive, query_hash, now_us + s * SECOND_US));
    }
    for (unsigned s = 9; s < 2000; s += 11) {
        assert_false(expensive_has_any(expensive, now_us + s * SECOND_US));
        assert_false(expensive_is(expensive, query_hash, now_us + s * SECOND_US));
    }
    expensive_destroy(expensive);
}

static void queries_differ(void **state)
{
    (void)state;
    struct expensive *expensive = expensive_create();
    uint64_t now_us = (((uint64_t)1 << 40) - 1); /* the ticks begin at 0 again */
    for (uint64_t i = 1; i <= 500; i++)
        expensive_note(expensive, i << 40 | i, now_us);
    for (uint64_t i = 1; i <= 500; i++) {
        assert_true(expensive_is(expensive, i << 40 | i, now_us + 2 * SECOND_US));
        assert_false(expensive_is(expensive, (i + 1) << 40 | i, now_us)); /* replaced */
        assert_false(expensive_is(expensive, i << 40 | (i + 500), now_us));
    }
    expensive_note(expensive, (uint64_t)77 << 40 | 7, now_us);
    assert_true(expensive_is(expensive, (uint64_t)77 << 40 | 7, now_us));
    assert_false(expensive_is(expensive, (uint64_t)7 << 40 | 7, now_us));
    expensive_forget(expensive, (uint64_t)78 << 40 | 7); /* another one in its place */
    assert_true(expensive_is(expensive, (uint64_t)77 << 40 | 7, now_us));
    expensive_forget(expensive, (uint64_t)77 << 40 | 7);
    assert_false(expensive_is(expensive, (uint64_t)77 << 40 | 7, now_us));
    expensive_destroy(expensive);
    expensive_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_end),
        cmocka_unit_test(queries_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
