/* The cost of checking is proportional to the rows of the request, not to the size of the cloud. */
#include "baremetal/write/node_rule.h"
#include "engine/allocations.h"
#include "engine/checked.h"
#include "placement/write/plan_classes.h"
#include "products/cloud.h"
#include "steps.h"
#include "unit.h"

static struct metal_world cloud;

static struct steps_cost cost_of_check(unsigned classes)
{
    cloud_open(&cloud);
    cloud.world.author = NULL;
    struct plan plan = metal_plan(&cloud);
    const struct provider *provider = metal_provider(&cloud, "h5");
    struct consumer_owner owner = {plan_name_id(&plan, CHANGE_PROJECT_INSERT, SLICE_LIT("x")),
                                   plan_name_id(&plan, CHANGE_USER_INSERT, SLICE_LIT("x")), 0};
    int64_t id = allocations_put_consumer(&plan, NULL, SLICE_LIT("c"), &owner);
    for (unsigned i = 0; i < classes; i++) {
        struct change *change = change_append(plan.changes, CHANGE_CLASS_INSERT);
        change->catalog = (struct change_catalog){20000 + i, arena_printf(plan.arena, "Q%u", i)};
        change = change_append(plan.changes, CHANGE_INVENTORY_INSERT);
        change->inventory = (struct change_inventory){provider->id, 20000 + i, 1, 0, 1, 1, 1, 1.0};
        allocations_consume(&plan, id, SLICE_LIT("c"), provider->id, 20000 + i, 1);
    }
    struct checked checked;
    uint64_t before = steps_now();
    assert_true(checked_planned(&checked, &plan, &cloud.world.err));
    struct steps_cost cost = {classes, steps_since(before)};
    cloud_close(&cloud);
    return cost;
}

static void test_many_classes(void **state)
{
    (void)state;
    steps_assert_linear("classes", cost_of_check(1000), cost_of_check(8000));
}

/* Adds that many nodes of one class, in one request. */
static void make_nodes(unsigned count)
{
    cloud.world.author = &node_rule;
    struct plan plan = metal_plan(&cloud);
    const struct node *node;
    for (unsigned i = 0; i < count; i++) {
        const char *uuid = arena_printf(plan.arena, "node%u", i).data;
        struct node_draft draft = metal_new_node(uuid, "iron");
        assert_true(plan_node_create(&draft, &plan, &node, &cloud.world.err));
    }
    assert_true(world_conclude(&cloud.world, true));
}

/* Checks the renaming of a class that no node has. */
static uint64_t cost_of_renaming(unsigned nodes)
{
    cloud_open(&cloud);
    cloud.world.skips_store = true;
    make_nodes(nodes);
    cloud.world.author = NULL;
    struct plan plan = metal_plan(&cloud);
    assert_true(plan_class_create(SLICE_LIT("CUSTOM_FREE"), &plan, &cloud.world.err));
    assert_true(world_conclude(&cloud.world, true));
    struct checked checked;
    plan = metal_plan(&cloud);
    uint64_t before = steps_now();
    assert_true(plan_class_rename(SLICE_LIT("CUSTOM_FREE"), SLICE_LIT("CUSTOM_NEW"), &plan,
                                  &cloud.world.err));
    assert_true(checked_planned(&checked, &plan, &cloud.world.err));
    uint64_t cost = steps_since(before);
    plan = metal_plan(&cloud);
    assert_false(world_conclude(&cloud.world,
                                plan_class_rename(SLICE_LIT("CUSTOM_IRON"), SLICE_LIT("CUSTOM_NEW"),
                                                  &plan, &cloud.world.err)));
    cloud_close(&cloud);
    return cost;
}

/* A walk over all nodes would take 64 times as many steps. */
static void test_many_nodes(void **state)
{
    (void)state;
    uint64_t few = cost_of_renaming(50);
    uint64_t many = cost_of_renaming(64 * 50);
    assert_true(many < 2 * few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_classes),
        cmocka_unit_test(test_many_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
