/* The reshaper: inventories and allocations that change together. */
#include "engine/world.h"
#include "unit.h"

static const struct inventory_figures TEN = {10, 0, 1, 100, 1, 1.0};
static const struct inventory_figures TWO = {2, 0, 1, 100, 1, 1.0};

/* Provider 1 has A and B, of which consumer 1 holds 4 of A and 2 of B; provider 2 has nothing. */
static void open_two(struct world *world)
{
    world_open(world, 2);
    world_put_inventory(world, 1, 'A', TEN);
    world_put_inventory(world, 1, 'B', TEN);
    struct claim claim = world_claim(world, 1);
    world_add(world, &claim, 1, 'A', 4);
    world_add(world, &claim, 1, 'B', 2);
    assert_true(world_write(world, &claim, 1, CLAIM_BY_PUT));
}

static struct reshape_provider wants(struct world *world, unsigned provider, size_t count,
                                     const struct reshape_inventory *inventories)
{
    return (struct reshape_provider){
        .uuid = world_uuid(world, 'p', provider),
        .generation = world_provider(world, provider)->generation,
        .inventories = inventories,
        .inventory_count = count,
    };
}

static const struct reshape_inventory A_TEN = {SLICE_LIT("A"), {10, 0, 1, 100, 1, 1.0}};
static const struct reshape_inventory A_TWO = {SLICE_LIT("A"), {2, 0, 1, 100, 1, 1.0}};
static const struct reshape_inventory B_TEN = {SLICE_LIT("B"), {10, 0, 1, 100, 1, 1.0}};

static void moves_inventory_and_allocations(void **state)
{
    (void)state;
    struct world world;
    open_two(&world);
    struct reshape_provider providers[2] = {wants(&world, 1, 1, &B_TEN),
                                            wants(&world, 2, 1, &A_TEN)};
    struct claim claim = world_claim(&world, 1);
    claim.generation_rule = CLAIM_GENERATION_GIVEN;
    claim.generation = 1;
    world_add(&world, &claim, 2, 'A', 4);
    world_add(&world, &claim, 1, 'B', 2);
    struct reshape reshape = {providers, 2, &claim, 1};
    assert_true(world_reshape(&world, &reshape));
    assert_null(world_inventory(&world, 1, 'A'));
    assert_int_equal(world_inventory(&world, 1, 'B')->used, 2);
    assert_int_equal(world_inventory(&world, 2, 'A')->used, 4);
    assert_int_equal(world_consumer(&world, 1)->generation, 2);
    assert_int_equal(world_provider(&world, 1)->generation, 1 + 3);
    assert_int_equal(world_provider(&world, 2)->generation, 3);
    world_close(&world);
}

static void generations(void **state)
{
    (void)state;
    struct world world;
    open_two(&world);
    struct reshape_provider provider = wants(&world, 2, 0, NULL);
    struct reshape reshape = {.providers = &provider, .provider_count = 1};
    assert_true(world_reshape(&world, &reshape));
    assert_int_equal(world_provider(&world, 2)->generation, 1);
    assert_false(world_reshape(&world, &reshape));
    world_assert_refused(&world, 409, "placement.concurrent_update",
                         "resource provider generation conflict for provider p2: actual: 1, "
                         "given: 0");
    provider = wants(&world, 2, 1, &A_TEN);
    assert_true(world_reshape(&world, &reshape));
    assert_int_equal(world_provider(&world, 2)->generation, 3);
    /* a provider that only receives allocations */
    struct claim claim = world_claim(&world, 2);
    world_add(&world, &claim, 1, 'A', 1);
    provider = wants(&world, 2, 1, &A_TEN);
    reshape.claims = &claim;
    reshape.claim_count = 1;
    assert_true(world_reshape(&world, &reshape));
    assert_int_equal(world_provider(&world, 1)->generation, 2);
    world_close(&world);
}

