/* Blocks straight from the system. */
#include "base/pages.h"

#include <stdint.h>
#include <string.h>

#include "unit.h"

static void grows_and_keeps(void **state)
{
    (void)state;
    struct pages pages = {0};
    assert_true(pages_reserve(&pages, 1));
    assert_true(pages.cap >= 4096);
    memset(pages.data, 'x', pages.cap);
    size_t before = pages.cap;
    const char *data = pages.data;
    assert_true(pages_reserve(&pages, before)); /* already there */
    assert_ptr_equal(pages.data, data);
    assert_int_equal(pages.cap, before);
    assert_true(pages_reserve(&pages, 64 << 20));
    for (size_t i = 0; i < before; i++)
        assert_int_equal(pages.data[i], 'x');
    assert_int_equal(pages.data[before], 0);
    pages.data[pages.cap - 1] = 'y';
    pages_free(&pages);
    assert_null(pages.data);
    pages_free(&pages);
}

static void no_memory_is_no_end(void **state)
{
    (void)state;
    struct pages pages = {0};
    assert_false(pages_reserve(&pages, (size_t)1 << 50));
    assert_false(pages_reserve(&pages, SIZE_MAX));
    assert_null(pages.data);
    assert_true(pages_reserve(&pages, 4096));
    pages.data[0] = 'x';
    assert_false(pages_reserve(&pages, (size_t)1 << 50));
    assert_int_equal(pages.data[0], 'x');
    pages_free(&pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_keeps),
        cmocka_unit_test(no_memory_is_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
