/* The table of names against a plain list. */
#include <stdio.h>

#include "api/text/name_table.h"
#include "base/arena.h"
#include "unit.h"

static void numbers_stay(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    struct arena *arena = arena_create();
    struct name_table table = name_table_create(arena, COUNT);
    static char texts[COUNT][12];
    for (uint32_t i = 0; i < COUNT; i++) {
        struct slice name = {texts[i], (size_t)snprintf(texts[i], sizeof(texts[i]), "n%u", i)};
        assert_false(name_table_has(&table, name));
        uint32_t *number = name_table_at(&table, name);
        assert_int_equal(*number, 0);
        *number = i + 1;
        assert_true(name_table_has(&table, name));
    }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(*name_table_at(&table, slice_of(texts[i])), i + 1);
    arena_destroy(arena);
}

static void counts(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct name_table table = name_table_create(arena, 2);
    assert_true(name_table_add(&table, SLICE_LIT("a")));
    assert_false(name_table_add(&table, SLICE_LIT("a")));
    assert_true(name_table_add(&table, SLICE_LIT("b")));
    assert_int_equal(*name_table_at(&table, SLICE_LIT("a")), 2);
    assert_true(name_table_has(&table, SLICE_LIT("b")));
    arena_destroy(arena);
}

static void any_text(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct name_table table = name_table_create(arena, 0);
    assert_false(name_table_has(&table, SLICE_LIT("")));
    table = name_table_create(arena, 3);
    *name_table_at(&table, SLICE_LIT("")) = 1;
    *name_table_at(&table, SLICE_LIT("a\0b")) = 2;
    assert_int_equal(*name_table_at(&table, (struct slice){0}), 1);
    assert_false(name_table_has(&table, SLICE_LIT("a")));
    assert_int_equal(*name_table_at(&table, SLICE_LIT("a\0b")), 2);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_stay),
        cmocka_unit_test(counts),
        cmocka_unit_test(any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
