/* One inventory: nodes in Placement, rule by rule (baremetal-allocations spec, 13). */
#include "baremetal/write/metal_world.h"
#include "placement/write/plan_classes.h"
#include "placement/write/plan_inventories.h"
#include "placement/write/plan_provider_traits.h"
#include "placement/write/plan_providers.h"
#include "placement/write/plan_traits.h"
#include "replica/nodes.h"
#include "unit.h"

static struct metal_world metal;

static int set_up(void **state)
{
    (void)state;
    metal_open(&metal);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    metal_close(&metal);
    return 0;
}

static const struct version *version(void)
{
    return metal.world.edit->version;
}

static struct planned_provider made;

static bool make_provider(const char *uuid, const char *name, const char *parent)
{
    struct plan plan = metal_plan(&metal);
    return metal_conclude(
        &metal, plan_provider_create(slice_of(uuid), slice_of(name),
                                     parent == NULL ? (struct slice){0} : slice_of(parent), &plan,
                                     &made, &metal.world.err));
}

/* C1: the provider is created with the first class, and stays when the class is removed. */
static void c1_provider(void **state)
{
    (void)state;
    assert_true(metal_create(&metal, "n1", NULL));
    assert_null(metal_provider(&metal, "n1"));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "baremetal.large"));
    const struct provider *provider = metal_provider(&metal, "n1");
    assert_true(slice_equal(provider_name(provider), SLICE_LIT("n1")));
    assert_int_equal(provider->parent.v, NUMBER_NONE);
    assert_non_null(metal_inventory(&metal, "n1", "CUSTOM_BAREMETAL_LARGE"));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "gold"));
    assert_null(metal_inventory(&metal, "n1", "CUSTOM_BAREMETAL_LARGE"));
    assert_non_null(metal_inventory(&metal, "n1", "CUSTOM_GOLD"));
    assert_int_equal(metal_provider(&metal, "n1")->generation, 1);
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, NULL));
    assert_int_equal(metal_provider(&metal, "n1")->inventory_count, 0);
    assert_true(metal_delete(&metal, "n1"));
    assert_null(metal_provider(&metal, "n1"));
}

static void c1_adopted(void **state)
{
    (void)state;
    assert_true(make_provider("n1", "by nova", NULL));
    assert_true(make_provider("n2", "child", "n1"));
    assert_true(metal_create(&metal, "n1", "gold"));
    assert_true(slice_equal(provider_name(metal_provider(&metal, "n1")), SLICE_LIT("by nova")));
    assert_int_equal(metal_provider(&metal, "n1")->generation, 1);
    assert_false(metal_create(&metal, "n2", "gold"));
    metal_assert_refused(&metal, 409,
                         "Node n2 cannot be a resource provider: the provider with its uuid has a "
                         "parent.");
    assert_true(metal_create(&metal, "n2", NULL));
    assert_false(metal_patch(&metal, "n2", NODE_RESOURCE_CLASS, "gold"));
    assert_true(metal_delete(&metal, "n2")); /* that provider was never the node's */
    assert_non_null(metal_provider(&metal, "n2"));
    assert_true(metal_delete(&metal, "n1")); /* and one with child providers stays */
    assert_non_null(metal_provider(&metal, "n1"));
}

static void c1_names(void **state)
{
    (void)state;
    metal.metal.provider_has_node_name = true;
    assert_true(make_provider("other", "taken", NULL));
    assert_true(metal_create(&metal, "n1", "gold"));
    assert_true(metal_patch(&metal, "n1", NODE_NAME, "rack-1"));
    assert_true(slice_equal(provider_name(metal_provider(&metal, "n1")), SLICE_LIT("rack-1")));
    assert_true(metal_patch(&metal, "n1", NODE_NAME, "taken"));
    assert_true(slice_equal(provider_name(metal_provider(&metal, "n1")), SLICE_LIT("n1")));
    char long_name[202];
    memset(long_name, 'x', 201);
    long_name[201] = '\0';
    assert_true(metal_patch(&metal, "n1", NODE_NAME, long_name));
    assert_true(slice_equal(provider_name(metal_provider(&metal, "n1")), SLICE_LIT("n1")));
    assert_true(metal_patch(&metal, "n1", NODE_NAME, long_name + 1));
    assert_int_equal(provider_name(metal_provider(&metal, "n1")).len, 200);
}

