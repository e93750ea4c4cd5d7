/* What checking costs: in proportion to the rows of the request, and not of the cloud. */
#include <time.h>

#include "baremetal/write/node_rule.h"
#include "engine/allocations.h"
#include "engine/checked.h"
#include "placement/write/plan_classes.h"
#include "products/cloud.h"
#include "unit.h"

static struct metal_world cloud;

static double ms_between(const struct timespec *a, const struct timespec *b)
{
    return (double)(b->tv_sec - a->tv_sec) * 1e3 + (double)(b->tv_nsec - a->tv_nsec) / 1e6;
}

static double cost_of_check(unsigned classes)
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
    struct timespec a, b;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    assert_true(checked_planned(&checked, &plan, &cloud.world.err));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    cloud_close(&cloud);
    return ms_between(&a, &b);
}

/* Of what `cost` says of so many. */
static double best_of_three(double (*cost)(unsigned), unsigned count)
{
    double best = cost(count);
    for (int i = 0; i < 2; i++) {
        double again = cost(count);
        best = again < best ? again : best;
    }
    return best;
}

/* By the square it would be 256 times as much. */
static void test_many_classes(void **state)
{
    (void)state;
    assert_true(best_of_three(cost_of_check, 16000) < 100 * best_of_three(cost_of_check, 1000));
}

/* So many nodes of one class more, by one request. */
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

/* The CPU time of checking the renaming of a class that no node has, some times. */
static double rename_class(unsigned nodes)
{
    enum { TIMES = 50 };
    cloud_open(&cloud);
    cloud.world.skips_store = true;
    make_nodes(nodes);
    cloud.world.author = NULL;
    struct plan plan = metal_plan(&cloud);
    struct timespec a, b;
    assert_true(plan_class_create(SLICE_LIT("CUSTOM_FREE"), &plan, &cloud.world.err));
    assert_true(world_conclude(&cloud.world, true));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    for (unsigned i = 0; i < TIMES; i++) {
        struct checked checked;
        plan = metal_plan(&cloud);
        assert_true(plan_class_rename(SLICE_LIT("CUSTOM_FREE"), SLICE_LIT("CUSTOM_NEW"), &plan,
                                      &cloud.world.err));
        assert_true(checked_planned(&checked, &plan, &cloud.world.err));
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    plan = metal_plan(&cloud);
    assert_false(world_conclude(&cloud.world,
                                plan_class_rename(SLICE_LIT("CUSTOM_IRON"), SLICE_LIT("CUSTOM_NEW"),
                                                  &plan, &cloud.world.err)));
    cloud_close(&cloud);
    return ms_between(&a, &b);
}

/* A walk over all nodes would make it 64 times as much. */
static void test_many_nodes(void **state)
{
    (void)state;
    assert_true(best_of_three(rename_class, 64 * 50) < 8 * best_of_three(rename_class, 50));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_classes),
        cmocka_unit_test(test_many_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
