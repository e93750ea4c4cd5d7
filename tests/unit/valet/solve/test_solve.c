/* Single rules of the planner (Valet spec, 7.2, 8.3, 9.2, 9.5), on a cloud of two racks with two
 * hosts each and one host in no rack: r1 has h1 and h2, r2 has h3 and h4; h5 is alone. */
#include <stdlib.h>

#include "plan.h"
#include "unit.h"

enum { H1, H2, H3, H4, H5, R1, R2 };

struct scene {
    struct cloud *cloud;
    struct plan *plan;
};

static int open_scene(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));
    scene->cloud = cloud_create();
    cloud_add_host(scene->cloud, "h1", 0, 8);
    cloud_add_host(scene->cloud, "h2", 0, 8);
    cloud_add_host(scene->cloud, "h3", 1, 8);
    cloud_add_host(scene->cloud, "h4", 1, 8);
    cloud_add_host(scene->cloud, "h5", -1, 8);
    cloud_add_rack(scene->cloud, "r1", 0);
    cloud_add_rack(scene->cloud, "r2", 1);
    scene->plan = plan_create(scene->cloud->arena);
    *state = scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;
    cloud_destroy(scene->cloud);
    free(scene);
    return 0;
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

static void expect_reason(struct scene *scene, const char *reason)
{
    ask(scene);
    assert_int_equal(scene->plan->result, SOLVE_NONE);
    assert_string_equal(scene->plan->outcome.reason.data, reason);
}

static const struct provider *at(const struct scene *scene, int provider)
{
    return cloud_provider_at(scene->cloud, provider);
}

static void prefers_used_then_best_fit_then_names(void **state)
{
    struct scene *scene = *state;
    uint32_t server = plan_add_server(scene->plan, "web", 2, 2, 2);
    ask(scene);
    assert_int_equal(host_of(scene, server), H1);
    struct scene *other;
    open_scene((void **)&other);
    cloud_use(other->cloud, NON_MEMBER, H2, 0, 1);
    cloud_use(other->cloud, NON_MEMBER, H4, 0, 5);
    cloud_use(other->cloud, NON_MEMBER, H5, 0, 7);
    server = plan_add_server(other->plan, "web", 2, 2, 2);
    ask(other);
    assert_int_equal(host_of(other, server), H4);
    close_scene((void **)&other);
}

static void prefers_the_present_host(void **state)
{
    struct scene *scene = *state;
    cloud_use(scene->cloud, NON_MEMBER, H1, 0, 1);
    int hold = cloud_use(scene->cloud, MEMBER, H3, 0, 8);
    cloud_publish(scene->cloud);
    uint32_t server = plan_add_server(scene->plan, "web", 8, 1, 1);
    scene->plan->pins[server].present = at(scene, H3);
    scene->plan->pins[server].released = cloud_consumer_at(scene->cloud, hold);
    ask(scene);
    assert_int_equal(host_of(scene, server), H3);
    plan_add_name(scene->plan, &scene->plan->pins[server].excluded, "h3");
    ask(scene);
    assert_int_equal(host_of(scene, server), H2);
}

static void affinity_and_diversity(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    uint32_t a1 = plan_add_server(plan, "a1", 5, 1, 1);
    uint32_t a2 = plan_add_server(plan, "a2", 3, 1, 1);
    uint32_t b1 = plan_add_server(plan, "b1", 4, 1, 1);
    uint32_t b2 = plan_add_server(plan, "b2", 4, 1, 1);
    uint32_t a = plan_add_group(plan, "A", STACK_AFFINITY, STACK_HOST, 0);
    uint32_t b = plan_add_group(plan, "B", STACK_AFFINITY, STACK_HOST, 0);
    uint32_t d = plan_add_group(plan, "D", STACK_DIVERSITY, STACK_RACK, 0);
    plan_add_to(plan, a, a1);
    plan_add_to(plan, a, a2);
    plan_add_to(plan, b, b1);
    plan_add_to(plan, b, b2);
    plan_add_group_to(plan, d, a);
    plan_add_group_to(plan, d, b);
    ask(scene);
    assert_int_equal(host_of(scene, a1), host_of(scene, a2));
    assert_int_equal(host_of(scene, b1), host_of(scene, b2));
    assert_true((host_of(scene, a1) <= H2) != (host_of(scene, b1) <= H2));
    assert_true(host_of(scene, a1) <= H4 && host_of(scene, b1) <= H4);
}