/* C2: reserved is 0 exactly when it can be taken. */
static void c2_inventory(void **state)
{
    (void)state;
    assert_true(metal_create(&metal, "n1", "gold"));
    const struct inventory_figures *figures =
        &metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures;
    assert_int_equal(figures->total, 1);
    assert_int_equal(figures->reserved, 1);
    assert_int_equal(figures->min_unit, 1);
    assert_int_equal(figures->max_unit, 1);
    assert_int_equal(figures->step_size, 1);
    assert_true(metal_verb(&metal, "n1", "manage"));
    metal_pass(&metal, "n1");
    assert_true(metal_verb(&metal, "n1", "provide"));
    metal_pass(&metal, "n1");
    assert_true(node_text_is(metal_node(&metal, "n1"), NODE_PROVISION_STATE, "available"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved,
                     1); /* power unknown */
    assert_true(metal_power(&metal, "n1", "power on"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 1);
    metal_pass(&metal, "n1");
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 0);
    assert_true(metal_maintain(&metal, "n1", true));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 1);
    assert_true(metal_maintain(&metal, "n1", false));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 0);
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, "i1"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 1);
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_A HW_CPU_X86_AVX"));
    assert_true(metal_has_trait(&metal, "n1", "CUSTOM_A") &&
                metal_has_trait(&metal, "n1", "HW_CPU_X86_AVX"));
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_B"));
    assert_true(metal_has_trait(&metal, "n1", "CUSTOM_B"));
    assert_false(metal_has_trait(&metal, "n1", "CUSTOM_A") ||
                 metal_has_trait(&metal, "n1", "HW_CPU_X86_AVX"));
}

/* C3: no other consumer may hold anything in the tree; the consumer is created with the allocation.
 */
static void c3_taking(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    const struct consumer *ours = metal_consumer(&metal, "a1");
    assert_true(slice_equal(catalog_name(catalog_row_at(&version()->types, ours->type)),
                            SLICE_LIT("BAREMETAL_ALLOCATION")));
    assert_true(slice_equal(catalog_name(catalog_row_at(&version()->projects, ours->project)),
                            SLICE_LIT("no-project")));
    assert_true(slice_equal(catalog_name(catalog_row_at(&version()->users, ours->user)),
                            SLICE_LIT("no-user")));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->used, 1);
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 1);
    assert_false(metal_claim(&metal, "c1", "n1", "CUSTOM_GOLD", 1));

    metal_create_available(&metal, "n2", "gold");
    assert_true(metal_claim(&metal, "c1", "n2", "CUSTOM_GOLD", 1));
    assert_true(metal_allocate(&metal, "a2", "gold"));
    assert_true(metal_decide(&metal, "a2", NULL));
    assert_true(node_allocation_text_is(metal_allocation(&metal, "a2"), NODE_ALLOCATION_LAST_ERROR,
                                        "Failed to process allocation a2: no available nodes "
                                        "match the resource class gold."));
    assert_true(node_is_null(metal_node(&metal, "n2"), NODE_INSTANCE_UUID)); /* C5 */
}

static void c3_further_inventory(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(make_provider("below", "below", "n1"));
    struct plan plan = metal_plan(&metal);
    const struct plan_inventory item = {SLICE_LIT("A"), {4, 0, 1, 4, 1, 1.0}, true};
    const struct plan_inventories input = {
        .provider_uuid = SLICE_LIT("below"), .items = &item, .item_count = 1};
    int64_t generation;
    assert_true(metal_conclude(
        &metal, plan_inventory_create(&input, &plan, &generation, &metal.world.err)));
    assert_true(metal_claim(&metal, "c1", "below", "A", 1));
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    assert_true(
        node_allocation_text_is(metal_allocation(&metal, "a1"), NODE_ALLOCATION_STATE, "error"));
}

