/* The new conditions for servers that stay: their texts, the claims, and what does not count as
 * new. */
#include <stdio.h>

#include "plan.h"
#include "unit.h"

enum { RACK_A, RACK_B };

/* a1, a2 in one rack, b1 in another, c1 in none; s0 and s1 stay on a1, s2 on b1. */
struct scene {
    struct cloud *cloud;
    struct plan *plan;
    struct plan *accepted;
    int hosts[4];
};

static struct plan *plan_of(struct scene *scene)
{
    static const int AT[] = {0, 0, 2};
    struct plan *plan = plan_create(scene->cloud->arena);
    for (int s = 0; s < 3; s++) {
        uint32_t at = plan_add_server(plan, s == 0 ? "s0" : s == 1 ? "s1" : "s2", 1, 0, 0);
        plan->pins[at].kind = SOLVE_FIXED;
        plan->pins[at].present = cloud_provider_at(scene->cloud, scene->hosts[AT[s]]);
        plan->pins[at].own[0] = cloud_consumer_at(scene->cloud, s);
    }
    return plan;
}

static struct scene begin(void)
{
    static const char *const NAMES[] = {"a1", "a2", "b1", "c1"};
    struct scene scene = {.cloud = cloud_create()};
    for (int i = 0; i < 4; i++)
        scene.hosts[i] = i == 3 ? cloud_add(scene.cloud, NAMES[i], -1)
                                : cloud_add_host(scene.cloud, NAMES[i], i < 2 ? RACK_A : RACK_B, 8);
    cloud_add_rack(scene.cloud, "ra", RACK_A);
    cloud_add_rack(scene.cloud, "rb", RACK_B);
    cloud_use(scene.cloud, MEMBER, scene.hosts[0], 0, 1);
    cloud_use(scene.cloud, MEMBER, scene.hosts[0], 0, 1);
    cloud_use(scene.cloud, MEMBER, scene.hosts[2], 0, 1);
    cloud_publish(scene.cloud);
    scene.plan = plan_of(&scene);
    scene.accepted = plan_of(&scene);
    scene.plan->request.accepted = &scene.accepted->stack;
    return scene;
}

static uint32_t add(struct plan *plan, enum stack_group_type type, enum stack_level level,
                    uint32_t a, uint32_t b)
{
    uint32_t group = plan_add_group(plan, "G", type, level, 0);
    plan_add_to(plan, group, a);
    if (b != a)
        plan_add_to(plan, group, b);
    return group;
}

/* reason NULL: accepted. */
static void end(struct scene *scene, const char *reason)
{
    plan_solve(scene->plan, scene->cloud->version);
    if (reason == NULL)
        assert_int_equal(scene->plan->result, SOLVE_FOUND);
    else
        assert_string_equal(arena_copy(scene->cloud->arena, scene->plan->outcome.reason).data,
                            reason);
    cloud_destroy(scene->cloud);
}

static void pairs_are_named(void **state)
{
    (void)state;
    struct scene scene = begin();
    add(scene.plan, STACK_DIVERSITY, STACK_HOST, 0, 1);
    end(&scene, "Valet error: 's0' and 's1' are kept on different hosts by 'G', but stay on 'a1' "
                "and 'a1'");
    scene = begin();
    add(scene.plan, STACK_DIVERSITY, STACK_RACK, 0, 1);
    end(&scene, "Valet error: 's0' and 's1' are kept on different racks by 'G', but stay on 'a1' "
                "and 'a1'");
    scene = begin();
    add(scene.plan, STACK_AFFINITY, STACK_HOST, 1, 2);
    end(&scene, "Valet error: 's1' and 's2' are bound to one host by affinity, but stay on 'a1' "
                "and 'b1'");
    scene = begin();
    add(scene.plan, STACK_AFFINITY, STACK_RACK, 1, 2);
    end(&scene, "Valet error: 's1' and 's2' are bound to one rack by affinity, but stay on 'a1' "
                "and 'b1'");
    scene = begin();
    add(scene.plan, STACK_DIVERSITY, STACK_RACK, 0, 2);
    add(scene.plan, STACK_AFFINITY, STACK_HOST, 0, 1);
    end(&scene, NULL);
}

