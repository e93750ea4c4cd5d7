/* See invariants.h. One thread. */
#include "products/invariants.h"

#include <ctype.h>

#include "baremetal/write/node_rule.h"
#include "base/hash.h"
#include "replica/nodes.h"
#include "replica/valet.h"
#include "unit.h"
#include "valet/write/valet_rule.h"

/* ---- the state ---- */

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * 0x9e3779b97f4a7c15u + (sum >> 29);
}

static uint64_t content_of(const struct provider *provider)
{
    uint64_t sum = 1;
    for (uint32_t i = 0; i < provider->inventory_count; i++) {
        const struct provider_inventory *inventory = &provider->inventory[i];
        const struct inventory_figures *figures = &inventory->figures;
        sum = mix(sum, inventory->class_no.v);
        sum = mix(sum, (uint64_t)inventory->used);
        sum = mix(sum, (uint64_t)figures->total << 32 | (uint32_t)figures->reserved);
        sum = mix(sum, (uint64_t)figures->max_unit);
    }
    for (uint32_t i = 0; i < provider->traits->count; i++)
        sum = mix(sum, 1000 + provider->traits->numbers[i]);
    for (uint32_t i = 0; i < provider->aggregates->count; i++)
        sum = mix(sum, 2000 + provider->aggregates->numbers[i]);
    return sum;
}

static void take_consumer(struct snapshot *snapshot, struct metal_world *cloud,
                          const struct consumer *consumer)
{
    const struct version *version = cloud->world.edit->version;
    const struct catalog_row *hold = catalog_find(&version->types, SLICE_LIT(VALET_HOLD_TYPE));
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct consumer_allocation *row = &consumer->allocation[i];
        const struct provider *provider = version_provider(version, row->provider);
        assert_true(snapshot->held_count < SEEN_MAX);
        snapshot->held[snapshot->held_count++] = (struct seen){
            .provider_id = provider->id,
            .root_id = version_provider(version, provider->root)->id,
            .class_number = row->class_no.v,
            .used = row->used,
            .consumer = arena_copy(cloud->world.arena, consumer_uuid(consumer)),
            .project =
                arena_copy(cloud->world.arena,
                           catalog_name(catalog_row_at(&version->projects, consumer->project))),
            .is_hold = hold != NULL && consumer->type == hold->number,
        };
    }
}

void snapshot_take(struct snapshot *snapshot, struct metal_world *cloud)
{
    const struct version *version = cloud->world.edit->version;
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    *snapshot = (struct snapshot){.held_count = 0};
    for (ptree_seek(&version->provider_by_id, 0, 0, &iter); (entry = ptree_iter_get(&iter)) != NULL;
         ptree_iter_next(&iter)) {
        const struct provider *provider = version_provider_by_id(version, (int64_t)entry->k1);
        assert_true(snapshot->provider_count < SEEN_MAX);
        snapshot->providers[snapshot->provider_count++] =
            (struct seen_provider){provider->id, provider->generation, content_of(provider)};
    }
    for (ptree_seek(&version->consumers, 0, 0, &iter); (entry = ptree_iter_get(&iter)) != NULL;
         ptree_iter_next(&iter))
        take_consumer(snapshot, cloud, (const struct consumer *)(uintptr_t)entry->value);
}

/* The amount of the class that the consumer (data == NULL: the whole project) holds in the tree. */
static int64_t sum_of(const struct snapshot *snapshot, const struct seen *like, bool of_consumer)
{
    int64_t sum = 0;
    for (size_t i = 0; i < snapshot->held_count; i++) {
        const struct seen *at = &snapshot->held[i];
        if (at->root_id == like->root_id && at->class_number == like->class_number &&
            slice_equal(at->project, like->project) &&
            (!of_consumer || slice_equal(at->consumer, like->consumer)))
            sum += at->used;
    }
    return sum;
}

/* ---- exclusivity ---- */

static bool is_in(const struct version *version, const struct provider *provider,
                  const char *aggregate)
{
    const struct catalog_row *row = catalog_find(&version->aggregates, slice_of(aggregate));
    return row != NULL && name_set_has(provider->aggregates, row->number);
}