/* C4: a consumer of the allocation's uuid. */
static void c4_consumer_there(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    metal_create_available(&metal, "n2", "gold");
    assert_true(metal_claim(&metal, "a1", "n2", "CUSTOM_GOLD", 1));
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    assert_true(node_text_is(metal_node(&metal, "n2"), NODE_INSTANCE_UUID, "a1"));
    assert_true(metal_release(&metal, "a1"));
    assert_non_null(metal_consumer(&metal, "a1")); /* it existed before */
    assert_int_equal(metal_inventory(&metal, "n2", "CUSTOM_GOLD")->used, 1);

    assert_true(make_provider("else", "else", NULL));
    struct plan plan = metal_plan(&metal);
    const struct plan_inventory item = {SLICE_LIT("A"), {4, 0, 1, 4, 1, 1.0}, true};
    const struct plan_inventories input = {
        .provider_uuid = SLICE_LIT("else"), .items = &item, .item_count = 1};
    int64_t generation;
    assert_true(metal_conclude(
        &metal, plan_inventory_create(&input, &plan, &generation, &metal.world.err)));
    assert_true(metal_claim(&metal, "a3", "else", "A", 1));
    assert_true(metal_allocate(&metal, "a3", "gold"));
    assert_true(metal_decide(&metal, "a3", NULL));
    assert_true(node_allocation_text_is(metal_allocation(&metal, "a3"), NODE_ALLOCATION_LAST_ERROR,
                                        "Unexpected exception during allocation: Instance a3 "
                                        "already has allocations in Placement"));
}

static void c4_backfill(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_verb(&metal, "n1", "active"));
    metal_pass(&metal, "n1");
    assert_true(metal_backfill(&metal, "a1", "n1"));
    assert_int_equal(metal.planned.refused_status, 0);
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->used, 1);
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 1);
    assert_true(metal_backfill(&metal, "a2", "n1"));
    assert_int_equal(metal.planned.refused_status, 409);
    assert_true(slice_equal(metal.planned.refused_text,
                            SLICE_LIT("Node n1 is associated with instance a1.")));
    assert_true(
        node_allocation_text_is(metal_allocation(&metal, "a2"), NODE_ALLOCATION_STATE, "error"));
}

/* C5: while the node is held, it gets no other instance. */
static void c5_held(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_claim(&metal, "c1", "n1", "CUSTOM_GOLD", 1));
    assert_false(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, "c2"));
    metal_assert_refused(&metal, 409, "Node n1 is associated with instance c1.");
    assert_true(metal_patch(&metal, "n1", NODE_INSTANCE_UUID, "c1"));
    assert_true(metal_verb(&metal, "n1", "active"));
    metal_pass(&metal, "n1");
    assert_true(metal_verb(&metal, "n1", "deleted"));
    assert_true(node_is_null(metal_node(&metal, "n1"), NODE_INSTANCE_UUID));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->used, 1);
    assert_non_null(metal_consumer(&metal, "c1"));
}

