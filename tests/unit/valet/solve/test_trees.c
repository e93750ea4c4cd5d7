/* Hosts that are trees of providers, servers of one unit that have several candidates, and clouds
 * with more hosts or racks than one window. A tree's root has VCPU and MEMORY_MB, its children have
 * DISK_GB. */
#include <stdio.h>

#include "plan.h"
#include "unit.h"

enum { VCPU, RAM, DISK };

struct scene {
    struct cloud *cloud;
    struct plan *plan;
};

static struct scene begin(void)
{
    struct scene scene = {.cloud = cloud_create()};
    scene.plan = plan_create(scene.cloud->arena);
    return scene;
}

static const char *name_of(struct scene *scene, const char *what, int number)
{
    return arena_printf(scene->cloud->arena, "%s%03d", what, number).data;
}

/* Its root's number; the children follow. */
static int add_tree(struct scene *scene, int number, int vcpus, int disks, int of_each)
{
    int root = cloud_add(scene->cloud, name_of(scene, "h", number), -1);
    cloud_give(scene->cloud, root, VCPU, vcpus);
    cloud_give(scene->cloud, root, RAM, 8);
    for (int i = 0; i < disks; i++)
        cloud_give(scene->cloud,
                   cloud_add(scene->cloud, name_of(scene, "disk", 10 * number + i), root), DISK,
                   of_each);
    return root;
}

static void keep_together(struct scene *scene, enum stack_level level, uint32_t count)
{
    uint32_t group = plan_add_group(scene->plan, "A", STACK_AFFINITY, level, 0);
    for (uint32_t s = 0; s < count; s++)
        plan_add_to(scene->plan, group, s);
}

static void ask(struct scene *scene)
{
    if (scene->cloud->version == NULL)
        cloud_publish(scene->cloud);
    plan_solve(scene->plan, scene->cloud->version);
}

static int host_of(const struct scene *scene, uint32_t server)
{
    assert_int_equal(scene->plan->result, SOLVE_FOUND);
    return (int)scene->plan->outcome.servers[server].host->id - 1;
}

static void assert_reason(struct scene *scene, const char *reason)
{
    ask(scene);
    assert_int_equal(scene->plan->result, SOLVE_NONE);
    assert_string_equal(arena_copy(scene->cloud->arena, scene->plan->outcome.reason).data, reason);
}

/* The number of the child that provides the server's disk. */
static int disk_of(const struct scene *scene, uint32_t server)
{
    const struct solve_server *found = &scene->plan->outcome.servers[server];
    for (uint32_t i = 0; i < found->row_count; i++)
        if (found->rows[i].provider != found->host)
            return (int)(found->rows[i].provider->id - found->host->id);
    return 0;
}

/* Equal servers on one host take its children in order. */
static void equal_servers_share_the_children(void **state)
{
    (void)state;
    struct scene scene = begin();
    add_tree(&scene, 0, 8, 2, 4);
    for (int i = 0; i < 4; i++)
        plan_add_server(scene.plan, name_of(&scene, "s", i), 1, 1, 2);
    keep_together(&scene, STACK_HOST, 4);
    ask(&scene);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(host_of(&scene, i), 0);
        assert_int_equal(disk_of(&scene, i), i < 2 ? 1 : 2);
    }
    cloud_destroy(scene.cloud);
}

/* There are disks for four of the five. Equal servers take them in one order only. */
static void equal_servers_that_are_too_many(void **state)
{
    (void)state;
    struct scene scene = begin();
    add_tree(&scene, 0, 8, 4, 4);
    for (int i = 0; i < 5; i++)
        plan_add_server(scene.plan, name_of(&scene, "s", i), 1, 1, 3);
    keep_together(&scene, STACK_HOST, 5);
    assert_reason(&scene, "Valet error: no combination of hosts for 's000' (id-s000): 1 host "
                          "considered: 1 without capacity");
    assert_in_range(scene.plan->outcome.steps, 1, 40); /* trying every order takes hundreds */
    cloud_destroy(scene.cloud);
}

/* One server uses a child, the others only the root: whether the others fit together is known only
 * when they are placed. */