static void what_was_asked_before_is_left_alone(void **state)
{
    (void)state;
    struct scene scene = begin();
    add(scene.accepted, STACK_DIVERSITY, STACK_HOST, 0, 1);
    add(scene.plan, STACK_DIVERSITY, STACK_HOST, 0, 1);
    end(&scene, NULL);
    scene = begin(); /* the stronger one counts */
    add(scene.accepted, STACK_DIVERSITY, STACK_RACK, 0, 1);
    add(scene.plan, STACK_DIVERSITY, STACK_HOST, 0, 1);
    end(&scene, NULL);
    scene = begin();
    add(scene.accepted, STACK_AFFINITY, STACK_HOST, 1, 2);
    add(scene.plan, STACK_AFFINITY, STACK_RACK, 1, 2);
    end(&scene, NULL);
    scene = begin(); /* the weaker one does not */
    add(scene.accepted, STACK_AFFINITY, STACK_RACK, 1, 2);
    add(scene.plan, STACK_AFFINITY, STACK_HOST, 1, 2);
    end(&scene, "Valet error: 's1' and 's2' are bound to one host by affinity, but stay on 'a1' "
                "and 'b1'");
    scene = begin(); /* without an accepted plan nothing is checked */
    add(scene.plan, STACK_AFFINITY, STACK_HOST, 1, 2);
    scene.plan->request.accepted = NULL;
    end(&scene, NULL);
}

static void limits_of_one_are_reported(void **state)
{
    (void)state;
    struct scene scene = begin();
    plan_add_name(scene.plan, &scene.plan->servers[0].locations, "b1");
    end(&scene, "Valet error: no host for 's0' (id-s0): 1 host considered: 1 not in locations");
    scene = begin();
    plan_add_name(scene.plan, &scene.plan->servers[0].locations, "b1");
    plan_add_name(scene.plan, &scene.plan->servers[0].locations, "c1");
    plan_add_name(scene.accepted, &scene.accepted->servers[0].locations, "c1");
    plan_add_name(scene.accepted, &scene.accepted->servers[0].locations, "b1");
    end(&scene, NULL);
    scene = begin();
    scene.plan->servers[2].zone = SLICE_LIT("moon");
    end(&scene, "Valet error: no host for 's2' (id-s2): 1 host considered: 1 in another zone");
    scene = begin();
    scene.plan->pins[2].present = cloud_provider_at(scene.cloud, scene.hosts[3]);
    add(scene.plan, STACK_DIVERSITY, STACK_RACK, 0, 2);
    end(&scene, "Valet error: no host for 's2' (id-s2): 1 host considered: 1 without rack");
}

static void claims_are_made(void **state)
{
    (void)state;
    struct scene scene = begin();
    add(scene.plan, STACK_EXCLUSIVITY, STACK_HOST, 0, 0);
    end(&scene, "Valet error: no host for 's0' (id-s0): 1 host considered: 1 not free for "
                "exclusivity group 'gold'");
    scene = begin();
    add(scene.plan, STACK_EXCLUSIVITY, STACK_RACK, 0, 1);
    add(scene.plan, STACK_EXCLUSIVITY, STACK_HOST, 2, 2);
    /* a new server of no group finds the claimed hosts held */
    uint32_t comes = plan_add_server(scene.plan, "s3", 1, 0, 0);
    plan_add_name(scene.plan, &scene.plan->servers[comes].locations, "a2");
    struct plan *plan = scene.plan;
    plan_solve(plan, scene.cloud->version);
    assert_int_equal(plan->result, SOLVE_NONE);
    assert_string_equal(arena_copy(plan->arena, plan->outcome.reason).data,
                        "Valet error: no host for 's3' (id-s3): 4 hosts considered: 3 not in "
                        "locations, 1 held by exclusivity group 'gold'");
    plan->stack.server_count--;
    plan_solve(plan, scene.cloud->version);
    assert_int_equal(plan->result, SOLVE_FOUND);
    assert_int_equal(plan->outcome.claim_count, 2);
    assert_true(plan->outcome.claims[0].is_rack && plan->outcome.claims[0].host_count == 2);
    assert_ptr_equal(plan->outcome.claims[1].provider, plan->pins[2].present);
    assert_true(plan->outcome.exclusives[0].is_rack && !plan->outcome.exclusives[2].is_rack);
    end(&scene, NULL);
}

/* Servers that all stay need no search, so that no limit of it applies. */
static void nothing_to_search_has_no_limit(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct cloud *cloud = cloud_create();
    struct plan *plan = plan_create(arena);
    char name[24];
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof(name), "h%02d", i);
        cloud_add_host(cloud, name, -1, 8);
    }
    cloud_publish(cloud);
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof(name), "s%d", i);
        plan_add_server(plan, name, 1, 0, 0);
        plan->pins[i].kind = SOLVE_FIXED;
        plan->pins[i].present = cloud_provider_at(cloud, i);
    }
    for (uint32_t without = 0; without < 64; without++) {
        uint32_t group = plan_add_group(plan, "apart", STACK_DIVERSITY, STACK_HOST, 0);
        for (uint32_t s = 0; s < 64; s++)
            if (s != without)
                plan_add_to(plan, group, s);
    }
    plan->request.step_limit = 1;
    plan_solve(plan, cloud->version);
    assert_int_equal(plan->result, SOLVE_FOUND);
    assert_int_equal(plan->outcome.steps, 0);
    arena_destroy(arena);
    cloud_destroy(cloud);
}