/* An affinity group binds what a diversity group that it lists keeps apart. */
static void one_rack_different_hosts(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    cloud_use(scene->cloud, NON_MEMBER, H1, 0, 7);
    uint32_t a = plan_add_server(plan, "a", 4, 1, 1);
    uint32_t b = plan_add_server(plan, "b", 4, 1, 1);
    uint32_t d = plan_add_group(plan, "D", STACK_DIVERSITY, STACK_HOST, 0);
    uint32_t r = plan_add_group(plan, "R", STACK_AFFINITY, STACK_RACK, 0);
    plan_add_to(plan, d, a);
    plan_add_to(plan, d, b);
    plan_add_group_to(plan, r, d);
    ask(scene);
    assert_true(host_of(scene, a) != host_of(scene, b));
    assert_true(host_of(scene, a) >= H3 && host_of(scene, a) <= H4);
    assert_true(host_of(scene, b) >= H3 && host_of(scene, b) <= H4);
}

static void contradictions_are_named(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    uint32_t a = plan_add_server(plan, "a", 1, 1, 1);
    uint32_t b = plan_add_server(plan, "b", 1, 1, 1);
    uint32_t h = plan_add_group(plan, "H", STACK_AFFINITY, STACK_HOST, 0);
    uint32_t d = plan_add_group(plan, "D", STACK_DIVERSITY, STACK_RACK, 0);
    plan_add_to(plan, h, a);
    plan_add_to(plan, h, b);
    plan_add_to(plan, d, a);
    plan_add_to(plan, d, b);
    expect_reason(scene, "Valet error: 'a' and 'b' are bound to one rack by affinity, but kept on "
                         "different racks by 'D'");
    plan->groups[d].level = STACK_HOST;
    expect_reason(scene, "Valet error: 'a' and 'b' are bound to one host by affinity, but kept on "
                         "different hosts by 'D'");
    plan->groups[d].element_count = 0;
    uint32_t gold = plan_add_group(plan, "G", STACK_EXCLUSIVITY, STACK_HOST, 0);
    uint32_t iron = plan_add_group(plan, "I", STACK_EXCLUSIVITY, STACK_HOST, 1);
    plan_add_to(plan, gold, a);
    plan_add_to(plan, iron, b);
    expect_reason(scene, "Valet error: 'b' and 'a' are bound by affinity, but assigned to two "
                         "exclusivity groups, 'gold' and 'iron'");
}

static void a_host_is_claimed(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    cloud_use(scene->cloud, NON_MEMBER, H1, 0, 1);
    uint32_t a = plan_add_server(plan, "a", 2, 1, 1);
    uint32_t b = plan_add_server(plan, "b", 2, 1, 1);
    uint32_t c = plan_add_server(plan, "c", 8, 1, 1);
    uint32_t gold = plan_add_group(plan, "G", STACK_EXCLUSIVITY, STACK_HOST, 0);
    plan_add_to(plan, gold, a);
    plan_add_to(plan, gold, b);
    ask(scene);
    assert_int_equal(host_of(scene, a), host_of(scene, b));
    assert_true(host_of(scene, a) != host_of(scene, c));
    assert_true(host_of(scene, a) != H1);
    assert_int_equal(plan->outcome.claim_count, 1);
    assert_false(plan->outcome.claims[0].is_rack);
    assert_ptr_equal(plan->outcome.claims[0].provider, plan->outcome.servers[a].host);
    assert_ptr_equal(plan->outcome.claims[0].hosts[0], plan->outcome.servers[a].host);
    assert_int_equal(plan->outcome.claims[0].host_count, 1);
}

