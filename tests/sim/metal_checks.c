/* What must hold for every commit and in the end, read from the tables alone (bare metal spec, 4,
 * 10, 13). One thread. */
#include "metal_round.h"
#include "model/node.h"
#include "model/node_allocation.h"

static const struct node *node_at(const struct tables *tables, uint32_t i)
{
    return node_of(tables->rows[TABLE_NODES].row[i].image.row.record);
}

static const struct node_allocation *allocation_at(const struct tables *tables, uint32_t i)
{
    return node_allocation_of(tables->rows[TABLE_NODE_ALLOCATIONS].row[i].image.row.record);
}

static bool is_in(const struct node_allocation *allocation, const char *state)
{
    return node_allocation_text_is(allocation, NODE_ALLOCATION_STATE, state);
}

static const struct node_allocation *find_allocation(const struct tables *tables, struct slice uuid)
{
    for (uint32_t i = 0; i < tables->rows[TABLE_NODE_ALLOCATIONS].count; i++)
        if (slice_equal(node_allocation_text(allocation_at(tables, i), NODE_ALLOCATION_UUID), uuid))
            return allocation_at(tables, i);
    return NULL;
}

static const struct change_provider *find_provider(const struct tables *tables, struct slice uuid)
{
    const struct rows *rows = &tables->rows[TABLE_PROVIDERS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(rows->row[i].image.provider.uuid, uuid))
            return &rows->row[i].image.provider;
    return NULL;
}

/* There is only one class that can be held. */
static const struct change_allocation *find_holder(const struct tables *tables,
                                                   const struct change_provider *provider)
{
    const struct change_allocation *holder = NULL;
    const struct rows *rows = &tables->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_allocation *at = &rows->row[i].image.allocation;
        if (at->provider_id != provider->id)
            continue;
        if (holder != NULL)
            sim_fail("%.*s is held by %.*s and %.*s", SLICE_ARG(provider->uuid),
                     SLICE_ARG(holder->consumer_uuid), SLICE_ARG(at->consumer_uuid));
        if (at->used != 1)
            sim_fail("%lld of %.*s is held", (long long)at->used, SLICE_ARG(provider->uuid));
        holder = at;
    }
    return holder;
}

static const struct change_inventory *find_inventory(const struct tables *tables,
                                                     const struct change_provider *provider)
{
    const struct rows *rows = &tables->rows[TABLE_INVENTORIES];
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].image.inventory.provider_id == provider->id)
            return &rows->row[i].image.inventory;
    sim_fail("%.*s has no inventory", SLICE_ARG(provider->uuid));
}

static bool can_be_taken(const struct node *node)
{
    return node_text_is(node, NODE_PROVISION_STATE, "available") &&
           !node_bool(node, NODE_MAINTENANCE) && !node_is_null(node, NODE_POWER_STATE) &&
           node_is_null(node, NODE_INSTANCE_UUID);
}

static const struct node_allocation *find_active(const struct tables *tables,
                                                 const struct node *node)
{
    const struct node_allocation *active = NULL;
    for (uint32_t i = 0; i < tables->rows[TABLE_NODE_ALLOCATIONS].count; i++) {
        const struct node_allocation *at = allocation_at(tables, i);
        if (node_allocation_node_id(at) != node->record.id)
            continue;
        if (active != NULL || !is_in(at, "active"))
            sim_fail("node %lld has two allocations, or one that is not active",
                     (long long)node->record.id);
        active = at;
    }
    return active;
}

static void check_node(const struct tables *tables, const struct node *node)
{
    struct slice uuid = node_text(node, NODE_UUID);
    struct slice instance = node_text(node, NODE_INSTANCE_UUID);
    const struct change_provider *provider = find_provider(tables, uuid);
    const struct node_allocation *active = find_active(tables, node);
    if (provider == NULL)
        sim_fail("node %.*s has no provider", SLICE_ARG(uuid));
    const struct change_allocation *holder = find_holder(tables, provider);
    const struct change_inventory *inventory = find_inventory(tables, provider);
    if (inventory->total != 1 || inventory->reserved != (can_be_taken(node) ? 0 : 1))
        sim_fail("node %.*s: total %d, reserved %d", SLICE_ARG(uuid), (int)inventory->total,
                 (int)inventory->reserved);
    if ((active == NULL) != (instance.data == NULL))
        sim_fail("node %.*s: an instance without an allocation, or the other way round",
                 SLICE_ARG(uuid));
    if (active == NULL)
        return;
    struct slice owner = node_allocation_text(active, NODE_ALLOCATION_UUID);
    if (!slice_equal(instance, owner))
        sim_fail("node %.*s: its instance is not its allocation", SLICE_ARG(uuid));
    bool is_adopted = node_allocation_bool(active, NODE_ALLOCATION_CONSUMER_ADOPTED);
    if (holder == NULL ? !is_adopted : !slice_equal(holder->consumer_uuid, owner))
        sim_fail("node %.*s belongs to %.*s, and Placement does not show it", SLICE_ARG(uuid),
                 SLICE_ARG(owner));
}

