/* The comparison where most of the database is new: another program has filled it. */
#include <stdlib.h>

#include "base/arena.h"
#include "replica/compare.h"
#include "unit.h"

enum { CONSUMERS = 1000 }; /* there is room for a few in the beginning */

static const struct differences *compare_consumers(struct comparison *comparison,
                                                   struct arena *arena)
{
    struct change_list list = {.arena = arena};
    for (int64_t id = 1; id <= CONSUMERS; id++)
        change_append(&list, CHANGE_CONSUMER_INSERT)->consumer =
            (struct change_consumer){.id = id, .uuid = arena_printf(arena, "consumer-%d", (int)id)};
    for (size_t i = 0; i < list.count; i++)
        compare_change(comparison, &list.items[i]);
    return compare_end(comparison);
}

static void all_consumers_are_new(void **state)
{
    (void)state;
    static const struct version empty;
    struct arena *arena = arena_create();
    struct comparison *comparison = compare_begin(&empty, CONSUMERS);
    const struct differences *differences = compare_consumers(comparison, arena);
    bool is_there[CONSUMERS + 1] = {false};
    assert_non_null(differences);
    assert_int_equal(differences->count, CONSUMERS);
    for (size_t i = 0; i < differences->count; i++) {
        const struct difference *difference = &differences->items[i];
        assert_int_equal(difference->entity, ENTITY_CONSUMER);
        assert_false(difference->is_known || difference->is_gone);
        assert_in_range(difference->id, 1, CONSUMERS);
        assert_false(is_there[difference->id]);
        is_there[difference->id] = true;
    }
    compare_free(comparison);
    arena_destroy(arena);
}

static void too_many_are_new(void **state)
{
    (void)state;
    static const struct version empty;
    struct arena *arena = arena_create();
    struct comparison *comparison = compare_begin(&empty, CONSUMERS - 1);
    assert_null(compare_consumers(comparison, arena));
    compare_free(comparison);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_consumers_are_new),
        cmocka_unit_test(too_many_are_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
