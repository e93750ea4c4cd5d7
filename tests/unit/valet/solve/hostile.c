/* Methods to keep the planner busy. The figures scale all of them, so that a test need not use the
 * largest. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hostile_internal.h"
#include "unit.h"

unsigned hostile_below(unsigned n)
{
    return (unsigned)random() % n;
}

/* --- clouds */

void hostile_add_hosts(const struct hostile *hostile, struct cloud *cloud, int total)
{
    char name[24];
    cloud->has_far_aggregates = true;
    for (unsigned i = 0; i < hostile->racks; i++) {
        snprintf(name, sizeof(name), "rack-%04u", i);
        int rack = cloud_add(cloud, name, -1);
        cloud->providers[rack].traits = 1u << TRAIT_RACK;
        cloud->providers[rack].far_aggregate = (int)i + 1;
    }
    for (unsigned i = 0; i < hostile->hosts; i++) {
        snprintf(name, sizeof(name), "host-%05u", i);
        int host = cloud_add_host(cloud, name, -1, total);
        if (hostile->racks > 0)
            cloud->providers[host].far_aggregate = (int)(i % hostile->racks) + 1;
    }
}

void hostile_use_hosts(const struct hostile *hostile, struct cloud *cloud)
{
    for (unsigned i = 0; i < hostile->hosts; i++)
        cloud_use(cloud, NON_MEMBER, (int)(hostile->racks + i), 0,
                  1 + (int)hostile_below(HOSTILE_TOTAL / 10));
}

struct slice hostile_host_name(struct arena *arena, unsigned host)
{
    return arena_printf(arena, "host-%05u", host);
}

/* --- stacks */

void hostile_add_servers(struct plan *plan, unsigned count, int amount)
{
    char name[24];
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "s%u", plan->stack.server_count);
        plan_add_server(plan, name, amount, 1, 0);
    }
}

uint32_t hostile_add_group(struct plan *plan, enum stack_group_type type, enum stack_level level)
{
    char name[24];
    snprintf(name, sizeof(name), "g%u", plan->stack.group_count);
    return plan_add_group(plan, name, type, level, 0);
}

void hostile_add_all(struct plan *plan, uint32_t group)
{
    for (uint32_t s = 0; s < plan->stack.server_count; s++)
        plan_add_to(plan, group, s);
}

/* Each server may use few hosts, so that they must be matched again and again. */
static void limit_locations(const struct hostile *hostile, struct plan *plan, unsigned each,
                            unsigned of)
{
    for (uint32_t s = 0; s < hostile->servers; s++) {
        struct slice *names = arena_array(plan->arena, each, sizeof(*names));
        for (unsigned i = 0; i < each; i++)
            names[i] = hostile_host_name(plan->arena, hostile_below(of));
        plan->servers[s].locations = (struct stack_names){names, each};
    }
}

/* All servers in each of many groups. */
static void equal_groups(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, 2);
    hostile_add_servers(plan, hostile->servers, 1);
    limit_locations(hostile, plan, hostile->servers / 8, hostile->servers + hostile->servers / 50);
    for (unsigned g = 0; g < hostile->groups; g++)
        hostile_add_all(plan, hostile_add_group(plan, STACK_DIVERSITY, STACK_HOST));
}

/* Most servers in each of many groups, none of which is part of another. */
static void different_groups(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, 3);
    hostile_add_servers(plan, hostile->servers, 1);
    limit_locations(hostile, plan, hostile->servers / 8, hostile->servers * 19 / 20);
    for (unsigned g = 0; g < hostile->groups; g++) {
        uint32_t group = hostile_add_group(plan, STACK_DIVERSITY, STACK_HOST);
        for (uint32_t s = 0; s < hostile->servers; s++)
            if (hostile_below(10) != 0)
                plan_add_to(plan, group, s);
    }
}

/* The same with racks, of which there are slightly fewer than what must be kept apart. */
static void rack_groups(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL);
    hostile_use_hosts(hostile, cloud);
    hostile_add_servers(plan, hostile->servers, 1);
    for (unsigned g = 0; g < hostile->groups; g++) {
        uint32_t group = hostile_add_group(plan, STACK_DIVERSITY, STACK_RACK);
        for (uint32_t s = 0; s < hostile->servers; s++)
            if (hostile_below(hostile->servers) < hostile->racks * 99 / 100)
                plan_add_to(plan, group, s);
    }
}

