/* The copy-on-write array against plain arrays: older versions stay as they were, an abandoned edit
 * leaves nothing behind (leaks show under ASan). */
#include <stdlib.h>
#include <string.h>

#include "base/cow.h"
#include "unit.h"

enum { ITEMS = 3000, VERSIONS = 12, FAR = 40000 };

static const struct cow_shape SHAPE = {sizeof(uint64_t), 5};

/* Some indexes close together, and one far away, so that both levels of directories are used. */
static uint32_t index_of(unsigned n)
{
    return n == ITEMS - 1 ? ((uint32_t)FAR << SHAPE.shift) + 17 : n;
}

static void check_same(const struct cow_array *array, const uint64_t *model)
{
    for (unsigned n = 0; n < ITEMS; n++) {
        const uint64_t *item = cow_array_at(array, SHAPE, index_of(n));
        if ((item == NULL ? 0 : *item) != model[n])
            fail_msg("item %u", n);
    }
}

static void versions_do_not_touch(void **state)
{
    (void)state;
    struct cow_array arrays[VERSIONS + 1] = {{0}};
    struct cow_retired retired[VERSIONS + 1] = {{0}};
    static uint64_t model[VERSIONS + 1][ITEMS];
    srandom(3);
    for (unsigned v = 1; v <= VERSIONS; v++) {
        struct cow cow = {.birth = v};
        struct cow_array array = arrays[v - 1];
        memcpy(model[v], model[v - 1], sizeof(model[v]));
        for (unsigned i = 0; i < 100; i++) {
            unsigned n = i == 0 ? ITEMS - 1 : (unsigned)random() % ITEMS;
            model[v][n] = (uint64_t)random();
            *(uint64_t *)cow_array_own(&cow, &array, SHAPE, index_of(n)) = model[v][n];
        }
        if (v % 4 == 0) { /* abandoned */
            cow_array_free(&array, v, NULL, NULL);
            assert_null(array.root);
            free(cow.retired.items);
            array = arrays[v - 1];
            memcpy(model[v], model[v - 1], sizeof(model[v]));
            cow.retired = (struct cow_retired){0};
        }
        arrays[v] = array;
        retired[v] = cow.retired;
        for (unsigned old = 0; old <= v; old++)
            check_same(&arrays[old], model[old]);
    }
    for (unsigned v = 1; v <= VERSIONS; v++)
        cow_retired_free(&retired[v]);
    check_same(&arrays[VERSIONS], model[VERSIONS]);
    cow_array_free(&arrays[VERSIONS], 0, NULL, NULL);
}

struct node {
    struct cow_node node;
    int value;
};

static void own_copies_once(void **state)
{
    (void)state;
    struct cow first = {.birth = 1};
    struct node *a = cow_new(&first, sizeof(*a));
    assert_int_equal(a->node.birth, 1);
    assert_int_equal(a->value, 0);
    a->value = 7;
    assert_ptr_equal(cow_own(&first, a, sizeof(*a)), a);
    assert_int_equal(first.retired.count, 0);
    struct cow second = {.birth = 2};
    struct node *b = cow_own(&second, a, sizeof(*a));
    assert_ptr_not_equal(b, a);
    assert_int_equal(b->value, 7);
    assert_int_equal(b->node.birth, 2);
    assert_int_equal(second.retired.count, 1);
    assert_ptr_equal(second.retired.items[0], a);
    assert_ptr_equal(cow_own(&second, b, sizeof(*b)), b);
    cow_drop(&second, b); /* created by this edit: freed at once */
    assert_int_equal(second.retired.count, 1);
    struct node *c = cow_new(&first, sizeof(*c));
    cow_drop(&second, c); /* of an older version: kept for readers */
    assert_int_equal(second.retired.count, 2);
    cow_retired_free(&second.retired);
    assert_int_equal(second.retired.count, 0);
    assert_null(second.retired.items);
}

static void count_leaf(void *cls, void *leaf)
{
    assert_non_null(leaf);
    ++*(unsigned *)cls;
}

static void visits_what_it_frees(void **state)
{
    (void)state;
    struct cow first = {.birth = 1};
    struct cow_array array = {0};
    for (unsigned leaf = 0; leaf < 10; leaf++)
        cow_array_own(&first, &array, SHAPE, leaf * 1000);
    struct cow second = {.birth = 2};
    struct cow_array next = array;
    cow_array_own(&second, &next, SHAPE, 0);
    cow_array_own(&second, &next, SHAPE, 500);
    assert_null(cow_array_at(&next, SHAPE, 600));
    unsigned seen = 0;
    cow_array_free(&next, 2, count_leaf, &seen);
    assert_int_equal(seen, 2);
    free(second.retired.items);
    seen = 0;
    cow_array_free(&array, 0, count_leaf, &seen);
    assert_int_equal(seen, 10);
    free(first.retired.items);
}

/* What the edit created is freed at once, the rest when the readers have moved on. */
static void drops_an_array(void **state)
{
    (void)state;
    struct cow first = {.birth = 1};
    struct cow_array array = {0};
    cow_array_own(&first, &array, SHAPE, index_of(0));
    cow_array_own(&first, &array, SHAPE, index_of(ITEMS - 1));
    struct cow second = {.birth = 2};
    struct cow_array next = array;
    cow_array_own(&second, &next, SHAPE, index_of(0));
    assert_int_equal(second.retired.count, 3); /* two directories and a leaf, copied */
    cow_array_drop(&second, &next);
    assert_null(next.root);
    assert_int_equal(second.retired.count, 5); /* and the far directory and leaf */
    assert_non_null(cow_array_at(&array, SHAPE, index_of(ITEMS - 1)));
    cow_retired_free(&second.retired);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_do_not_touch),
        cmocka_unit_test(own_copies_once),
        cmocka_unit_test(visits_what_it_frees),
        cmocka_unit_test(drops_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