static bool rack_is_claimed(const struct version *version)
{
    const struct valet_claim *claim = version_next_valet_claim(version, 0);
    for (; claim != NULL; claim = version_next_valet_claim(version, claim->record.id))
        if (record_bool(&claim->record, VALET_CLAIM_IS_RACK))
            return true;
    return false;
}

static bool is_gold(const struct version *version, int64_t root_id)
{
    const struct provider *root = version_provider_by_id(version, root_id);
    return version_valet_group_by_name(version, SLICE_LIT("gold")) != NULL &&
           (is_in(version, root, "gold") ||
            (rack_is_claimed(version) && is_in(version, root, "ra")));
}

static bool is_member(const struct version *version, struct slice project)
{
    const struct valet_group *gold = version_valet_group_by_name(version, SLICE_LIT("gold"));
    return version_valet_member(version, gold->record.id, project) != NULL;
}

static void check_non_members(const struct snapshot *before, const struct snapshot *after,
                              const struct version *version)
{
    for (size_t i = 0; i < after->held_count; i++) {
        const struct seen *at = &after->held[i];
        if (is_gold(version, at->root_id) && !is_member(version, at->project))
            assert_true(sum_of(after, at, false) <= sum_of(before, at, false));
    }
}

/* The group keeps a member that has something on its hosts; a group that has gone leaves no claims
 * and no hosts behind. */
static void check_groups(const struct snapshot *after, const struct version *version)
{
    const struct valet_claim *claim = NULL;
    while ((claim = version_next_valet_claim(version, claim == NULL ? 0 : claim->record.id)) !=
           NULL)
        assert_non_null(
            version_valet_group(version, record_number(&claim->record, VALET_CLAIM_GROUP_ID)));
    if (version_valet_group_by_name(version, SLICE_LIT("gold")) != NULL) {
        assert_true(is_member(version, SLICE_LIT("friend")));
        return;
    }
    for (size_t i = 0; i < after->provider_count; i++)
        assert_false(
            is_in(version, version_provider_by_id(version, after->providers[i].id), "gold"));
}

/* ---- holds ---- */

static void check_holds(const struct snapshot *before, const struct snapshot *after)
{
    for (size_t i = 0; i < after->held_count; i++) {
        const struct seen *at = &after->held[i];
        bool was_hold = false;
        for (size_t k = 0; k < before->held_count; k++)
            was_hold |=
                before->held[k].is_hold && slice_equal(before->held[k].consumer, at->consumer);
        assert_int_equal(at->is_hold, was_hold);
        if (at->is_hold)
            assert_int_equal(sum_of(after, at, true), sum_of(before, at, true));
    }
}

/* ---- capacity ---- */

static int64_t used_of(const struct snapshot *snapshot, int64_t provider_id, uint32_t class_number)
{
    int64_t sum = 0;
    for (size_t i = 0; i < snapshot->held_count; i++)
        if (snapshot->held[i].provider_id == provider_id &&
            snapshot->held[i].class_number == class_number)
            sum += snapshot->held[i].used;
    return sum;
}

/* Bare metal may use what is reserved. */
static void check_capacity(const struct snapshot *before, const struct snapshot *after,
                           const struct version *version, bool may_have_reserved)
{
    for (size_t i = 0; i < after->held_count; i++) {
        const struct seen *at = &after->held[i];
        const struct provider_inventory *inventory = provider_inventory_of(
            version_provider_by_id(version, at->provider_id), (struct class_no){at->class_number});
        assert_non_null(inventory);
        int64_t used = used_of(after, at->provider_id, at->class_number);
        int64_t most = capacity_of(&inventory->figures);
        if (may_have_reserved)
            most += inventory->figures.reserved;
        assert_int_equal(inventory->used, used);
        assert_true(used <= most || used <= used_of(before, at->provider_id, at->class_number));
    }
}

/* ---- generations ---- */

/* Whether the same consumers hold the same amounts of it. */
static bool is_held_alike(const struct snapshot *before, const struct snapshot *after, int64_t id)
{
    uint64_t sum[2] = {0, 0};
    for (size_t i = 0; i < before->held_count; i++)
        if (before->held[i].provider_id == id)
            sum[0] += mix(hash_text(before->held[i].consumer), (uint64_t)before->held[i].used);
    for (size_t i = 0; i < after->held_count; i++)
        if (after->held[i].provider_id == id)
            sum[1] += mix(hash_text(after->held[i].consumer), (uint64_t)after->held[i].used);
    return sum[0] == sum[1];
}

