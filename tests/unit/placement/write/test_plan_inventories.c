/* Inventories: capacity, generations, usage, texts of refusals. */
#include "engine/world.h"
#include "placement/write/plan_inventories.h"
#include "unit.h"

static struct world world;
static int64_t after;

static int set_up(void **state)
{
    (void)state;
    world_open(&world, 2);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

#define T(text) SLICE_LIT(text)

static struct plan_inventory item(struct slice class_name, int32_t total, int32_t reserved)
{
    return (struct plan_inventory){class_name, {total, reserved, 1, INT32_MAX, 1, 1.0}, true};
}

typedef bool planner(const struct plan_inventories *input, const struct plan *plan,
                     int64_t *generation, struct err *err);

static bool run(planner *plan_it, const struct plan_inventory *items, size_t count,
                int64_t generation, bool all_can_be_reserved)
{
    struct plan_inventories input = {T("p1"), generation, all_can_be_reserved, items, count};
    struct plan plan = world_plan(&world);
    return world_conclude(&world, plan_it(&input, &plan, &after, &world.err));
}

static bool create(struct slice class_name, int32_t total, int32_t reserved)
{
    struct plan_inventory one = item(class_name, total, reserved);
    return run(plan_inventory_create, &one, 1, 0, true);
}

static bool update(struct slice class_name, int32_t total, int64_t generation)
{
    struct plan_inventory one = item(class_name, total, 0);
    return run(plan_inventory_update, &one, 1, generation, true);
}

static bool delete (struct slice class_name)
{
    struct plan plan = world_plan(&world);
    return world_conclude(&world, plan_inventory_delete(T("p1"), class_name, &plan, &world.err));
}

static bool delete_all(void)
{
    struct plan plan = world_plan(&world);
    return world_conclude(&world, plan_inventories_delete(T("p1"), &plan, &world.err));
}

static void claim(char class_name, int64_t amount)
{
    struct claim claim = world_claim(&world, 1);
    world_add(&world, &claim, 1, class_name, amount);
    assert_true(world_write(&world, &claim, 1, CLAIM_BY_PUT));
}

static int32_t generation(void)
{
    return world_provider(&world, 1)->generation;
}

static void creating(void **state)
{
    (void)state;
    assert_true(create(T("A"), 10, 0));
    assert_int_equal(after, 1);
    assert_int_equal(generation(), 1);
    assert_true(create(T("B"), 10, 10));
    assert_false(create(T("A"), 10, 0));
    world_assert_refused(&world, 409, "placement.concurrent_update",
                         "Update conflict: Inventory of class A on resource provider p1 already "
                         "exists.");
    assert_false(create(T("C"), 10, 11));
    world_assert_refused(&world, 400, NULL,
                         "Unable to create inventory for resource provider p1: Invalid inventory "
                         "for 'C' on resource provider 'p1'. The reserved value is greater than "
                         "total.");
    struct plan_inventory one = item(T("C"), 10, 10);
    assert_false(run(plan_inventory_create, &one, 1, 0, false));
    world_assert_refused(&world, 400, NULL,
                         "Unable to create inventory for resource provider p1: Invalid inventory "
                         "for 'C' on resource provider 'p1'. The reserved value is greater than or "
                         "equal to total.");
    assert_false(create(T("NOPE"), 10, 0));
    world_assert_refused(&world, 400, NULL,
                         "Unable to create inventory for resource provider p1: No such resource "
                         "class NOPE.");
}

static void updating(void **state)
{
    (void)state;
    assert_true(create(T("A"), 10, 0));
    claim('A', 5);
    assert_true(update(T("A"), 2, 2)); /* below its usage */
    assert_int_equal(world_inventory(&world, 1, 'A')->figures.total, 2);
    assert_int_equal(generation(), 3);
    assert_false(update(T("A"), 2, 2));
    world_assert_refused(&world, 409, "placement.concurrent_update",
                         "resource provider generation conflict");
    assert_false(update(T("B"), 2, 3));
    world_assert_refused(&world, 400, NULL,
                         "No inventory record with resource class for resource provider p1: No "
                         "inventory of class B found.");
    assert_false(update(T("NOPE"), 2, 3));
    world_assert_refused(&world, 404, NULL, "No such resource class NOPE.");
}

static void setting(void **state)
{
    (void)state;
    struct plan_inventory cab[] = {item(T("C"), 3, 0), item(T("A"), 1, 0), item(T("B"), 2, 0)};
    assert_true(run(plan_inventories_set, cab, 3, 0, true));
    assert_int_equal(world_provider(&world, 1)->inventory_count, 3);
    assert_int_equal(world_inventory(&world, 1, 'C')->figures.total, 3);
    assert_true(run(plan_inventories_set, cab, 3, 1, true)); /* incremented without a change */
    assert_int_equal(after, 2);
    assert_true(run(plan_inventories_set, cab, 2, 2, true));
    assert_null(world_inventory(&world, 1, 'B'));
    claim('A', 1);
    assert_int_equal(generation(), 4);
    assert_false(run(plan_inventories_set, cab, 1, 4, true));
    world_assert_refused(&world, 409, "placement.inventory.inuse",
                         "update conflict: Inventory for 'A' on resource provider 'p1' in use.");
    assert_false(run(plan_inventories_set, cab, 2, 3, true));
    world_assert_refused(&world, 409, "placement.concurrent_update",
                         "resource provider generation conflict");
    struct plan_inventory unknown[] = {item(T("A"), 1, 0), {.class_name = T("vcpu")}};
    assert_false(run(plan_inventories_set, unknown, 2, 4, true));
    world_assert_refused(&world, 400, NULL,
                         "Unknown resource class in inventory for resource provider p1: No such "
                         "resource class vcpu.");
    assert_int_equal(generation(), 4);
}

static void deleting(void **state)
{
    (void)state;
    assert_true(create(T("B"), 10, 0));
    assert_true(create(T("A"), 10, 0));
    struct claim both = world_claim(&world, 1);
    world_add(&world, &both, 1, 'B', 1);
    world_add(&world, &both, 1, 'A', 1);
    assert_true(world_write(&world, &both, 1, CLAIM_BY_PUT));
    assert_false(delete_all());
    world_assert_refused(&world, 409, "placement.inventory.inuse",
                         "Inventory for 'A, B' on resource provider 'p1' in use.");
    assert_false(delete (T("A")));
    world_assert_refused(&world, 409, "placement.concurrent_update",
                         "Unable to delete inventory of class A: Inventory for 'A' on resource "
                         "provider 'p1' in use.");
    assert_false(delete (T("C")));
    world_assert_refused(&world, 404, NULL,
                         "No inventory of class C found for delete: No inventory of class C found "
                         "for delete");
    assert_false(delete (T("NOPE")));
    world_assert_refused(&world, 404, NULL,
                         "No inventory of class NOPE found for delete: No such resource class "
                         "NOPE.");
    assert_true(world_delete(&world, 1));
    int32_t before = generation();
    assert_true(delete (T("A")));
    assert_true(delete_all());
    assert_true(delete_all()); /* incremented even if there is none */
    assert_int_equal(generation(), before + 3);
    assert_int_equal(world_provider(&world, 1)->inventory_count, 0);
}

/* Another program set it to the maximum. */
static void last_generation(void **state)
{
    (void)state;
    world.changes.count = 0;
    change_append(&world.changes, CHANGE_PROVIDER_GENERATION)->generation =
        (struct change_generation){1, 0, INT32_MAX};
    world_apply(&world);
    assert_int_equal(generation(), INT32_MAX);
    assert_true(create(T("A"), 10, 0));
    assert_int_equal(after, 0);
    assert_int_equal(generation(), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(creating), TEST(updating), TEST(setting), TEST(deleting), TEST(last_generation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