static void check_allocation(const struct tables *tables, const struct node_allocation *at)
{
    bool has_node = node_allocation_node_id(at) != 0;
    struct slice uuid = node_allocation_text(at, NODE_ALLOCATION_UUID);
    if (is_in(at, "active") != has_node ||
        is_in(at, "error") != !node_allocation_is_null(at, NODE_ALLOCATION_LAST_ERROR))
        sim_fail("allocation %.*s is incomplete", SLICE_ARG(uuid));
    if (has_node && tables_find(tables, TABLE_NODES, node_allocation_node_id(at)) == NULL)
        sim_fail("allocation %.*s has a node that is not there", SLICE_ARG(uuid));
}

/* A decision is final. */
static void check_step(const struct node_allocation *was, const struct node_allocation *is)
{
    if (is == NULL || is->record.id != was->record.id || is_in(was, "allocating"))
        return;
    if (!slice_equal(node_allocation_text(was, NODE_ALLOCATION_STATE),
                     node_allocation_text(is, NODE_ALLOCATION_STATE)) ||
        node_allocation_node_id(was) != node_allocation_node_id(is))
        sim_fail("allocation %.*s was decided twice",
                 SLICE_ARG(node_allocation_text(is, NODE_ALLOCATION_UUID)));
}

void check_commit(struct sim *sim, const struct tables *before, const struct tables *after)
{
    (void)sim;
    for (uint32_t i = 0; i < after->rows[TABLE_NODES].count; i++)
        check_node(after, node_at(after, i));
    for (uint32_t i = 0; i < after->rows[TABLE_NODE_ALLOCATIONS].count; i++)
        check_allocation(after, allocation_at(after, i));
    for (uint32_t i = 0; i < before->rows[TABLE_NODE_ALLOCATIONS].count; i++) {
        const struct node_allocation *was = allocation_at(before, i);
        check_step(was, find_allocation(after, node_allocation_text(was, NODE_ALLOCATION_UUID)));
    }
}

int check_count_left(const struct tables *tables, struct slice life)
{
    int count = 0;
    for (uint32_t i = 0; i < tables->rows[TABLE_NODE_ALLOCATIONS].count; i++) {
        const struct node_allocation *at = allocation_at(tables, i);
        struct slice owner = node_allocation_text(at, NODE_ALLOCATION_OWNER_INSTANCE);
        count += is_in(at, "allocating") && slice_equal(owner, life);
    }
    return count;
}

static bool is_known_reason(struct slice text)
{
    static const char *const known[] = {
        "no available nodes match the resource class gold.",
        "none of the requested nodes are available and match the resource class gold.",
        "all nodes were filtered out during reservation.",
        " suitable nodes.",
        " already has allocations in Placement",
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct slice end = slice_of(known[i]);
        if (text.len > end.len && slice_equal(slice_skip(text, text.len - end.len), end))
            return true;
    }
    return false;
}

static void check_fate(struct round *round, int number, int *active)
{
    const struct tables *tables = &round->database->tables;
    const struct fate *fate = &round->allocation[number];
    const struct node_allocation *at = find_allocation(tables, race_allocation(number));
    if (at == NULL && fate->is_made && !fate->may_be_gone && !round->weather.deploys)
        sim_fail("allocation %d was made, and is lost", number);
    if (at != NULL && !fate->may_be_made)
        sim_fail("allocation %d was never requested", number);
    if (at == NULL)
        return;
    if (is_in(at, "allocating"))
        sim_fail("allocation %d is still looked for", number);
    *active += is_in(at, "active");
    round->tally->refused += is_in(at, "error");
    struct slice reason = node_allocation_text(at, NODE_ALLOCATION_LAST_ERROR);
    if (is_in(at, "error") && !is_known_reason(reason))
        sim_fail("allocation %d: %.*s", number, SLICE_ARG(reason));
}

static bool holds(const struct tables *tables, struct slice uuid)
{
    const struct rows *rows = &tables->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(rows->row[i].image.allocation.consumer_uuid, uuid))
            return true;
    return false;
}

/* If there were only requests, as many get a node as there are nodes. */
static bool is_plain(const struct weather *weather)
{
    return !weather->flips && !weather->claims && !weather->releases && !weather->deploys &&
           !weather->powers && !weather->candidates;
}

void check_end(struct round *round)
{
    const struct tables *tables = &round->database->tables;
    int active = 0;
    int made = 0;
    for (int i = 0; i < RACE_CREATES; i++) {
        check_fate(round, i, &active);
        made += find_allocation(tables, race_allocation(i)) != NULL;
    }
    for (int i = 0; i < RACE_CLAIMS; i++) {
        const struct fate *fate = &round->consumer[i];
        bool is_there = holds(tables, race_consumer(i));
        bool is_shared = find_allocation(tables, race_consumer(i)) != NULL;
        round->tally->claimed += is_there && !is_shared;
        if (!is_there && fate->is_made && !fate->may_be_gone && !is_shared)
            sim_fail("consumer %d has lost its node", i);
        if (is_there && !fate->may_be_made && !is_shared)
            sim_fail("consumer %d has a node that it never requested", i);
    }
    for (uint32_t i = 0; i < tables->rows[TABLE_NODES].count; i++)
        if (!node_is_null(node_at(tables, i), NODE_RESERVATION))
            sim_fail("node %u is locked for ever", i);
    round->tally->active += (uint64_t)active;
    if (!is_plain(&round->weather))
        return;
    int nodes = (int)tables->rows[TABLE_NODES].count;
    if (active != (made < nodes ? made : nodes))
        sim_fail("%d of %d allocations have one of %d nodes", active, made, nodes);
    round->tally->exact++;
}
