/* Invariants of every version, stated as in section 13 of the bare metal spec and not as in the
 * code under test. One thread. */
#include <ctype.h>

#include "baremetal/write/metal_world.h"
#include "replica/nodes.h"
#include "unit.h"

static struct slice class_in_placement(struct metal_world *metal, struct slice class)
{
    char name[64];
    assert_true(class.len < sizeof(name));
    for (size_t i = 0; i < class.len; i++)
        name[i] = isalnum(class.data[i]) ? (char)toupper(class.data[i]) : '_';
    return arena_printf(metal->world.arena, "CUSTOM_%.*s", (int)class.len, name);
}

/* C2: the node can be taken, according to its own row. */
static bool can_be_taken(const struct node *node)
{
    return node_text_is(node, NODE_PROVISION_STATE, "available") &&
           !node_bool(node, NODE_MAINTENANCE) && !node_is_null(node, NODE_POWER_STATE) &&
           !node_text_is(node, NODE_POWER_STATE, "error") && node_is_null(node, NODE_INSTANCE_UUID);
}

static void check_inventory(const struct node *node, const struct inventory_figures *figures)
{
    assert_int_equal(figures->total, 1);
    assert_int_equal(figures->min_unit, 1);
    assert_int_equal(figures->max_unit, 1);
    assert_int_equal(figures->step_size, 1);
    assert_true(figures->allocation_ratio > 0.999 && figures->allocation_ratio < 1.001);
    assert_int_equal(figures->reserved, can_be_taken(node) ? 0 : 1);
}

/* The one consumer that has the class on the provider; it has one of it. */
static const struct consumer *only_holder(const struct version *version,
                                          struct provider_no provider, uint32_t class_number)
{
    const struct consumer *holder = NULL;
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    for (ptree_seek(&version->consumers, 0, 0, &iter); (entry = ptree_iter_get(&iter)) != NULL;
         ptree_iter_next(&iter)) {
        const struct consumer *consumer = (const struct consumer *)(uintptr_t)entry->value;
        for (uint32_t i = 0; i < consumer->allocation_count; i++) {
            if (consumer->allocation[i].provider.v != provider.v ||
                consumer->allocation[i].class_no.v != class_number)
                continue;
            assert_null(holder); /* no node is held twice */
            assert_int_equal(consumer->allocation[i].used, 1);
            holder = consumer;
        }
    }
    return holder;
}

static void check_holder(const struct version *version, const struct node *node,
                         const struct consumer *holder)
{
    const struct node_allocation *allocation = version_node_allocation_of(version, node->record.id);
    if (allocation == NULL)
        return;
    struct slice uuid = node_allocation_text(allocation, NODE_ALLOCATION_UUID);
    if (holder == NULL) /* the adopted consumer may have released it */
        assert_true(node_allocation_bool(allocation, NODE_ALLOCATION_CONSUMER_ADOPTED));
    else
        assert_true(slice_equal(consumer_uuid(holder), uuid));
}

static void check_node(struct metal_world *metal, const struct version *version,
                       const struct node *node)
{
    if (node_is_null(node, NODE_RESOURCE_CLASS))
        return;
    const struct provider *provider = version_provider_by_uuid(version, node_text(node, NODE_UUID));
    assert_non_null(provider);
    assert_int_equal(provider->parent.v, NUMBER_NONE);
    const struct catalog_row *row = catalog_find(
        &version->classes, class_in_placement(metal, node_text(node, NODE_RESOURCE_CLASS)));
    assert_non_null(row);
    const struct provider_inventory *inventory =
        provider_inventory_of(provider, (struct class_no){row->number});
    assert_non_null(inventory);
    check_inventory(node, &inventory->figures);
    struct slice traits = node_text(node, NODE_TRAITS);
    struct slice trait;
    while (record_next_word(&traits, &trait))
        assert_true(name_set_has(provider->traits, catalog_find(&version->traits, trait)->number));
    check_holder(version, node, only_holder(version, provider->no, row->number));
}

/* Capacity, except that a node's holder may have its one unit while it is reserved. */
static void check_room(const struct provider *provider)
{
    for (uint32_t i = 0; i < provider->inventory_count; i++) {
        const struct provider_inventory *inventory = &provider->inventory[i];
        const struct inventory_figures *figures = &inventory->figures;
        bool is_taken_node = figures->total == 1 && figures->reserved == 1 && inventory->used == 1;
        assert_true(inventory->used <= capacity_of(figures) || is_taken_node);
    }
}

/* berth's consumers have an active allocation, and hold only one unit of its node. */
static void check_consumers(const struct version *version)
{
    const struct catalog_row *ours =
        catalog_find(&version->types, SLICE_LIT("BAREMETAL_ALLOCATION"));
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    for (ptree_seek(&version->consumers, 0, 0, &iter); (entry = ptree_iter_get(&iter)) != NULL;
         ptree_iter_next(&iter)) {
        const struct consumer *consumer = (const struct consumer *)(uintptr_t)entry->value;
        if (ours == NULL || consumer->type != ours->number)
            continue;
        const struct node_allocation *allocation =
            version_node_allocation_by_uuid(version, consumer_uuid(consumer));
        assert_non_null(allocation);
        assert_true(node_allocation_text_is(allocation, NODE_ALLOCATION_STATE, "active"));
        assert_int_equal(consumer->allocation_count, 1);
        const struct node *node = version_node(version, node_allocation_node_id(allocation));
        const struct provider *provider =
            version_provider(version, consumer->allocation[0].provider);
        assert_true(slice_equal(provider_uuid(provider), node_text(node, NODE_UUID)));
    }
}

/* One node and one allocation, which refer to each other. */
static void check_pairs(const struct version *version)
{
    const struct node_allocation *at = version_next_node_allocation(version, 0);
    for (; at != NULL; at = version_next_node_allocation(version, at->record.id)) {
        bool is_active = node_allocation_text_is(at, NODE_ALLOCATION_STATE, "active");
        const struct node *node = version_node(version, node_allocation_node_id(at));
        assert_int_equal(is_active, node != NULL);
        assert_int_equal(node_allocation_text_is(at, NODE_ALLOCATION_STATE, "error"),
                         !node_allocation_is_null(at, NODE_ALLOCATION_LAST_ERROR));
        if (!is_active)
            continue;
        assert_ptr_equal(version_node_allocation_of(version, node->record.id), at);
        assert_true(slice_equal(node_text(node, NODE_INSTANCE_UUID),
                                node_allocation_text(at, NODE_ALLOCATION_UUID)));
    }
}

void metal_check_locks(struct metal_world *metal)
{
    const struct version *version = metal->world.edit->version;
    for (const struct node *node = version_next_node(version, 0); node != NULL;
         node = version_next_node(version, node->record.id)) {
        bool is_locked = !node_is_null(node, NODE_RESERVATION);
        bool passes =
            node_machine_is_transient(node_state_find(node_text(node, NODE_PROVISION_STATE)));
        assert_int_equal(is_locked, !node_is_null(node, NODE_DUE_AT));
        assert_int_equal(is_locked, passes || !node_is_null(node, NODE_TARGET_POWER_STATE));
    }
}

void metal_check_rules(struct metal_world *metal)
{
    const struct version *version = metal->world.edit->version;
    for (const struct node *node = version_next_node(version, 0); node != NULL;
         node = version_next_node(version, node->record.id)) {
        check_node(metal, version, node);
        const struct provider *provider =
            version_provider_by_uuid(version, node_text(node, NODE_UUID));
        if (provider != NULL)
            check_room(provider);
    }
    check_consumers(version);
    check_pairs(version);
}
