/* The list of changes: it grows, keeps its order, and returns zeroed changes. */
#include "base/arena.h"
#include "model/change.h"
#include "unit.h"

static void grows_in_order(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    memset(arena_alloc(arena, 4096), 0xff, 4096);
    arena_reset(arena);
    struct change_list list = {.arena = arena};
    for (int64_t i = 0; i < 1000; i++) {
        struct change *change = change_append(&list, CHANGE_ALLOCATION_INSERT);
        struct change zero;
        memset(&zero, 0, sizeof(zero));
        zero.kind = CHANGE_ALLOCATION_INSERT;
        assert_memory_equal(change, &zero, sizeof(zero));
        change->allocation.id = i;
        memset(arena_alloc(arena, 100), 0xff, 100);
    }
    assert_int_equal(list.count, 1000);
    assert_true(list.capacity >= 1000);
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(list.items[i].kind, CHANGE_ALLOCATION_INSERT);
        assert_int_equal(list.items[i].allocation.id, i);
    }
    list.count = 0; /* reused, as the pipeline does after each request */
    struct change *first = change_append(&list, CHANGE_CLASS_DELETE);
    assert_ptr_equal(first, list.items);
    assert_int_equal(first->kind, CHANGE_CLASS_DELETE);
    assert_int_equal(first->catalog.id, 0);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