static void a_unit_of_trees_and_roots(void **state)
{
    (void)state;
    struct scene scene = begin();
    add_tree(&scene, 0, 8, 2, 4);
    add_tree(&scene, 1, 11, 2, 4);
    plan_add_server(scene.plan, "disk", 1, 1, 2);
    plan_add_server(scene.plan, "a", 5, 1, 0);
    plan_add_server(scene.plan, "b", 5, 1, 0);
    keep_together(&scene, STACK_HOST, 3);
    ask(&scene);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(host_of(&scene, i), 3);
    /* another one that uses so much there that either of them still fits, but not both */
    uint32_t more = plan_add_server(scene.plan, "more", 2, 1, 0);
    plan_add_name(scene.plan, &scene.plan->servers[more].locations, "h001");
    assert_reason(&scene, "Valet error: no combination of hosts for 'disk' (id-disk): 2 hosts "
                          "considered: 2 tried in vain");
    cloud_destroy(scene.cloud);
}

/* It uses so much that none of them fits there. */
static void a_unit_of_trees_and_roots_beside_another(void **state)
{
    (void)state;
    struct scene scene = begin();
    add_tree(&scene, 0, 8, 2, 4);
    add_tree(&scene, 1, 11, 2, 4);
    add_tree(&scene, 2, 20, 2, 4);
    plan_add_server(scene.plan, "disk", 1, 1, 2);
    plan_add_server(scene.plan, "a", 5, 1, 0);
    plan_add_server(scene.plan, "b", 5, 1, 0);
    keep_together(&scene, STACK_HOST, 3);
    uint32_t more = plan_add_server(scene.plan, "more", 7, 1, 0);
    plan_add_name(scene.plan, &scene.plan->servers[more].locations, "h001");
    ask(&scene);
    assert_int_equal(host_of(&scene, more), 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(host_of(&scene, i), 6);
    cloud_destroy(scene.cloud);
}

/* The only rack that can hold both is the last one that is tried. */
static void more_racks_than_a_window(void **state)
{
    (void)state;
    enum { RACKS = 70, GOOD = 37 };
    struct scene scene = begin();
    scene.cloud->has_far_aggregates = true;
    for (int i = 0; i < RACKS; i++) {
        int first = cloud_add_host(scene.cloud, name_of(&scene, "a", i), -1, 8);
        int second = cloud_add_host(scene.cloud, name_of(&scene, "b", i), -1, 8);
        if (i != GOOD)
            cloud_use(scene.cloud, NON_MEMBER, second, VCPU, 4);
        int rack = cloud_add(scene.cloud, name_of(&scene, "r", i), -1);
        scene.cloud->providers[rack].traits = 1u << TRAIT_RACK;
        scene.cloud->providers[first].far_aggregate = scene.cloud->providers[second].far_aggregate =
            scene.cloud->providers[rack].far_aggregate = i + 1;
    }
    plan_add_server(scene.plan, "x", 5, 1, 1);
    plan_add_server(scene.plan, "y", 5, 1, 1);
    keep_together(&scene, STACK_RACK, 2);
    ask(&scene);
    assert_int_equal(host_of(&scene, 0) + host_of(&scene, 1), 3 * GOOD + 3 * GOOD + 1);
    int64_t needed = scene.plan->outcome.steps;
    assert_true(needed > RACKS);
    for (scene.plan->request.step_limit = 0; scene.plan->request.step_limit < needed;
         scene.plan->request.step_limit++) {
        ask(&scene);
        assert_int_equal(scene.plan->result, SOLVE_NONE);
        assert_true(slice_starts_with(scene.plan->outcome.reason,
                                      SLICE_LIT("Valet error: search limit of ")));
    }
    ask(&scene);
    assert_int_equal(scene.plan->result, SOLVE_FOUND);
    cloud_destroy(scene.cloud);
}

/* Only the last host has any of the class. */
static void a_rare_class(void **state)
{
    (void)state;
    enum { HOSTS = 300 };
    struct scene scene = begin();
    for (int i = 0; i < HOSTS; i++) {
        int host = cloud_add(scene.cloud, name_of(&scene, "h", i), -1);
        cloud_give(scene.cloud, host, VCPU, 8);
        if (i == HOSTS - 1)
            cloud_give(scene.cloud, host, DISK, 8);
    }
    cloud_use(scene.cloud, NON_MEMBER, 7, VCPU, 4);
    plan_add_server(scene.plan, "plain", 2, 0, 0);
    plan_add_server(scene.plan, "disk", 2, 0, 2);
    ask(&scene);
    assert_int_equal(host_of(&scene, 0), 7);
    assert_int_equal(host_of(&scene, 1), HOSTS - 1);
    cloud_destroy(scene.cloud);
}

/* Both have the same amount left, of different capacities: the larger one is the fuller one. */
static void equal_headrooms_of_unequal_hosts(void **state)
{
    (void)state;
    struct scene scene = begin();
    cloud_give(scene.cloud, cloud_add(scene.cloud, "h1", -1), VCPU, 12);
    cloud_give(scene.cloud, cloud_add(scene.cloud, "h2", -1), VCPU, 16);
    cloud_use(scene.cloud, NON_MEMBER, 0, VCPU, 4);
    cloud_use(scene.cloud, NON_MEMBER, 1, VCPU, 8);
    plan_add_server(scene.plan, "s", 2, 0, 0);
    ask(&scene);
    assert_int_equal(host_of(&scene, 0), 1);
    cloud_destroy(scene.cloud);
}

/* The first server of the block stays. */
static void the_limit_at_a_rack(void **state)
{
    (void)state;
    struct scene scene = begin();
    cloud_add_host(scene.cloud, "h1", 0, 8);
    cloud_add_host(scene.cloud, "h2", 0, 8);
    cloud_add_rack(scene.cloud, "r1", 0);
    cloud_publish(scene.cloud);
    for (int i = 0; i < 3; i++)
        plan_add_server(scene.plan, name_of(&scene, "s", i), 5, 1, 1);
    keep_together(&scene, STACK_RACK, 3);
    scene.plan->pins[0] =
        (struct solve_pin){.kind = SOLVE_FIXED, .present = cloud_provider_at(scene.cloud, 0)};
    scene.plan->request.step_limit = 0;
    assert_reason(&scene, "Valet error: search limit of 0 steps reached at 's001'");
    scene.plan->request.step_limit = 100;
    ask(&scene);
    assert_int_equal(host_of(&scene, 1) + host_of(&scene, 2), 1);
    cloud_destroy(scene.cloud);
}

/* The outer group comes first in the stack. */
static void a_group_before_the_one_that_it_lists(void **state)
{
    (void)state;
    struct scene scene = begin();
    for (int i = 0; i < 3; i++)
        cloud_add_host(scene.cloud, name_of(&scene, "h", i), -1, 4);
    for (int i = 0; i < 4; i++)
        plan_add_server(scene.plan, name_of(&scene, "s", i), 2, 1, 1);
    uint32_t apart = plan_add_group(scene.plan, "D", STACK_DIVERSITY, STACK_HOST, 0);
    uint32_t outer = plan_add_group(scene.plan, "O", STACK_AFFINITY, STACK_HOST, 0);
    uint32_t inner = plan_add_group(scene.plan, "I", STACK_AFFINITY, STACK_HOST, 0);
    plan_add_group_to(scene.plan, apart, outer);
    plan_add_to(scene.plan, apart, 2);
    plan_add_group_to(scene.plan, outer, inner);
    plan_add_to(scene.plan, outer, 0);
    plan_add_to(scene.plan, inner, 1);
    ask(&scene);
    assert_int_equal(host_of(&scene, 0), host_of(&scene, 1));
    assert_int_not_equal(host_of(&scene, 0), host_of(&scene, 2));
    cloud_destroy(scene.cloud);
}

/* A unit of one server and a unit of two, with the same needs, for the first group. */
static void units_of_different_sizes(void **state)
{
    (void)state;
    struct scene scene = begin();
    for (int i = 0; i < 3; i++)
        cloud_add_host(scene.cloud, name_of(&scene, "h", i), -1, 6);
    for (int i = 0; i < 4; i++)
        plan_add_server(scene.plan, name_of(&scene, "s", i), 3, 1, 1);
    keep_together(&scene, STACK_HOST, 2);
    uint32_t gold = plan_add_group(scene.plan, "E", STACK_EXCLUSIVITY, STACK_HOST, 0);
    for (uint32_t s = 0; s < 4; s++)
        plan_add_to(scene.plan, gold, s);
    ask(&scene);
    assert_int_equal(host_of(&scene, 0), host_of(&scene, 1));
    assert_int_equal(host_of(&scene, 2), host_of(&scene, 3));
    assert_int_not_equal(host_of(&scene, 0), host_of(&scene, 2));
    assert_int_equal(scene.plan->outcome.claim_count, 2);
    cloud_destroy(scene.cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_servers_share_the_children),
        cmocka_unit_test(equal_servers_that_are_too_many),
        cmocka_unit_test(a_unit_of_trees_and_roots),
        cmocka_unit_test(a_unit_of_trees_and_roots_beside_another),
        cmocka_unit_test(more_racks_than_a_window),
        cmocka_unit_test(a_rare_class),
        cmocka_unit_test(equal_headrooms_of_unequal_hosts),
        cmocka_unit_test(the_limit_at_a_rack),
        cmocka_unit_test(a_group_before_the_one_that_it_lists),
        cmocka_unit_test(units_of_different_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