/* C6: everything is released in one commit, and a node is never free while it is cleaned. */
static void c6_release(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    assert_true(metal_release(&metal, "a1"));
    assert_null(metal_consumer(&metal, "a1"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 0);

    assert_true(metal_allocate(&metal, "a2", "gold"));
    assert_true(metal_decide(&metal, "a2", NULL));
    assert_true(metal_verb(&metal, "n1", "active"));
    metal_pass(&metal, "n1");
    assert_true(metal_verb(&metal, "n1", "deleted"));
    assert_null(metal_consumer(&metal, "a2"));
    assert_null(metal_allocation(&metal, "a2"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 1);
    metal_pass(&metal, "n1");
    assert_true(node_text_is(metal_node(&metal, "n1"), NODE_PROVISION_STATE, "cleaning"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 1);
    metal_pass(&metal, "n1");
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 0);
}

static void c6_deleting(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_claim(&metal, "c1", "n1", "CUSTOM_GOLD", 1));
    assert_false(metal_delete(&metal, "n1"));
    metal_assert_refused(&metal, 409, "Node n1 is associated with instance c1.");
    assert_true(metal_maintain(&metal, "n1", true));
    assert_true(metal_delete(&metal, "n1"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 1);
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->used, 1);

    metal_create_available(&metal, "n2", "gold");
    assert_true(metal_allocate(&metal, "a2", "gold"));
    assert_true(metal_decide(&metal, "a2", NULL));
    assert_true(metal_maintain(&metal, "n2", true));
    assert_true(metal_delete(&metal, "n2"));
    assert_null(metal_provider(&metal, "n2"));
    assert_null(metal_allocation(&metal, "a2"));
    assert_null(metal_consumer(&metal, "a2"));
}

static void expect_managed(bool accepted, const char *what)
{
    assert_false(metal_conclude(&metal, accepted));
    assert_int_equal(metal.world.err.status, 409);
    assert_null(metal.world.err.code);
    assert_string_equal(
        arena_copy(metal.world.arena, metal.world.err.message).data,
        arena_printf(metal.world.arena, "%s is managed by bare metal node n1", what).data);
}

/* C7: what Placement's clients may not change. */
static void c7_provider(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(make_provider("other", "other", NULL));
    struct plan plan = metal_plan(&metal);
    expect_managed(plan_provider_delete(SLICE_LIT("n1"), &plan, &metal.world.err),
                   "Resource provider n1");
    struct plan_provider_update update = {.uuid = SLICE_LIT("n1"), .name = SLICE_LIT("new")};
    plan = metal_plan(&metal);
    expect_managed(plan_provider_update(&update, &plan, &made, &metal.world.err),
                   "Resource provider n1");
    update = (struct plan_provider_update){.uuid = SLICE_LIT("n1"),
                                           .name = SLICE_LIT("n1"),
                                           .has_parent = true,
                                           .parent_uuid = SLICE_LIT("other")};
    plan = metal_plan(&metal);
    expect_managed(plan_provider_update(&update, &plan, &made, &metal.world.err),
                   "Resource provider n1");
    update = (struct plan_provider_update){.uuid = SLICE_LIT("n1"), .name = SLICE_LIT("n1")};
    plan = metal_plan(&metal);
    assert_true(
        metal_conclude(&metal, plan_provider_update(&update, &plan, &made, &metal.world.err)));
    plan = metal_plan(&metal);
    expect_managed(plan_class_rename(SLICE_LIT("CUSTOM_GOLD"), SLICE_LIT("CUSTOM_SILVER"), &plan,
                                     &metal.world.err),
                   "Resource class CUSTOM_GOLD");
}

static void c7_inventories(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    int64_t generation;
    const char *what = "Inventory of class CUSTOM_GOLD";
    struct plan_inventory items[] = {{SLICE_LIT("CUSTOM_GOLD"), {1, 0, 1, 1, 1, 1.0}, true},
                                     {SLICE_LIT("A"), {4, 0, 1, 4, 1, 1.0}, true}};
    struct plan_inventories input = {.provider_uuid = SLICE_LIT("n1"),
                                     .all_can_be_reserved = true,
                                     .items = items,
                                     .item_count = 2};
    struct plan plan = metal_plan(&metal);
    assert_true(
        metal_conclude(&metal, plan_inventories_set(&input, &plan, &generation, &metal.world.err)));
    input.generation = generation;
    items[0].figures.reserved = 1;
    plan = metal_plan(&metal);
    expect_managed(plan_inventories_set(&input, &plan, &generation, &metal.world.err), what);
    input.item_count = 1;
    plan = metal_plan(&metal);
    expect_managed(plan_inventory_update(&input, &plan, &generation, &metal.world.err), what);
    input.items = items + 1;
    plan = metal_plan(&metal);
    expect_managed(plan_inventories_set(&input, &plan, &generation, &metal.world.err), what);
    plan = metal_plan(&metal);
    expect_managed(
        plan_inventory_delete(SLICE_LIT("n1"), SLICE_LIT("CUSTOM_GOLD"), &plan, &metal.world.err),
        what);
    plan = metal_plan(&metal);
    expect_managed(plan_inventories_delete(SLICE_LIT("n1"), &plan, &metal.world.err), what);
    plan = metal_plan(&metal);
    assert_true(metal_conclude(
        &metal, plan_inventory_delete(SLICE_LIT("n1"), SLICE_LIT("A"), &plan, &metal.world.err)));
}

static void c7_traits(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_A"));
    struct plan plan = metal_plan(&metal);
    struct planned_trait put;
    assert_true(metal_conclude(
        &metal, plan_trait_put(SLICE_LIT("CUSTOM_B"), &plan, &put, &metal.world.err)));
    const struct slice names[] = {SLICE_LIT("CUSTOM_A"), SLICE_LIT("CUSTOM_B")};
    struct plan_provider_traits input = {
        .provider_uuid = SLICE_LIT("n1"), .names = names, .name_count = 2};
    struct planned_traits planned;
    plan = metal_plan(&metal);
    assert_true(metal_conclude(
        &metal, plan_provider_traits_set(&input, &plan, &planned, &metal.world.err)));
    input.names = names + 1;
    input.name_count = 1;
    plan = metal_plan(&metal);
    expect_managed(plan_provider_traits_set(&input, &plan, &planned, &metal.world.err),
                   "Trait CUSTOM_A");
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_B"));
    assert_true(metal_set_traits(&metal, "n1", ""));
    assert_false(metal_has_trait(&metal, "n1", "CUSTOM_B"));
}

static void c7_consumer(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    metal_create_available(&metal, "n2", "silver");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    assert_true(metal_claim(&metal, "a1", "n1", "CUSTOM_GOLD", 1));
    assert_false(metal_claim(&metal, "a1", "n2", "CUSTOM_SILVER", 1));
    metal_assert_refused(&metal, 409, "Consumer a1 is managed by bare metal node n1");
    assert_false(metal_claim(&metal, "a1", "n1", "CUSTOM_GOLD", 0));
    metal_assert_refused(&metal, 409, "Consumer a1 is managed by bare metal node n1");
}

static void c7_reshaper(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    struct reshape_inventory inventories[] = {{SLICE_LIT("A"), {4, 0, 1, 4, 1, 1.0}},
                                              {SLICE_LIT("CUSTOM_GOLD"), {1, 0, 1, 1, 1, 1.0}}};
    const struct reshape_provider one = {
        .uuid = SLICE_LIT("n1"), .inventories = inventories, .inventory_count = 1};
    const struct reshape_provider both = {
        .uuid = SLICE_LIT("n1"), .inventories = inventories, .inventory_count = 2};
    struct plan plan = metal_plan(&metal);
    expect_managed(plan_reshaper(&(struct reshape){.providers = &one, .provider_count = 1}, &plan,
                                 &metal.world.err),
                   "Inventory of class CUSTOM_GOLD");
    plan = metal_plan(&metal);
    assert_true(world_conclude(
        &metal.world, plan_reshaper(&(struct reshape){.providers = &both, .provider_count = 1},
                                    &plan, &metal.world.err)));
    assert_non_null(metal_inventory(&metal, "n1", "A"));
}

static void c7_class_of_a_held_node(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    int32_t generation = metal_consumer(&metal, "a1")->generation;
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "silver"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_SILVER")->used, 1);
    assert_int_equal(metal_consumer(&metal, "a1")->generation, generation + 1);
    assert_true(metal_release(&metal, "a1"));
    assert_null(metal_consumer(&metal, "a1"));
    assert_true(metal_claim(&metal, "c1", "n1", "CUSTOM_SILVER", 1));
    assert_false(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "gold"));
    metal_assert_refused(&metal, 409, "Node n1 is associated with instance c1.");
}

