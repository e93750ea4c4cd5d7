/* Stacks made to keep the planner busy: at the default limit of steps each ends, with the same
 * answer each time, within bounded memory, and at the first check of a client that has
 * disconnected. test_cost.c has their cost. */
#include <stdlib.h>

#include "hostile.h"
#include "unit.h"

enum { LOOK_STEPS = 2000000, SHARE = 2, MEMORY_BYTES = 64 << 20 };

/* The client, which the planner checks regularly. */
struct client {
    unsigned looks;
    unsigned leaves_at; /* the check that finds it disconnected; 0: none does */
};

static bool is_gone(void *cls)
{
    struct client *client = cls;
    client->looks++;
    return client->leaves_at > 0 && client->looks >= client->leaves_at;
}

static struct hostile share_of(const struct hostile *most)
{
    return (struct hostile){most->servers / SHARE, (most->hosts + 1) / SHARE,
                            (most->racks + 1) / SHARE, most->groups / SHARE};
}

/* Solves it again, as the slow lane does. */
static void solve_for(struct plan *plan, const struct cloud *cloud, struct client *client,
                      struct arena *arena)
{
    plan->arena = arena;
    plan->budget = (struct budget){
        .left = LOOK_STEPS, .refill = LOOK_STEPS, .cancelled = is_gone, .cls = client};
    plan_solve(plan, cloud->version);
}

static void leave(const struct hostile_method *method, struct plan *plan, const struct cloud *cloud)
{
    struct client client = {.leaves_at = 1};
    struct arena *arena = arena_create();
    solve_for(plan, cloud, &client, arena);
    if (plan->result != SOLVE_EXPENSIVE || client.looks != 1)
        fail_msg("%s: %d after %u looks", method->name, (int)plan->result, client.looks);
    arena_destroy(arena);
}

static void play(const struct hostile_method *method)
{
    struct hostile hostile = share_of(&method->most);
    struct arena *arena = arena_create();
    struct arena *work = arena_create();
    struct arena *again = arena_create();
    struct cloud *cloud;
    struct plan *plan = hostile_plan(method, &hostile, arena, &cloud);
    struct client client = {0};
    solve_for(plan, cloud, &client, work);
    if (arena_footprint_bytes(work) > MEMORY_BYTES)
        fail_msg("%s: %zu bytes", method->name, arena_footprint_bytes(work));
    assert_true(plan->result != SOLVE_EXPENSIVE);
    assert_true(plan->outcome.steps <= plan->request.step_limit);
    struct solve_outcome first = plan->outcome;
    unsigned looks = client.looks;
    solve_for(plan, cloud, &client, again);
    assert_int_equal(first.steps, plan->outcome.steps);
    assert_true(slice_equal(first.reason, plan->outcome.reason));
    for (uint32_t s = 0; s < plan->stack.server_count; s++)
        assert_ptr_equal(first.servers[s].host, plan->outcome.servers[s].host);
    if (looks > 0)
        leave(method, plan, cloud);
    arena_destroy(again);
    arena_destroy(work);
    arena_destroy(arena);
    cloud_destroy(cloud);
}

static void ends_each_time(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HOSTILE_COUNT; i++)
        play(&HOSTILE_METHODS[i]);
}

/* Few values are tried, but showing that none fits takes many steps. */
static void looks_are_steps(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HOSTILE_COUNT; i++) {
        if (strcmp(HOSTILE_METHODS[i].name, "different groups") != 0)
            continue;
        struct hostile hostile = share_of(&HOSTILE_METHODS[i].most);
        struct arena *arena = arena_create();
        struct cloud *cloud;
        struct plan *plan = hostile_plan(&HOSTILE_METHODS[i], &hostile, arena, &cloud);
        plan->request.step_limit = 50;
        plan_solve(plan, cloud->version);
        assert_int_equal(plan->result, SOLVE_NONE);
        assert_int_equal(plan->outcome.steps, 50);
        assert_non_null(
            strstr(plan->outcome.reason.data, "search limit of 50 steps reached at 's"));
        arena_destroy(arena);
        cloud_destroy(cloud);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_each_time),
        cmocka_unit_test(looks_are_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
