/* A consumer's allocations are planned in the order of their ids, whatever ids there are. */
#include "base/arena.h"
#include "engine/allocations.h"
#include "unit.h"

/* The next ones. */
static const int64_t *ids;

int64_t store_next_id(struct store *store, enum store_table table)
{
    assert_null(store);
    assert_int_equal(table, STORE_ALLOCATIONS);
    return *ids++;
}

/* Of no concern here. */
bool store_find_alike(const struct store *store, enum change_kind insert, unsigned field,
                      struct slice text, struct store_alike *alike)
{
    (void)store, (void)insert, (void)field, (void)text, (void)alike;
    fail();
    return false;
}

static void consume(struct change_list *list, int64_t consumer, size_t count)
{
    const struct plan plan = {.changes = list};
    for (size_t i = 0; i < count; i++)
        allocations_consume(&plan, consumer, SLICE_LIT("uuid"), 1, 1, (int64_t)list->count);
}

/* Amounts, which are the positions, stay where they are. */
static void expect(const struct change_list *list, const int64_t *wanted, size_t count)
{
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(list->items[i].allocation.id, wanted[i]);
        assert_int_equal(list->items[i].allocation.used, i);
    }
}

/* In the middle of a request, a new block begins lower than the one before, as that of another node
 * of a cluster may. */
static void test_lower_block(void **state)
{
    (void)state;
    static const int64_t given[] = {61, 63, 2, 4, 70};
    static const int64_t wanted[] = {2, 4, 61, 63, 70};
    struct change_list list = {.arena = arena_create()};
    ids = given;
    consume(&list, 1, 5);
    expect(&list, wanted, 5);
    arena_destroy(list.arena);
}

/* Those of another consumer, and those of another request of the same one, have nothing to do with
 * it. */
static void test_others(void **state)
{
    (void)state;
    static const int64_t given[] = {61, 63, 65, 2, 4};
    static const int64_t wanted[] = {61, 63, 2, 65};
    struct change_list list = {.arena = arena_create()};
    ids = given;
    consume(&list, 1, 2);
    consume(&list, 2, 2);
    expect(&list, wanted, 4);
    change_append(&list, CHANGE_ALLOCATIONS_OF_DELETE)->allocation.used = 4;
    consume(&list, 2, 1);
    assert_int_equal(list.items[3].allocation.id, 65);
    assert_int_equal(list.items[5].allocation.id, 4);
    arena_destroy(list.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lower_block),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