/* Blocks each of which needs a rack, with racks that differ only in headroom. */
static void many_blocks(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL);
    hostile_use_hosts(hostile, cloud);
    hostile_add_servers(plan, hostile->servers, HOSTILE_TOTAL / 2);
    for (uint32_t s = 0; s + 1 < hostile->servers; s += 2) {
        uint32_t pair = hostile_add_group(plan, STACK_AFFINITY, STACK_RACK);
        plan_add_to(plan, pair, s);
        plan_add_to(plan, pair, s + 1);
    }
    uint32_t apart = hostile_add_group(plan, STACK_DIVERSITY, STACK_RACK);
    uint32_t hosts = hostile_add_group(plan, STACK_DIVERSITY, STACK_HOST);
    for (uint32_t g = 0; g < hostile->servers / 2; g++)
        plan_add_group_to(plan, apart, g);
    for (uint32_t s = 0; s < hostile->servers; s++)
        plan_add_to(plan, hosts, s);
}

/* One block of all servers, which do not fit. */
static void one_block(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL);
    hostile_use_hosts(hostile, cloud);
    hostile_add_servers(plan, hostile->servers, HOSTILE_TOTAL / 2 + HOSTILE_TOTAL / 4);
    for (uint32_t s = 0; s < hostile->servers; s++)
        plan->servers[s].name = arena_printf(plan->arena, "b%u", hostile->servers - s);
    hostile_add_all(plan, hostile_add_group(plan, STACK_AFFINITY, STACK_RACK));
    hostile_add_all(plan, hostile_add_group(plan, STACK_DIVERSITY, STACK_HOST));
}

/* No two servers need the same, and all together need more than exists. */
static void different_servers(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL);
    hostile_use_hosts(hostile, cloud);
    char name[24];
    for (unsigned i = 0; i < hostile->servers; i++) {
        snprintf(name, sizeof(name), "s%u", i);
        plan_add_server(plan, name, HOSTILE_TOTAL / 4 + (int)(i % 300), 1 + (int)(i % 7), 1);
    }
    struct slice *names = arena_array(plan->arena, hostile->servers / 2, sizeof(*names));
    for (unsigned i = 0; i < hostile->servers / 2; i++)
        names[i] = hostile_host_name(plan->arena, i);
    for (unsigned s = hostile->servers / 2; s < hostile->servers; s++)
        plan->servers[s].locations = (struct stack_names){names, hostile->servers * 9 / 40};
}

/* Servers of a group claim racks beside servers of none. */
static void rack_claims(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, 2);
    hostile_add_servers(plan, hostile->servers, 1);
    uint32_t gold = plan_add_group(plan, "gold", STACK_EXCLUSIVITY, STACK_RACK, 0);
    uint32_t iron = plan_add_group(plan, "iron", STACK_EXCLUSIVITY, STACK_RACK, 1);
    uint32_t apart = plan_add_group(plan, "apart", STACK_DIVERSITY, STACK_HOST, 0);
    for (uint32_t s = 0; s < hostile->servers; s++) {
        if (s % 3 < 2)
            plan_add_to(plan, s % 3 == 0 ? gold : iron, s);
        plan_add_to(plan, apart, s);
    }
}

/* Half of the stack stays, in groups with the other half. */
static void fixed_servers(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL);
    hostile_use_hosts(hostile, cloud);
    cloud_publish(cloud);
    hostile_add_servers(plan, hostile->servers, 1);
    for (uint32_t s = 0; s < hostile->servers; s += 2) {
        plan->pins[s].kind = SOLVE_FIXED;
        plan->pins[s].present = cloud_provider_at(
            cloud, (int)(hostile->racks + s % (hostile->hosts / hostile->racks) * hostile->racks));
    }
    hostile_add_all(plan, hostile_add_group(plan, STACK_AFFINITY, STACK_RACK));
    for (unsigned g = 1; g < hostile->groups; g++) {
        uint32_t group = hostile_add_group(plan, STACK_DIVERSITY, STACK_HOST);
        for (uint32_t s = 0; s < hostile->servers; s++)
            if (hostile_below(10) != 0)
                plan_add_to(plan, group, s);
    }
}

