/* See block.h. Rows that belong to an entity may come in any order: two of them are never equal, so
 * memory has just those that came if it has each of them and as many. Pure. */
#include "replica/block.h"

#include <stdlib.h>

#include "base/search.h"
#include "replica/compare_internal.h"
#include "replica/rows.h"

/* ---- which ---- */

static const struct ptree *tree_of(const struct version *version, enum entity entity)
{
    return entity < ENTITY_PROVIDER    ? &compare_catalog_of(version, entity)->by_id
           : entity == ENTITY_PROVIDER ? &version->provider_by_id
           : entity == ENTITY_CONSUMER ? &version->consumers
                                       : compare_rows_of(version, entity);
}

static struct block_item item_of(const struct version *version, enum entity entity,
                                 const struct ptree_entry *entry)
{
    struct block_item item = {.id = (int64_t)entry->k1};
    if (entity < ENTITY_PROVIDER) {
        item.row = catalog_find_id(compare_catalog_of(version, entity), item.id);
    } else if (entity == ENTITY_PROVIDER) {
        item.provider = version_provider_by_id(version, item.id);
    } else if (entity == ENTITY_CONSUMER) {
        item.consumer = (const struct consumer *)(uintptr_t)entry->value;
        item.id = item.consumer->id;
    } else {
        item.record = rows_at(compare_rows_of(version, entity), item.id);
    }
    return item;
}

static int compare_items(const void *a, const void *b)
{
    int64_t left = ((const struct block_item *)a)->id;
    int64_t right = ((const struct block_item *)b)->id;
    return (left > right) - (left < right);
}

static void take_kind(struct block *block, struct block_place *place)
{
    struct ptree_iter iter;
    const struct ptree_entry *entry;
    block->entity = place->entity;
    ptree_seek(tree_of(block->version, place->entity), place->k1, place->k2, &iter);
    while (block->count < BLOCK_MOST && (entry = ptree_iter_get(&iter)) != NULL) {
        block->items[block->count++] = item_of(block->version, place->entity, entry);
        place->k1 = entry->k1;
        place->k2 = entry->k2 + 1;
        ptree_iter_next(&iter);
    }
}

bool block_take(struct block *block, const struct version *version, struct block_place *place)
{
    block->version = version;
    block->count = 0;
    while (place->entity < ENTITY_COUNT) {
        take_kind(block, place);
        if (block->count > 0)
            break;
        *place = (struct block_place){.entity = place->entity + 1};
    }
    if (block->count > 0)
        qsort(block->items, block->count, sizeof(block->items[0]), compare_items);
    for (size_t i = 0; i < block->count; i++)
        block->ids[i] = block->items[i].id;
    return block->count > 0;
}

/* ---- their rows ---- */

/* NULL: the row belongs to none of them. */
static struct block_item *find_item(struct block *block, int64_t id)
{
    size_t at;
    SEARCH_LOWER(at, 0, block->count, block->items[at].id < id);
    return at < block->count && block->items[at].id == id ? &block->items[at] : NULL;
}

static int64_t block_owner_of(const struct change *change)
{
    switch (change->kind) {
    case CHANGE_INVENTORY_INSERT:
        return change->inventory.provider_id;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
        return change->link.provider_id;
    case CHANGE_ALLOCATION_INSERT:
        return change->allocation.consumer_id;
    case CHANGE_PROVIDER_INSERT:
        return change->provider.id;
    case CHANGE_CONSUMER_INSERT:
        return change->consumer.id;
    default: /* both begin with it */
        return change->row.id;
    }
}

static bool has_link(const struct block *block, const struct block_item *item,
                     const struct change *change)
{
    const struct catalog *catalog = compare_catalog_of(
        block->version,
        change->kind == CHANGE_PROVIDER_TRAIT_INSERT ? ENTITY_TRAIT : ENTITY_AGGREGATE);
    const struct catalog_row *row = catalog_find_id(catalog, change->link.other_id);
    return row != NULL && same_link(block->version, item->provider, catalog, row);
}

static bool has_allocation(const struct block *block, struct block_item *item,
                           const struct change *change)
{
    int64_t newest_us = item->consumer->allocated_at_us;
    item->allocations++;
    item->has_newest |= change->created_at_us == newest_us;
    if (change->created_at_us > newest_us)
        return false;
    for (uint32_t i = 0; i < item->consumer->allocation_count; i++)
        if (same_allocation(block->version, item->consumer, i, change))
            return true;
    return false;
}

static bool has_inventory(const struct block *block, struct block_item *item,
                          const struct change *change)
{
    item->inventories++;
    for (uint32_t i = 0; i < item->provider->inventory_count; i++)
        if (same_inventory(block->version, item->provider, i, change))
            return true;
    return false;
}

/* Whether memory has the row. */
static bool block_has_row(const struct block *block, struct block_item *item,
                          const struct change *change)
{
    switch (change->kind) {
    case CHANGE_PROVIDER_INSERT:
        return same_provider(block->version, item->provider, change);
    case CHANGE_INVENTORY_INSERT:
        return has_inventory(block, item, change);
    case CHANGE_PROVIDER_TRAIT_INSERT:
        item->traits++;
        return has_link(block, item, change);
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
        item->aggregates++;
        return has_link(block, item, change);
    case CHANGE_CONSUMER_INSERT:
        return slice_equal(consumer_uuid(item->consumer), change->consumer.uuid) &&
               same_consumer(block->version, item->consumer, change);
    case CHANGE_ALLOCATION_INSERT:
        return has_allocation(block, item, change);
    default:
        return block->entity < ENTITY_PROVIDER ? same_catalog(item->row, change)
                                               : record_equal(item->record, change->row.record);
    }
}

/* Whether the row is the entity's own, and not one that belongs to it. */
static bool is_own(enum change_kind kind)
{
    return kind != CHANGE_INVENTORY_INSERT && kind != CHANGE_PROVIDER_TRAIT_INSERT &&
           kind != CHANGE_PROVIDER_AGGREGATE_INSERT && kind != CHANGE_ALLOCATION_INSERT;
}

void block_compare(void *cls, const struct change *change)
{
    struct block *block = cls;
    struct block_item *item = find_item(block, block_owner_of(change));
    if (item == NULL)
        return;
    item->has_come |= is_own(change->kind);
    if (!block_has_row(block, item, change))
        item->differs = true;
}

/* Whether rows are missing that belong to it. */
static bool lacks_rows(const struct block_item *item)
{
    const struct provider *provider = item->provider;
    const struct consumer *consumer = item->consumer;
    if (provider != NULL)
        return item->inventories != provider->inventory_count ||
               item->traits != provider->traits->count ||
               item->aggregates != provider->aggregates->count;
    return consumer != NULL && (item->allocations != consumer->allocation_count ||
                                (!item->has_newest && consumer->allocated_at_us != 0));
}

size_t block_end(const struct block *block,
                 void (*differs)(void *cls, enum entity entity, int64_t id, struct slice uuid),
                 void *cls)
{
    size_t count = 0;
    for (size_t i = 0; i < block->count; i++) {
        const struct block_item *item = &block->items[i];
        if (item->has_come && !item->differs && !lacks_rows(item))
            continue;
        count++;
        differs(cls, block->entity, item->id,
                item->consumer == NULL ? (struct slice){0} : consumer_uuid(item->consumer));
    }
    return count;
}