/* Without the mirror the two sides are independent. */
static void mirror_off(void **state)
{
    (void)state;
    metal.metal.mirror = false;
    metal_create_available(&metal, "n1", "gold");
    assert_null(metal_provider(&metal, "n1"));
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    assert_true(node_text_is(metal_node(&metal, "n1"), NODE_INSTANCE_UUID, "a1"));
    assert_null(metal_consumer(&metal, "a1"));
    assert_true(metal_release(&metal, "a1"));
    assert_true(metal_delete(&metal, "n1"));
}

static void class_names(void **state)
{
    (void)state;
    struct slice name =
        node_class_name(SLICE_LIT("bare-metal..Large_\xc3\xa9 9"), metal.world.arena);
    assert_true(slice_equal(name, SLICE_LIT("CUSTOM_BARE_METAL_LARGE_9")));
    assert_null(node_class_name((struct slice){0}, metal.world.arena).data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(c1_provider),
        TEST(c1_adopted),
        TEST(c1_names),
        TEST(c2_inventory),
        TEST(c3_taking),
        TEST(c3_further_inventory),
        TEST(c4_consumer_there),
        TEST(c4_backfill),
        TEST(c5_held),
        TEST(c6_release),
        TEST(c6_deleting),
        TEST(c7_provider),
        TEST(c7_inventories),
        TEST(c7_traits),
        TEST(c7_consumer),
        TEST(c7_reshaper),
        TEST(c7_class_of_a_held_node),
        TEST(mirror_off),
        TEST(class_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
