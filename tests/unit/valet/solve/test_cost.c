/* The cost of a stack that is made to keep the planner busy: the default limit of the search ends
 * it within seconds, and the planner notices within milliseconds that the client has disconnected.
 * The bounds are twice the counted steps of the most expensive stacks. */
#include "hostile.h"
#include "steps.h"
#include "unit.h"

enum { LOOK_STEPS = 2000000, SHARE = 8, LONGEST = 80000000, MOST = 1200000000 };

/* The client, which the planner checks regularly. */
struct client {
    uint64_t last;
    uint64_t longest;
};

static void note(struct client *client)
{
    uint64_t now = steps_now();
    if (now - client->last > client->longest)
        client->longest = now - client->last;
    client->last = now;
}

static bool is_gone(void *cls)
{
    note(cls);
    return false;
}

static struct hostile share_of(const struct hostile *most)
{
    return (struct hostile){(most->servers + 1) / SHARE, (most->hosts + SHARE - 1) / SHARE,
                            (most->racks + SHARE - 1) / SHARE, most->groups / SHARE};
}

static void play(const struct hostile_method *method)
{
    struct hostile hostile = share_of(&method->most);
    struct arena *arena = arena_create();
    struct cloud *cloud;
    struct plan *plan = hostile_plan(method, &hostile, arena, &cloud);
    uint64_t before = steps_now();
    struct client client = {.last = before};
    plan->budget = (struct budget){
        .left = LOOK_STEPS, .refill = LOOK_STEPS, .cancelled = is_gone, .cls = &client};
    plan_solve(plan, cloud->version);
    note(&client);
    uint64_t steps = steps_since(before);
    if (steps > MOST || client.longest > LONGEST)
        fail_msg("%s: %llu steps, %llu between two looks", method->name, (unsigned long long)steps,
                 (unsigned long long)client.longest);
    arena_destroy(arena);
    cloud_destroy(cloud);
}

static void ends_in_time(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HOSTILE_COUNT; i++)
        play(&HOSTILE_METHODS[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
