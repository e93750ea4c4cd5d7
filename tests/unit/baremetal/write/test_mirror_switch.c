/* The mirror is turned off, nodes change, and it is turned on again: what berth wrote to Placement
 * and is outdated is deleted, what others wrote stays (baremetal-allocations spec, 13). */
#include "baremetal/write/metal_world.h"
#include "baremetal/write/node_write.h"
#include "placement/write/plan_providers.h"
#include "replica/nodes.h"
#include "unit.h"

static struct metal_world metal;

static int set_up(void **state)
{
    (void)state;
    metal_open(&metal);
    metal_create_available(&metal, "n1", "gold");
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

static void turn_off(void)
{
    metal.metal.mirror = false;
}

/* One node in the walk at a start. */
static bool mirror(const char *uuid)
{
    struct plan plan = metal_plan(&metal);
    int64_t id = metal_node(&metal, uuid)->record.id;
    return world_conclude(&metal.world, node_write_mirror(id, &plan, &metal.world.err));
}

static bool is_mirrored(const char *uuid)
{
    return node_is_mirrored(version(), metal_node(&metal, uuid), metal.world.arena);
}

/* For all nodes, as at a start. */
static void turn_on(void)
{
    metal.metal.mirror = true;
    const struct node *node;
    for (int64_t id = 0; (node = version_next_node(version(), id)) != NULL;) {
        const char *uuid = arena_copy(metal.world.arena, node_text(node, NODE_UUID)).data;
        id = node->record.id;
        assert_true(mirror(uuid));
        assert_true(is_mirrored(uuid));
    }
    metal_check_rules(&metal);
}

static void allocate(const char *uuid)
{
    assert_true(metal_allocate(&metal, uuid, "gold"));
    assert_true(metal_decide(&metal, uuid, NULL));
}

static void released(void **state)
{
    (void)state;
    allocate("a1");
    metal_assert_active(&metal, "a1", "n1");
    turn_off();
    assert_true(metal_release(&metal, "a1"));
    assert_non_null(metal_consumer(&metal, "a1"));
    assert_false(is_mirrored("n1"));
    int32_t generation = metal_provider(&metal, "n1")->generation;
    turn_on();
    assert_null(metal_consumer(&metal, "a1"));
    assert_int_equal(metal_provider(&metal, "n1")->generation, generation + 1);
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.reserved, 0);
    assert_true(node_is_null(metal_node(&metal, "n1"), NODE_MIRRORED_CONSUMER));
    allocate("a2");
    metal_assert_active(&metal, "a2", "n1");
}

/* The node's next write does the same as the start. */
static void released_and_written(void **state)
{
    (void)state;
    allocate("a1");
    turn_off();
    assert_true(metal_release(&metal, "a1"));
    metal.metal.mirror = true;
    assert_true(metal_maintain(&metal, "n1", true));
    assert_null(metal_consumer(&metal, "a1"));
    assert_true(is_mirrored("n1"));
}

static void released_and_deleted(void **state)
{
    (void)state;
    allocate("a1");
    turn_off();
    assert_true(metal_release(&metal, "a1"));
    metal.metal.mirror = true;
    assert_true(metal_delete(&metal, "n1"));
    assert_null(metal_consumer(&metal, "a1"));
    assert_null(metal_provider(&metal, "n1"));
}