static void a_rack_is_claimed(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    cloud_use(scene->cloud, MEMBER, H2, 0, 1);
    uint32_t a = plan_add_server(plan, "a", 8, 1, 1);
    uint32_t b = plan_add_server(plan, "b", 8, 1, 1);
    uint32_t gold = plan_add_group(plan, "G", STACK_EXCLUSIVITY, STACK_RACK, 0);
    plan_add_to(plan, gold, a);
    plan_add_to(plan, gold, b);
    ask(scene);
    assert_int_equal(host_of(scene, a) + host_of(scene, b), H3 + H4);
    assert_int_equal(plan->outcome.claim_count, 1);
    assert_true(plan->outcome.claims[0].is_rack);
    assert_ptr_equal(plan->outcome.claims[0].provider, at(scene, R2));
    assert_int_equal(plan->outcome.claims[0].host_count, 2);
    uint32_t c = plan_add_server(plan, "c", 8, 1, 1);
    plan_add_to(plan, gold, c);
    expect_reason(scene, "Valet error: no combination of hosts for 'c' (id-c): 5 hosts considered: "
                         "1 without rack, 3 without capacity, "
                         "1 not free for exclusivity group 'gold'");
}

static void fixed_servers_bind(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    cloud_publish(scene->cloud);
    uint32_t a = plan_add_server(plan, "a", 1, 1, 1);
    uint32_t b = plan_add_server(plan, "b", 1, 1, 1);
    uint32_t c = plan_add_server(plan, "c", 1, 1, 1);
    uint32_t r = plan_add_group(plan, "R", STACK_AFFINITY, STACK_RACK, 0);
    uint32_t d = plan_add_group(plan, "D", STACK_DIVERSITY, STACK_HOST, 0);
    plan_add_to(plan, r, a);
    plan_add_to(plan, r, b);
    plan_add_to(plan, d, a);
    plan_add_to(plan, d, b);
    plan_add_to(plan, d, c);
    plan->pins[a] = (struct solve_pin){.kind = SOLVE_FIXED, .present = at(scene, H3)};
    plan->pins[c] = (struct solve_pin){.kind = SOLVE_ABSENT, .present = at(scene, H4)};
    ask(scene);
    assert_null(plan->outcome.servers[a].host);
    assert_null(plan->outcome.servers[c].host);
    assert_int_equal(host_of(scene, b), H4);
    plan->pins[c].kind = SOLVE_FIXED;
    expect_reason(scene, "Valet error: no host for 'b' (id-b): 5 hosts considered: 1 without rack, "
                         "2 not where affinity binds it, 2 not apart from others");
}

static void several_fixed_servers_bind_to_their_rack(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    cloud_publish(scene->cloud);
    uint32_t r = plan_add_group(plan, "R", STACK_AFFINITY, STACK_RACK, 0);
    for (int i = 0; i < 3; i++)
        plan_add_to(plan, r, plan_add_server(plan, i == 0 ? "a" : i == 1 ? "b" : "c", 1, 1, 1));
    for (int i = 0; i < 2; i++)
        plan->pins[i] = (struct solve_pin){.kind = SOLVE_FIXED, .present = at(scene, H3 + i)};
    ask(scene);
    assert_in_range(host_of(scene, 2), H3, H4);
    plan->pins[1].present = at(scene, H1); /* nova has moved it to another rack */
    expect_reason(scene, "Valet error: no host for 'c' (id-c): 5 hosts considered: 1 without rack, "
                         "4 not where affinity binds it");
}

static void a_server_without_a_host(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    scene->cloud->providers[H1].traits = 1u << TRAIT_DISABLED;
    scene->cloud->providers[H2].traits = 1u << TRAIT_FAST;
    scene->cloud->providers[H4].aggregates |= CLOUD_BIT(GROUP_AGGREGATE + 1);
    scene->cloud->providers[H4].traits = 1u << TRAIT_FAST;
    cloud_use(scene->cloud, NON_MEMBER, H2, 0, 7);
    uint32_t web = plan_add_server(plan, "web", 2, 1, 1);
    plan_add_name(plan, &plan->servers[web].required, cloud_trait_name(TRAIT_FAST));
    plan_add_name(plan, &plan->pins[web].excluded, "h5");
    expect_reason(scene, "Valet error: no host for 'web' (id-web): 5 hosts considered: 1 excluded, "
                         "1 disabled, 1 without traits, 1 without capacity, "
                         "1 held by exclusivity group 'iron'");
    plan_add_name(plan, &plan->stack.locations, "h3");
    plan->servers[web].zone = SLICE_LIT("z9");
    expect_reason(scene, "Valet error: no host for 'web' (id-web): 5 hosts considered: "
                         "4 not in locations, 1 in another zone");
}

