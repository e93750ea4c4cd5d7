/* Methods to keep the planner busy with updates: of plans whose servers exist, with more conditions
 * than before. */
#include <stdio.h>

#include "hostile_internal.h"
#include "unit.h"

/* The accepted stack: the same servers, in no group. */
static struct plan *accept(const struct hostile *hostile, struct plan *plan)
{
    struct plan *accepted = plan_create(plan->arena);
    hostile_add_servers(accepted, hostile->servers, 1);
    plan->request.accepted = &accepted->stack;
    return accepted;
}

/* All stay, alternating between that many hosts. */
static void stand(const struct hostile *hostile, struct cloud *cloud, struct plan *plan,
                  unsigned hosts)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL * HOSTILE_TOTAL);
    cloud_publish(cloud);
    hostile_add_servers(plan, hostile->servers, 1);
    for (uint32_t s = 0; s < hostile->servers; s++) {
        plan->pins[s].kind = SOLVE_FIXED;
        plan->pins[s].present = cloud_provider_at(cloud, (int)(hostile->racks + s % hosts));
    }
}

/* Every two were kept apart before, by one of many groups. */
static void apart_by_pairs(const struct hostile *hostile, struct plan *accepted,
                           enum stack_level level)
{
    enum { PART = 8 };
    for (uint32_t a = 0; a < hostile->servers; a += PART) {
        for (uint32_t b = 0; b < a; b += PART) {
            uint32_t group = hostile_add_group(accepted, STACK_DIVERSITY, level);
            for (uint32_t i = 0; i < PART; i++) {
                if (a + i < hostile->servers)
                    plan_add_to(accepted, group, a + i);
                plan_add_to(accepted, group, b + i);
            }
        }
    }
}

/* All are on one host; every two are kept apart by many new groups, but were kept apart before,
 * too. */
void hostile_standing_apart(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    stand(hostile, cloud, plan, 1);
    apart_by_pairs(hostile, accept(hostile, plan), STACK_HOST);
    for (unsigned g = 0; g < hostile->groups; g++) {
        uint32_t group = hostile_add_group(plan, STACK_DIVERSITY, STACK_HOST);
        for (uint32_t s = 0; s < hostile->servers; s++)
            if (hostile_below(10) != 0)
                plan_add_to(plan, group, s);
    }
}

/* The same with one rack of many hosts. */
void hostile_standing_in_rack(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    stand(hostile, cloud, plan, hostile->servers);
    apart_by_pairs(hostile, accept(hostile, plan), STACK_RACK);
    for (unsigned g = 0; g < hostile->groups; g++) {
        uint32_t group = hostile_add_group(plan, STACK_DIVERSITY, STACK_RACK);
        for (uint32_t s = 0; s < hostile->servers; s++)
            if (hostile_below(10) != 0)
                plan_add_to(plan, group, s);
    }
}

/* All are bound to one host and one rack, as before, and each is on another host. */
void hostile_standing_together(const struct hostile *hostile, struct cloud *cloud,
                               struct plan *plan)
{
    stand(hostile, cloud, plan, hostile->servers);
    struct plan *accepted = accept(hostile, plan);
    hostile_add_all(accepted, hostile_add_group(accepted, STACK_AFFINITY, STACK_HOST));
    hostile_add_all(plan, hostile_add_group(plan, STACK_AFFINITY, STACK_HOST));
    hostile_add_all(plan, hostile_add_group(plan, STACK_AFFINITY, STACK_RACK));
}

/* Few can stay, because of their lists, and their list before was the present one from its end. */
void hostile_standing_lists(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    stand(hostile, cloud, plan, 1);
    struct plan *accepted = accept(hostile, plan);
    struct slice *names = arena_array(plan->arena, hostile->groups, sizeof(*names));
    struct slice *before = arena_array(plan->arena, hostile->groups, sizeof(*before));
    for (unsigned i = 0; i < hostile->groups; i++) {
        names[i] = arena_printf(plan->arena, "host-%06u", i);
        before[hostile->groups - 1 - i] = names[i];
    }
    for (uint32_t s = 0; s < hostile->servers; s++) {
        plan->servers[s].locations = (struct stack_names){names, hostile->groups};
        accepted->servers[s].locations = (struct stack_names){before, hostile->groups};
    }
}

/* All servers that stay make a new claim of the one rack. */
void hostile_standing_claims(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL * HOSTILE_TOTAL);
    for (uint32_t s = 0; s < hostile->servers; s++)
        cloud_use(cloud, MEMBER, (int)(hostile->racks + s), 0, 1);
    cloud_publish(cloud);
    hostile_add_servers(plan, hostile->servers, 1);
    accept(hostile, plan);
    for (uint32_t s = 0; s < hostile->servers; s++) {
        plan->pins[s].kind = SOLVE_FIXED;
        plan->pins[s].present = cloud_provider_at(cloud, (int)(hostile->racks + s));
        plan->pins[s].own[0] = cloud_consumer_at(cloud, (int)s);
    }
    hostile_add_all(plan, plan_add_group(plan, "gold", STACK_EXCLUSIVITY, STACK_RACK, 0));
}

/* A third keep their hosts, on few hosts that are too small for all; in each round, fewer of them.
 */
void hostile_kept_in_vain(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL);
    hostile_use_hosts(hostile, cloud);
    cloud_publish(cloud);
    char name[24];
    for (unsigned i = 0; i < hostile->servers; i++) {
        snprintf(name, sizeof(name), "s%u", i);
        plan_add_server(plan, name, HOSTILE_TOTAL / 4 + (int)(i % 300), 1, 1);
    }
    struct slice *names = arena_array(plan->arena, hostile->servers, sizeof(*names));
    unsigned count = hostile->servers * 2 / 5;
    for (unsigned i = 0; i < count; i++)
        names[i] = hostile_host_name(plan->arena, i);
    for (unsigned s = 0; s < hostile->servers; s++) {
        plan->servers[s].locations = (struct stack_names){names, count};
        plan->pins[s].keeps_place = s % 3 == 0;
        plan->pins[s].changes = s % 6 == 0;
        if (plan->pins[s].keeps_place)
            plan->pins[s].present =
                cloud_provider_at(cloud, (int)(hostile->racks + s * 2 / 5 % count));
    }
    for (uint32_t s = 0; s + 1 < hostile->servers; s += 2) {
        uint32_t pair = hostile_add_group(plan, STACK_DIVERSITY, STACK_RACK);
        plan_add_to(plan, pair, s);
        plan_add_to(plan, pair, s + 1);
    }
}