static void check_generations(const struct snapshot *before, const struct snapshot *after)
{
    for (size_t i = 0; i < before->provider_count; i++)
        for (size_t k = 0; k < after->provider_count; k++) {
            const struct seen_provider *was = &before->providers[i];
            const struct seen_provider *is = &after->providers[k];
            if (was->id != is->id)
                continue;
            bool is_same = was->content == is->content && is_held_alike(before, after, was->id);
            int32_t steps = is->generation - was->generation;
            assert_true(steps == 1 || (is_same && steps == 0));
        }
}

/* ---- nodes ---- */

static const struct provider_inventory *stock_of(struct metal_world *cloud, const struct node *node)
{
    struct slice class = node_text(node, NODE_RESOURCE_CLASS);
    char name[64] = "CUSTOM_";
    for (size_t i = 0; i < class.len; i++)
        name[7 + i] = (char)toupper(class.data[i]);
    return metal_inventory(cloud, arena_copy(cloud->world.arena, node_text(node, NODE_UUID)).data,
                           name);
}

static void check_node(struct metal_world *cloud, const char *uuid)
{
    const struct version *version = cloud->world.edit->version;
    const struct node *node = version_node_by_uuid(version, slice_of(uuid));
    if (node == NULL || node_is_null(node, NODE_PROVIDER_ADOPTED))
        return;
    const struct provider *provider = metal_provider(cloud, uuid);
    assert_non_null(provider);
    assert_true(slice_equal(provider_name(provider), slice_of(uuid)));
    assert_int_equal(provider->parent.v, NUMBER_NONE);
    assert_non_null(stock_of(cloud, node));
    assert_int_equal(stock_of(cloud, node)->figures.total, 1);
    assert_int_equal(stock_of(cloud, node)->figures.reserved, node_is_free(node) ? 0 : 1);
    struct slice traits = node_text(node, NODE_TRAITS);
    struct slice trait;
    while (record_next_word(&traits, &trait))
        assert_true(name_set_has(provider->traits, catalog_find(&version->traits, trait)->number));
}

/* Every consumer that was mirrored to Placement exists there. */
static void check_consumers(struct metal_world *cloud)
{
    const struct version *version = cloud->world.edit->version;
    const struct node_allocation *at = version_next_node_allocation(version, 0);
    for (; at != NULL; at = version_next_node_allocation(version, at->record.id))
        if (node_allocation_node_id(at) != 0 &&
            !node_allocation_is_null(at, NODE_ALLOCATION_CONSUMER_ADOPTED))
            assert_non_null(
                version_consumer(version, node_allocation_text(at, NODE_ALLOCATION_UUID)));
}

static void check_allocation(struct metal_world *cloud)
{
    check_consumers(cloud);
    const struct node_allocation *allocation = metal_allocation(cloud, "al1");
    if (allocation == NULL)
        return;
    const struct consumer *consumer = metal_consumer(cloud, "al1");
    assert_non_null(consumer);
    assert_int_equal(consumer->allocation_count, 1);
    assert_int_equal(consumer->allocation[0].provider.v, metal_provider(cloud, "m1")->no.v);
}

void invariants_check(const struct snapshot *before, struct metal_world *cloud, unsigned left_out,
                      const struct rule *author)
{
    const struct version *version = cloud->world.edit->version;
    struct snapshot after;
    snapshot_take(&after, cloud);
    if ((left_out & INVARIANT_GENERATIONS) == 0)
        check_generations(before, &after);
    if ((left_out & INVARIANT_NON_MEMBERS) == 0)
        check_non_members(before, &after, version);
    if (author != &valet_rule)
        check_holds(before, &after);
    check_capacity(before, &after, version, author == &node_rule);
    check_groups(&after, version);
    check_node(cloud, "m1");
    check_node(cloud, "m2");
    check_node(cloud, "m3");
    check_allocation(cloud);
}