static void too_few_racks(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    uint32_t d = plan_add_group(plan, "D", STACK_DIVERSITY, STACK_RACK, 0);
    plan_add_to(plan, d, plan_add_server(plan, "a", 1, 1, 1));
    plan_add_to(plan, d, plan_add_server(plan, "b", 1, 1, 1));
    plan_add_to(plan, d, plan_add_server(plan, "c", 1, 1, 1));
    expect_reason(scene, "Valet error: no combination of hosts for 'c' (id-c): 5 hosts considered: "
                         "1 without rack, 4 too few for all of diversity group 'D'");
    assert_int_equal(plan->outcome.steps, 0);
}

static void the_limit_of_steps(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    plan_add_server(plan, "a", 1, 1, 1);
    plan_add_server(plan, "b", 2, 1, 1);
    plan->request.step_limit = 2;
    ask(scene);
    assert_int_equal(plan->result, SOLVE_FOUND);
    assert_int_equal(plan->outcome.steps, 2);
    plan->request.step_limit = 1;
    expect_reason(scene, "Valet error: search limit of 1 steps reached at 'a'");
}

/* Whatever the budget, it ends with the same answer, or with the error that the limit was too low.
 */
static void the_budget(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    uint32_t d = plan_add_group(plan, "D", STACK_DIVERSITY, STACK_HOST, 0);
    plan_add_to(plan, d, plan_add_server(plan, "a", 1, 1, 1));
    plan_add_to(plan, d, plan_add_server(plan, "b", 1, 1, 1));
    unsigned expensive = 0;
    bool done = false;
    for (int64_t left = 0; !done; left += 5) {
        plan->budget = (struct budget){.left = left};
        ask(scene);
        done = plan->result == SOLVE_FOUND;
        assert_true(done || plan->result == SOLVE_EXPENSIVE);
        expensive += !done;
    }
    assert_true(expensive > 5);
}

static void an_empty_stack(void **state)
{
    struct scene *scene = *state;
    ask(scene);
    assert_int_equal(scene->plan->result, SOLVE_FOUND);
    assert_int_equal(scene->plan->outcome.claim_count, 0);
}

#define ON_A_SCENE(test) cmocka_unit_test_setup_teardown(test, open_scene, close_scene)

/* A host that is overcommitted several times over has less than nothing left, so that its rack is
 * the fullest, and is tried first. */
static void an_overcommitted_rack_is_a_full_one(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    cloud_give(scene->cloud, H1, 0, 1);
    cloud_give(scene->cloud, H2, 0, 100);
    cloud_use(scene->cloud, NON_MEMBER, H1, 0, 21);
    uint32_t a = plan_add_server(plan, "a", 1, 0, 0);
    uint32_t b = plan_add_server(plan, "b", 1, 0, 0);
    uint32_t near = plan_add_group(plan, "near", STACK_AFFINITY, STACK_RACK, 0);
    plan_add_to(plan, near, a);
    plan_add_to(plan, near, b);
    ask(scene);
    assert_int_equal(host_of(scene, a), H2);
    assert_int_equal(host_of(scene, b), H2);
}

/* A server with a hold on its present host, where it stays if it can. */
static uint32_t add_kept(struct scene *scene, const char *name, int host, int hold)
{
    uint32_t server = plan_add_server(scene->plan, name, 2, 1, 1);
    scene->plan->pins[server].present = at(scene, host);
    scene->plan->pins[server].released = cloud_consumer_at(scene->cloud, hold);
    scene->plan->pins[server].keeps_place = true;
    return server;
}

static int rack_of(const struct scene *scene, uint32_t server)
{
    return host_of(scene, server) <= H2 ? R1 : host_of(scene, server) <= H4 ? R2 : H5;
}

/* Both are on one host, which only one of the groups can claim, or neither if the other server is
 * in no group. */