/* Another consumer has it by then: one commit deletes the one and creates the other. */
static void released_and_taken(void **state)
{
    (void)state;
    allocate("a1");
    turn_off();
    assert_true(metal_release(&metal, "a1"));
    allocate("a2");
    assert_null(metal_consumer(&metal, "a2"));
    assert_true(metal_verb(&metal, "n1", "active")); /* twice off: the first is remembered */
    metal_pass(&metal, "n1");
    assert_true(metal_verb(&metal, "n1", "deleted"));
    metal_pass(&metal, "n1");
    metal_pass(&metal, "n1");
    allocate("a3");
    turn_on();
    assert_null(metal_consumer(&metal, "a1"));
    assert_null(metal_consumer(&metal, "a2"));
    assert_non_null(metal_consumer(&metal, "a3"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->used, 1);
    assert_true(metal_release(&metal, "a3"));
    assert_null(metal_consumer(&metal, "a3"));
}

static void same_uuid_again(void **state)
{
    (void)state;
    allocate("a1");
    int32_t generation = metal_consumer(&metal, "a1")->generation;
    turn_off();
    assert_true(metal_release(&metal, "a1"));
    allocate("a1");
    turn_on();
    assert_int_equal(metal_consumer(&metal, "a1")->generation, generation);
    assert_false(metal_claim(&metal, "a1", "n1", "CUSTOM_GOLD", 0)); /* it is berth's */
    assert_true(metal_release(&metal, "a1"));
    assert_null(metal_consumer(&metal, "a1"));
}

/* Adopted consumers, those that berth never wrote, and those that others wrote under that uuid
 * since. */
static void not_ours(void **state)
{
    (void)state;
    assert_true(metal_claim(&metal, "a1", "n1", "CUSTOM_GOLD", 1));
    allocate("a1");
    turn_off();
    assert_true(metal_release(&metal, "a1"));
    turn_on();
    assert_non_null(metal_consumer(&metal, "a1"));
    assert_true(metal_claim(&metal, "a1", "n1", "CUSTOM_GOLD", 0));

    turn_off();
    allocate("a2");
    assert_true(node_is_free(metal_node(&metal, "n1")) == false);
    assert_true(metal_claim(&metal, "a2", "n1", "CUSTOM_GOLD", 1));
    assert_true(metal_release(&metal, "a2"));
    turn_on();
    assert_non_null(metal_consumer(&metal, "a2")); /* the client's own */
    assert_true(metal_claim(&metal, "a2", "n1", "CUSTOM_GOLD", 0));

    turn_off();
    allocate("a3");
    assert_true(metal_claim(&metal, "a3", "n1", "CUSTOM_GOLD", 1));
    turn_on();
    assert_true(metal_release(&metal, "a3")); /* adopted when the mirror came */
    assert_non_null(metal_consumer(&metal, "a3"));
}

/* The consumer now holds something else: it is not as berth wrote it. */
static void altered_since(void **state)
{
    (void)state;
    allocate("a1");
    turn_off();
    metal_put_inventory(&metal, "n1", "A", 4);
    assert_true(metal_release(&metal, "a1"));
    assert_true(metal_claim(&metal, "a1", "n1", "A", 1));
    metal.metal.mirror = true;
    assert_true(mirror("n1"));
    assert_true(is_mirrored("n1"));
    assert_non_null(metal_consumer(&metal, "a1"));
    assert_int_equal(metal_inventory(&metal, "n1", "A")->used, 1);
}

/* A class and traits that berth wrote are deleted; those that operators added stay. */
static void class_and_traits(void **state)
{
    (void)state;
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_A CUSTOM_B"));
    metal_put_inventory(&metal, "n1", "A", 4);
    allocate("a1");
    turn_off();
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_B"));
    assert_true(metal_set_traits(&metal, "n1", "CUSTOM_B CUSTOM_C"));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "bronze"));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "silver"));
    turn_on();
    assert_null(metal_inventory(&metal, "n1", "CUSTOM_GOLD"));
    assert_null(metal_inventory(&metal, "n1", "CUSTOM_BRONZE"));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_SILVER")->used, 1);
    assert_int_equal(metal_inventory(&metal, "n1", "A")->figures.total, 4);
    assert_false(metal_has_trait(&metal, "n1", "CUSTOM_A"));
    assert_true(metal_has_trait(&metal, "n1", "CUSTOM_B") &&
                metal_has_trait(&metal, "n1", "CUSTOM_C"));
    turn_off();
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, NULL));
    assert_true(metal_set_traits(&metal, "n1", ""));
    turn_on();
    assert_null(metal_inventory(&metal, "n1", "CUSTOM_SILVER"));
    assert_null(metal_consumer(&metal, "a1"));
    assert_false(metal_has_trait(&metal, "n1", "CUSTOM_B") ||
                 metal_has_trait(&metal, "n1", "CUSTOM_C"));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "gold"));
    assert_non_null(metal_consumer(&metal, "a1"));
}

/* From no class to another and on to a third: an operator's inventory of the one in between is not
 * berth's. */
static void class_in_between(void **state)
{
    (void)state;
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, NULL));
    turn_off();
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "gold"));
    metal_put_inventory(&metal, "n1", "CUSTOM_GOLD", 7);
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "silver"));
    turn_on();
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->figures.total, 7);
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_SILVER")->figures.total, 1);
}

/* another consumer holds the node's old class: the error says so, and the node goes on. */
static void class_that_is_held(void **state)
{
    (void)state;
    turn_off();
    assert_true(metal_claim(&metal, "c1", "n1", "CUSTOM_GOLD", 1));
    assert_true(metal_patch(&metal, "n1", NODE_RESOURCE_CLASS, "silver"));
    metal.metal.mirror = true;
    assert_false(mirror("n1"));
    metal_assert_refused(&metal, 409, "Node n1 is associated with instance c1.");
    struct plan plan = metal_plan(&metal);
    assert_true(world_conclude(&metal.world,
                               plan_node_maintenance(metal_node(&metal, "n1"), true,
                                                     (struct slice){0}, &plan, &metal.world.err)));
    assert_int_equal(metal_inventory(&metal, "n1", "CUSTOM_GOLD")->used, 1);
    plan = metal_plan(&metal);
    assert_true(world_conclude(&metal.world,
                               plan_node_maintenance(metal_node(&metal, "n1"), false,
                                                     (struct slice){0}, &plan, &metal.world.err)));
    turn_off();
    assert_true(metal_claim(&metal, "c1", "n1", "CUSTOM_GOLD", 0));
    turn_on();
    assert_null(metal_inventory(&metal, "n1", "CUSTOM_GOLD"));
    assert_non_null(metal_inventory(&metal, "n1", "CUSTOM_SILVER"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(released),           TEST(released_and_written), TEST(released_and_deleted),
        TEST(released_and_taken), TEST(same_uuid_again),      TEST(not_ours),
        TEST(altered_since),      TEST(class_and_traits),     TEST(class_in_between),
        TEST(class_that_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
