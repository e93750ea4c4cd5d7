/* Large clouds, always the same for the same figures. */
#include "large.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

static int below(int n)
{
    return (int)(random() % n);
}

static void fill(struct cloud *cloud, const struct large *large, int host)
{
    int left = LARGE_TOTAL - LARGE_TOTAL * (int)large->per_cent / 100;
    int consumer = cloud_use(cloud, NON_MEMBER, host, 0, LARGE_TOTAL - below(2 * left + 1));
    for (int c = 1; c < CLOUD_CLASSES; c++) {
        int amount = LARGE_TOTAL - below(2 * left + 1);
        cloud->consumers[consumer].amounts[c] = amount;
        cloud->providers[host].inventory[c].used = amount;
    }
}

struct cloud *large_cloud(const struct large *large)
{
    struct cloud *cloud = cloud_create();
    char name[24];
    srandom(large->seed);
    assert_true(large->racks <= LARGE_RACKS_MAX);
    for (unsigned i = 0; i < large->racks; i++) {
        snprintf(name, sizeof(name), "rack-%02u", i);
        cloud_add_rack(cloud, name, (int)i);
    }
    unsigned every = large->empty_hosts == 0 ? 0 : large->hosts / large->empty_hosts;
    for (unsigned i = 0; i < large->hosts; i++) {
        snprintf(name, sizeof(name), "compute-%05u", (i * 7919) % 100000);
        int host = cloud_add_host(cloud, name, (int)(i % large->racks), LARGE_TOTAL);
        if (every == 0 || i % every != every / 2)
            fill(cloud, large, host);
    }
    cloud_publish(cloud);
    return cloud;
}

struct plan *large_plan(const struct large *large, struct arena *arena)
{
    struct plan *plan = plan_create(arena);
    char name[24];
    srandom(large->seed + 1);
    uint32_t one = plan_add_group(plan, "one", STACK_DIVERSITY, STACK_RACK, 0);
    uint32_t two = plan_add_group(plan, "two", STACK_DIVERSITY, STACK_RACK, 0);
    uint32_t gold = plan_add_group(plan, "gold", STACK_EXCLUSIVITY, STACK_HOST, 0);
    for (unsigned i = 0; i < large->servers; i++) {
        snprintf(name, sizeof(name), "server-%03u", i);
        uint32_t server = plan_add_server(plan, name, 1 + below(2), 1 + below(2), 1);
        plan_add_to(plan, i % 2 == 0 ? one : two, server);
        if (i < large->exclusive)
            plan_add_to(plan, gold, server);
    }
    return plan;
}