static void names_that_are_not_there(void **state)
{
    (void)state;
    struct world world;
    open_two(&world);
    struct reshape_inventory strange = {SLICE_LIT("X"), {1, 0, 1, 1, 1, 1.0}};
    struct reshape_provider providers[2] = {wants(&world, 2, 1, &strange),
                                            {.uuid = SLICE_LIT("p7")}};
    struct reshape reshape = {.providers = providers, .provider_count = 2};
    assert_false(world_reshape(&world, &reshape));
    world_assert_refused(&world, 400, "placement.resource_provider.not_found",
                         "Resource provider p7 in inventories not found: No resource provider "
                         "with uuid p7 found");
    reshape.provider_count = 1;
    assert_false(world_reshape(&world, &reshape));
    world_assert_refused(&world, 400, NULL, "malformed reshaper data: No such resource class X.");
    strange.class_name = SLICE_LIT("X\0Y");
    assert_false(world_reshape(&world, &reshape));
    assert_true(slice_equal(world.err.message,
                            SLICE_LIT("malformed reshaper data: No such resource class X\0Y.")));
    strange.class_name = SLICE_LIT("X");
    struct claim claim = world_claim(&world, 1);
    world_add(&world, &claim, 1, 'Y', 1);
    reshape.claims = &claim;
    reshape.claim_count = 1;
    assert_false(world_reshape(&world, &reshape)); /* the inventories' classes are checked first */
    world_assert_refused(&world, 400, NULL, "malformed reshaper data: No such resource class X.");
    providers[0] = wants(&world, 2, 1, &A_TEN);
    assert_false(world_reshape(&world, &reshape));
    world_assert_refused(&world, 400, NULL, "malformed reshaper data: No such resource class Y.");
    world_close(&world);
}

static void what_is_in_use_stays(void **state)
{
    (void)state;
    struct world world;
    open_two(&world);
    struct reshape_provider provider = wants(&world, 1, 0, NULL);
    struct reshape reshape = {.providers = &provider, .provider_count = 1};
    assert_false(world_reshape(&world, &reshape));
    world_assert_refused(&world, 409, "placement.inventory.inuse",
                         "update conflict: Inventory for 'A, B' on resource provider 'p1' in use.");
    struct claim claim = world_claim(&world, 1);
    world_add(&world, &claim, 1, 'A', 4);
    provider = wants(&world, 1, 1, &B_TEN);
    reshape.claims = &claim;
    reshape.claim_count = 1;
    assert_false(world_reshape(&world, &reshape));
    world_assert_refused(&world, 409, "placement.inventory.inuse",
                         "update conflict: Inventory for 'A' on resource provider 'p1' in use.");
    claim = world_claim(&world, 1);
    assert_true(world_reshape(&world, &reshape));
    assert_null(world_inventory(&world, 1, 'A'));
    assert_null(world_consumer(&world, 1));
    world_close(&world);
}

static void capacity_is_the_new_one(void **state)
{
    (void)state;
    struct world world;
    open_two(&world);
    const struct reshape_inventory both[2] = {A_TWO, B_TEN};
    struct reshape_provider provider = wants(&world, 1, 2, both);
    struct claim claim = world_claim(&world, 1);
    world_add(&world, &claim, 1, 'A', 5);
    struct reshape reshape = {&provider, 1, &claim, 1};
    assert_false(world_reshape(&world, &reshape));
    world_assert_refused(&world, 409, NULL,
                         "Unable to allocate inventory: Unable to create allocation for 'A' on "
                         "resource provider 'p1'. The requested amount would exceed the capacity.");
    claim = world_claim(&world, 1);
    world_add(&world, &claim, 1, 'A', 4); /* too much, but no more than before */
    assert_true(world_reshape(&world, &reshape));
    assert_int_equal(world_inventory(&world, 1, 'A')->figures.total, TWO.total);
    assert_int_equal(world_inventory(&world, 1, 'A')->used, 4);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_inventory_and_allocations), cmocka_unit_test(generations),
        cmocka_unit_test(names_that_are_not_there),        cmocka_unit_test(what_is_in_use_stays),
        cmocka_unit_test(capacity_is_the_new_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
