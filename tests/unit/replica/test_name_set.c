/* Interned sets: same members, same address; members in the order of their ids; a set
 * ends with its last provider. */
#include <stdio.h>
#include <stdlib.h>

#include "replica/name_set.h"
#include "unit.h"

struct world {
    struct cow cow;
    struct catalog catalog;
    struct name_sets sets;
};

/* Numbers 0 to 3; the ids run the other way. */
static void open_world(struct world *world)
{
    *world = (struct world){.cow = {.birth = 1}};
    catalog_insert(&world->cow, &world->catalog, 40, SLICE_LIT("D"), 0, 0);
    catalog_insert(&world->cow, &world->catalog, 30, SLICE_LIT("quote\""), 0, 0);
    catalog_insert(&world->cow, &world->catalog, 20, SLICE_LIT("B"), 0, 0);
    catalog_insert(&world->cow, &world->catalog, 10, SLICE_LIT("\xc3\xa4"), 0, 0);
}

static void close_world(struct world *world)
{
    cow_retired_free(&world->cow.retired);
    name_sets_free(&world->sets, 0);
    catalog_free(&world->catalog, 0);
}

static const struct name_set *intern(struct world *world, unsigned members)
{
    uint32_t numbers[4];
    uint32_t count = 0;
    for (uint32_t n = 0; n < 4; n++)
        if ((members & 1u << n) != 0)
            numbers[count++] = n;
    return name_sets_take(&world->cow, &world->sets, &world->catalog, numbers, count);
}

static void same_members_same_address(void **state)
{
    (void)state;
    struct world world;
    open_world(&world);
    const struct name_set *sets[16];
    for (unsigned members = 0; members < 16; members++) {
        sets[members] = intern(&world, members);
        for (unsigned other = 0; other < members; other++)
            assert_ptr_not_equal(sets[members], sets[other]);
        for (uint32_t n = 0; n < 4; n++)
            assert_int_equal(name_set_has(sets[members], n), members >> n & 1);
    }
    for (unsigned members = 0; members < 16; members++)
        assert_ptr_equal(intern(&world, members), sets[members]);
    assert_int_equal(world.sets.tree.count, 16);
    uint32_t any_order[] = {2, 0, 3};
    assert_ptr_equal(name_sets_take(&world.cow, &world.sets, &world.catalog, any_order, 3),
                     sets[13]);
    close_world(&world);
}

static void json_in_order_of_ids(void **state)
{
    (void)state;
    struct world world;
    open_world(&world);
    assert_true(slice_equal(name_set_json(intern(&world, 0)), SLICE_LIT("[]")));
    assert_true(slice_equal(name_set_json(intern(&world, 4)), SLICE_LIT("[\"B\"]")));
    assert_true(slice_equal(name_set_json(intern(&world, 15)),
                            SLICE_LIT("[\"\\u00e4\", \"B\", \"quote\\\"\", \"D\"]")));
    const struct name_set *all = intern(&world, 15);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(all->numbers[i], 3 - i);
    close_world(&world);
}

/* A set lives until the last provider that took it lets it go; versions before keep it. */
/* More than the insertion sort takes on: the ids run the other way. */
static void many_in_order_of_ids(void **state)
{
    (void)state;
    enum { MANY = 500 };
    struct world world;
    open_world(&world);
    uint32_t numbers[MANY];
    for (uint32_t n = 0; n < MANY; n++) {
        char name[16];
        int len = snprintf(name, sizeof(name), "M%u", n);
        numbers[n] = catalog_insert(&world.cow, &world.catalog, 10000 - (int64_t)n,
                                    (struct slice){name, (size_t)len}, 0, 0)
                         ->number;
    }
    const struct name_set *set =
        name_sets_take(&world.cow, &world.sets, &world.catalog, numbers, MANY);
    assert_int_equal(set->count, MANY);
    for (uint32_t n = 1; n < MANY; n++)
        assert_true(catalog_row_at(&world.catalog, set->numbers[n - 1])->id <
                    catalog_row_at(&world.catalog, set->numbers[n])->id);
    close_world(&world);
}

static void release(void **state)
{
    (void)state;
    struct world world;
    open_world(&world);
    const struct name_set *two = intern(&world, 6);
    assert_ptr_equal(intern(&world, 6), two);
    intern(&world, 1);
    struct name_sets before = world.sets;
    struct cow first = world.cow;
    world.cow = (struct cow){.birth = 2};
    name_sets_release(&world.cow, &world.sets, two);
    assert_int_equal(world.sets.tree.count, 2);
    name_sets_release(&world.cow, &world.sets, two);
    assert_int_equal(world.sets.tree.count, 1);
    assert_int_equal(before.tree.count, 2);
    assert_true(name_set_has(two, 1));            /* retired, not freed */
    assert_ptr_not_equal(intern(&world, 6), two); /* made anew */
    free(first.retired.items);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_members_same_address),
        cmocka_unit_test(json_in_order_of_ids),
        cmocka_unit_test(many_in_order_of_ids),
        cmocka_unit_test(release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