/* All servers are on one host, where they have holds, and another project's server is there as
 * well. */
static void one_host(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL * HOSTILE_TOTAL);
    hostile_add_servers(plan, hostile->servers, 1);
    for (uint32_t s = 0; s < hostile->servers; s++)
        plan->released[s] = cloud_use(cloud, MEMBER, (int)hostile->racks, 0, 1);
    cloud_use(cloud, NON_MEMBER, (int)hostile->racks, 0, 1);
    cloud_publish(cloud);
    for (uint32_t s = 0; s < hostile->servers; s++) {
        plan->pins[s].present = cloud_provider_at(cloud, (int)hostile->racks);
        plan->pins[s].released = cloud_consumer_at(cloud, plan->released[s]);
    }
}

/* A long list for all, and a separate list for each. */
static void two_lists(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL);
    hostile_add_servers(plan, hostile->servers, 1);
    struct slice *names = arena_array(plan->arena, hostile->groups, sizeof(*names));
    for (unsigned i = 0; i < hostile->groups; i++)
        names[i] = hostile_host_name(plan->arena, i % hostile->hosts);
    plan->stack.locations = (struct stack_names){names, hostile->groups};
    limit_locations(hostile, plan, 3, hostile->hosts);
}

/* One unit of all servers, each with its own conditions on traits, which no host meets. */
static void one_unit(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL);
    hostile_use_hosts(hostile, cloud);
    char name[24];
    for (unsigned i = 0; i < hostile->servers; i++) {
        snprintf(name, sizeof(name), "s%u", i);
        plan_add_server(plan, name, 1 + (int)i, 1, 1);
        plan_add_name(plan, &plan->servers[i].forbidden, cloud_trait_name(TRAIT_OLD));
    }
    hostile_add_all(plan, hostile_add_group(plan, STACK_AFFINITY, STACK_HOST));
}

/* One unit of many servers that fits on every host, beside others. */
static void heavy_units(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL);
    hostile_use_hosts(hostile, cloud);
    hostile_add_servers(plan, hostile->servers, 1);
    for (unsigned g = 0; g < hostile->groups; g++) {
        uint32_t group = hostile_add_group(plan, STACK_AFFINITY, STACK_HOST);
        for (uint32_t s = g; s < hostile->servers; s += hostile->groups)
            plan_add_to(plan, group, s);
    }
}

static void add_trees(struct cloud *cloud, unsigned hosts, unsigned children, int total)
{
    char name[32];
    for (unsigned i = 0; i < hosts; i++) {
        snprintf(name, sizeof(name), "host-%05u", i);
        int host = cloud_add(cloud, name, -1);
        for (unsigned c = 0; c < children; c++) {
            snprintf(name, sizeof(name), "host-%05u-%u", i, c);
            int child = cloud_add(cloud, name, host);
            for (int class_at = 0; class_at < CLOUD_CLASSES; class_at++)
                cloud_give(cloud, child, class_at, total + class_at);
        }
    }
}

/* Hosts that are trees of many providers with many ways to place a server. */
static void large_trees(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    char name[32];
    add_trees(cloud, hostile->hosts, hostile->groups, 3);
    for (unsigned i = 0; i < hostile->servers; i++) {
        snprintf(name, sizeof(name), "s%u", i);
        plan_add_server(plan, name, 1 + (int)(i % 3), 1 + (int)(i / 3 % 4), 1 + (int)(i / 12 % 5));
    }
}

/* Many small trees, and no two servers need the same of them. */
static void different_in_trees(const struct hostile *hostile, struct cloud *cloud,
                               struct plan *plan)
{
    char name[32];
    add_trees(cloud, hostile->hosts, 3, HOSTILE_TOTAL);
    for (unsigned i = 0; i < hostile->servers; i++) {
        snprintf(name, sizeof(name), "s%u", i);
        plan_add_server(plan, name, 1 + (int)i / 2, 1 + (int)(i % 2), 1);
    }
}