static void servers_of_two_groups_part(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    int holds[] = {cloud_use(scene->cloud, MEMBER, H3, 0, 2),
                   cloud_use(scene->cloud, MEMBER, H3, 0, 2)};
    cloud_publish(scene->cloud);
    uint32_t a = add_kept(scene, "a", H3, holds[0]);
    uint32_t b = add_kept(scene, "b", H3, holds[1]);
    ask(scene);
    assert_true(host_of(scene, a) == H3 && host_of(scene, b) == H3);
    plan_add_to(plan, plan_add_group(plan, "G", STACK_EXCLUSIVITY, STACK_HOST, 0), a);
    ask(scene);
    assert_true((host_of(scene, a) == H3) != (host_of(scene, b) == H3));
    assert_int_equal(plan->outcome.claim_count, 1);
    assert_ptr_equal(plan->outcome.claims[0].provider, plan->outcome.servers[a].host);
    plan_add_to(plan, plan_add_group(plan, "I", STACK_EXCLUSIVITY, STACK_HOST, 1), b);
    ask(scene);
    assert_true((host_of(scene, a) == H3) != (host_of(scene, b) == H3));
    assert_int_equal(plan->outcome.claim_count, 2);
}

/* They are in one rack, on different hosts; one of the groups claims the whole rack. */
static void a_rack_and_a_host_of_two_groups_part(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    int holds[] = {cloud_use(scene->cloud, MEMBER, H1, 0, 2),
                   cloud_use(scene->cloud, MEMBER, H2, 0, 2)};
    cloud_publish(scene->cloud);
    uint32_t a = add_kept(scene, "a", H1, holds[0]);
    uint32_t b = add_kept(scene, "b", H2, holds[1]);
    plan_add_to(plan, plan_add_group(plan, "G", STACK_EXCLUSIVITY, STACK_RACK, 0), a);
    plan_add_to(plan, plan_add_group(plan, "I", STACK_EXCLUSIVITY, STACK_HOST, 1), b);
    ask(scene);
    assert_int_not_equal(rack_of(scene, a), rack_of(scene, b));
    assert_true(host_of(scene, a) == H1 || host_of(scene, b) == H2);
    assert_int_equal(plan->outcome.claim_count, 2);
}

/* The same reason with each sufficient budget, and none with others. */
static void assert_reason_or_expensive(struct scene *scene, const char *reason)
{
    struct plan *plan = scene->plan;
    for (int64_t left = 0;; left++) {
        plan->budget = (struct budget){.left = left};
        ask(scene);
        if (plan->result == SOLVE_NONE)
            break;
        assert_int_equal(plan->result, SOLVE_EXPENSIVE);
    }
    assert_string_equal(plan->outcome.reason.data, reason);
}

static void the_budget_of_a_reason(void **state)
{
    struct scene *scene = *state;
    struct plan *plan = scene->plan;
    scene->cloud->providers[H1].traits = 1u << TRAIT_FAST;
    uint32_t a = plan_add_server(plan, "a", 5, 1, 1);
    uint32_t b = plan_add_server(plan, "b", 5, 1, 1);
    plan_add_name(plan, &plan->servers[a].required, cloud_trait_name(TRAIT_FAST));
    plan_add_name(plan, &plan->servers[b].required, cloud_trait_name(TRAIT_FAST));
    assert_reason_or_expensive(scene, "Valet error: no combination of hosts for 'b' (id-b): 5 "
                                      "hosts considered: 4 without traits, 1 without capacity");
    plan_add_name(plan, &plan->servers[b].required, cloud_trait_name(TRAIT_OLD));
    assert_reason_or_expensive(scene, "Valet error: no host for 'b' (id-b): 5 hosts considered: 5 "
                                      "without traits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_SCENE(prefers_used_then_best_fit_then_names),
        ON_A_SCENE(prefers_the_present_host),
        ON_A_SCENE(affinity_and_diversity),
        ON_A_SCENE(one_rack_different_hosts),
        ON_A_SCENE(an_overcommitted_rack_is_a_full_one),
        ON_A_SCENE(contradictions_are_named),
        ON_A_SCENE(a_host_is_claimed),
        ON_A_SCENE(a_rack_is_claimed),
        ON_A_SCENE(fixed_servers_bind),
        ON_A_SCENE(several_fixed_servers_bind_to_their_rack),
        ON_A_SCENE(a_server_without_a_host),
        ON_A_SCENE(too_few_racks),
        ON_A_SCENE(the_limit_of_steps),
        ON_A_SCENE(the_budget),
        ON_A_SCENE(an_empty_stack),
        ON_A_SCENE(servers_of_two_groups_part),
        ON_A_SCENE(a_rack_and_a_host_of_two_groups_part),
        ON_A_SCENE(the_budget_of_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