/* What is no longer a host is in no zone and no rack, and cannot be claimed. */
static void servers_on_what_is_no_host(void **state)
{
    (void)state;
    enum { RACK_PROVIDER = 4 };
    struct scene scene = begin();
    const struct provider *rack = cloud_provider_at(scene.cloud, RACK_PROVIDER);
    scene.plan->pins[2].present = rack;
    scene.plan->servers[2].zone = SLICE_LIT("nova");
    end(&scene, "Valet error: no host for 's2' (id-s2): 1 host considered: 1 in another zone");
    scene = begin();
    scene.plan->pins[2].present = cloud_provider_at(scene.cloud, RACK_PROVIDER);
    add(scene.plan, STACK_EXCLUSIVITY, STACK_HOST, 2, 2);
    end(&scene, "Valet error: no host for 's2' (id-s2): 1 host considered: 1 not free for "
                "exclusivity group 'gold'");
    scene = begin(); /* nothing is known to be beside it */
    scene.plan->pins[1].present = scene.plan->pins[2].present =
        cloud_provider_at(scene.cloud, RACK_PROVIDER);
    add(scene.plan, STACK_DIVERSITY, STACK_HOST, 1, 2);
    end(&scene, NULL);
}

/* The rack was required before, and is claimed now. */
static void a_rack_is_claimed_for_a_host_without_one(void **state)
{
    (void)state;
    struct scene scene = begin();
    scene.plan->pins[2].present = cloud_provider_at(scene.cloud, scene.hosts[3]);
    add(scene.accepted, STACK_DIVERSITY, STACK_RACK, 0, 2);
    add(scene.plan, STACK_EXCLUSIVITY, STACK_RACK, 2, 2);
    end(&scene, "Valet error: no host for 's2' (id-s2): 1 host considered: 1 without rack");
}

/* Of several groups, the one that keeps the two apart. */
static void the_right_group_is_named(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 2; first++) {
        struct scene scene = begin();
        uint32_t other = plan_add_group(scene.plan, "other", STACK_DIVERSITY, STACK_HOST, 0);
        plan_add_to(scene.plan, other, first);
        plan_add_to(scene.plan, other, 2);
        add(scene.plan, STACK_DIVERSITY, STACK_HOST, 0, 1);
        end(&scene, "Valet error: 's0' and 's1' are kept on different hosts by 'G', but stay on "
                    "'a1' and 'a1'");
    }
}

/* The accepted content had another server in place of s1. */
static void a_server_that_was_not_accepted_is_checked(void **state)
{
    (void)state;
    struct scene scene = begin();
    scene.accepted->servers[1].orchestration_id = SLICE_LIT("another");
    add(scene.accepted, STACK_DIVERSITY, STACK_HOST, 0, 1);
    add(scene.plan, STACK_DIVERSITY, STACK_HOST, 0, 1);
    end(&scene, "Valet error: 's0' and 's1' are kept on different hosts by 'G', but stay on 'a1' "
                "and 'a1'");
}

/* Whatever the budget, it ends with the same answer, or with the error that the limit was too low.
 */
static void the_budget(void **state)
{
    (void)state;
    struct scene scene = begin();
    struct plan *plan = scene.plan;
    add(scene.accepted, STACK_DIVERSITY, STACK_HOST, 0, 1);
    add(plan, STACK_DIVERSITY, STACK_HOST, 0, 1);
    add(plan, STACK_AFFINITY, STACK_RACK, 0, 1);
    plan_add_name(plan, &plan->servers[2].locations, "b1");
    int64_t needed = 0;
    for (;; needed++) {
        plan->budget = (struct budget){.left = needed};
        plan_solve(plan, scene.cloud->version);
        if (plan->result == SOLVE_FOUND)
            break;
        assert_int_equal(plan->result, SOLVE_EXPENSIVE);
        assert_null(plan->outcome.reason.data);
    }
    assert_true(needed > 100);
    cloud_destroy(scene.cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_named),
        cmocka_unit_test(what_was_asked_before_is_left_alone),
        cmocka_unit_test(limits_of_one_are_reported),
        cmocka_unit_test(claims_are_made),
        cmocka_unit_test(nothing_to_search_has_no_limit),
        cmocka_unit_test(servers_on_what_is_no_host),
        cmocka_unit_test(a_rack_is_claimed_for_a_host_without_one),
        cmocka_unit_test(the_right_group_is_named),
        cmocka_unit_test(a_server_that_was_not_accepted_is_checked),
        cmocka_unit_test(the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