/* Very many small groups: distributing few hosts among them is a graph colouring problem. */
static void small_groups(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL * HOSTILE_TOTAL);
    hostile_use_hosts(hostile, cloud);
    hostile_add_servers(plan, hostile->servers, 1);
    struct slice *names = arena_array(plan->arena, hostile->servers / 30, sizeof(*names));
    for (unsigned i = 0; i < hostile->servers / 30; i++)
        names[i] = hostile_host_name(plan->arena, i);
    for (unsigned s = 0; s < hostile->servers; s++)
        plan->servers[s].locations = (struct stack_names){names, hostile->servers / 30};
    for (unsigned g = 0; g < hostile->groups; g++) {
        uint32_t group = hostile_add_group(plan, STACK_DIVERSITY, STACK_HOST);
        for (unsigned i = 0; i < 3; i++)
            plan_add_to(plan, group,
                        (g * 7 + hostile_below(hostile->servers / 3) * 3 + i) % hostile->servers);
    }
}

/* Groups of sixteen, none part of another, so that the search for larger ones is in vain. */
static void vain_groups(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL * HOSTILE_TOTAL);
    hostile_add_servers(plan, hostile->servers, 1);
    for (unsigned g = 0; g < hostile->groups; g++) {
        uint32_t group = hostile_add_group(plan, STACK_DIVERSITY, STACK_HOST);
        for (unsigned i = 0; i < 16; i++)
            plan_add_to(plan, group,
                        i * (hostile->servers / 16) + hostile_below(hostile->servers / 16));
    }
}

/* Rack groups of an exclusivity group that list the same block again and again. */
static void assignments(const struct hostile *hostile, struct cloud *cloud, struct plan *plan)
{
    hostile_add_hosts(hostile, cloud, HOSTILE_TOTAL * HOSTILE_TOTAL);
    hostile_add_servers(plan, hostile->servers, 1);
    hostile_add_all(plan, hostile_add_group(plan, STACK_AFFINITY, STACK_RACK));
    for (unsigned g = 0; g < hostile->groups; g++)
        hostile_add_all(
            plan,
            hostile_add_group(plan, g % 2 == 0 ? STACK_EXCLUSIVITY : STACK_AFFINITY, STACK_RACK));
}

const struct hostile_method HOSTILE_METHODS[] = {
    {"equal groups", {1000, 10000, 500, 1200}, equal_groups},
    {"different groups", {1000, 10000, 500, 1200}, different_groups},
    {"rack groups", {1000, 10000, 1000, 1200}, rack_groups},
    {"many blocks", {1000, 10000, 500, 0}, many_blocks},
    {"one block", {1000, 10000, 1, 0}, one_block},
    {"different servers", {1000, 10000, 500, 0}, different_servers},
    {"rack claims", {1000, 10000, 500, 0}, rack_claims},
    {"fixed servers", {1000, 10000, 1, 1200}, fixed_servers},
    {"one host", {1000, 1, 0, 0}, one_host},
    {"two lists", {1000, 10000, 500, 300000}, two_lists},
    {"one unit", {1000, 10000, 500, 0}, one_unit},
    {"heavy units", {1000, 10000, 500, 10}, heavy_units},
    {"small groups", {1000, 10000, 500, 50000}, small_groups},
    {"vain groups", {1000, 10000, 500, 40000}, vain_groups},
    {"assignments", {1000, 10000, 1, 1200}, assignments},
    {"standing apart", {1000, 10000, 500, 1200}, hostile_standing_apart},
    {"standing in rack", {1000, 10000, 1, 1200}, hostile_standing_in_rack},
    {"standing together", {1000, 10000, 1, 0}, hostile_standing_together},
    {"standing lists", {2, 10, 0, 150000}, hostile_standing_lists},
    {"standing claims", {1000, 10000, 1, 0}, hostile_standing_claims},
    {"kept in vain", {1000, 10000, 500, 0}, hostile_kept_in_vain},
    {"different in trees", {1000, 3000, 0, 0}, different_in_trees},
    {"large trees", {1000, 100, 0, 99}, large_trees},
};
const unsigned HOSTILE_COUNT = sizeof(HOSTILE_METHODS) / sizeof(HOSTILE_METHODS[0]);

struct plan *hostile_plan(const struct hostile_method *method, const struct hostile *hostile,
                          struct arena *arena, struct cloud **cloud)
{
    srandom(1);
    *cloud = cloud_create();
    struct plan *plan = plan_create(arena);
    method->make(hostile, *cloud, plan);
    if ((*cloud)->version == NULL)
        cloud_publish(*cloud);
    return plan;
}

double hostile_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
