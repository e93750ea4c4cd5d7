/* Compared with a linear search: every length, every key, equal items, parts of an array. */
#include "base/search.h"

#include <stdint.h>

#include "unit.h"

enum { LENGTH_MAX = 40 };

static uint32_t walk(const uint32_t *items, uint32_t from, uint32_t to, uint32_t key)
{
    while (from < to && items[from] < key)
        from++;
    return from;
}

static void as_a_walk(void **state)
{
    (void)state;
    uint32_t items[LENGTH_MAX];
    for (uint32_t i = 0; i < LENGTH_MAX; i++)
        items[i] = 1 + i / 3 * 2; /* each three times, with gaps */
    for (uint32_t to = 0; to <= LENGTH_MAX; to++)
        for (uint32_t from = 0; from <= to; from++)
            for (uint32_t key = 0; key <= LENGTH_MAX; key++) {
                uint32_t at;
                SEARCH_LOWER(at, from, to, items[at] < key);
                assert_int_equal(at, walk(items, from, to, key));
            }
}

static void looks_seldom(void **state)
{
    (void)state;
    unsigned looks = 0;
    size_t at;
    const size_t first = SIZE_MAX / 2 - 5;
    SEARCH_LOWER(at, 0, SIZE_MAX / 2, (looks++, at < first));
    assert_true(at == first);
    assert_in_range(looks, 1, 65);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_walk),
        cmocka_unit_test(looks_seldom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
