/* The comparison. Rows come in the order of a load: first catalogs, then providers, then what
 * belongs to them, then consumers, allocations and berth's own tables. For each entity in memory,
 * the comparison records whether its row has come and, for providers and consumers, how many of the
 * rows that belong to them. At the end, every entity whose rows have not all come is a difference.
 * Rows of berth's own tables come in ascending order of their ids, as memory has them, so they are
 * compared in step. */
#include "replica/compare.h"

#include <stdlib.h>

#include "base/search.h"
#include "replica/compare_internal.h"
#include "replica/rows.h"

const struct catalog *compare_catalog_of(const struct version *version, enum entity entity)
{
    const struct catalog *const catalogs[ENTITY_PROVIDER] = {
        [ENTITY_CLASS] = &version->classes,        [ENTITY_TRAIT] = &version->traits,
        [ENTITY_AGGREGATE] = &version->aggregates, [ENTITY_PROJECT] = &version->projects,
        [ENTITY_USER] = &version->users,           [ENTITY_CONSUMER_TYPE] = &version->types,
    };
    return catalogs[entity];
}

const struct ptree *compare_rows_of(const struct version *version, enum entity entity)
{
    return entity == ENTITY_NODE              ? &version->nodes
           : entity == ENTITY_NODE_ALLOCATION ? &version->node_allocations
                                              : &version->valet[entity - ENTITY_VALET].rows;
}

static void *zeroed(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    check(memory != NULL);
    return memory;
}

struct comparison *compare_begin(const struct version *version, size_t most)
{
    struct comparison *comparison = zeroed(1, sizeof(*comparison));
    comparison->version = version;
    comparison->most = most;
    for (enum entity entity = 0; entity < ENTITY_PROVIDER; entity++)
        comparison->catalogs[entity].seen = zeroed(compare_catalog_of(version, entity)->limit, 1);
    comparison->providers = zeroed(version->provider_limit, sizeof(*comparison->providers));
    comparison->consumer_capacity = version->consumers.count + 64;
    comparison->consumers = zeroed(comparison->consumer_capacity, sizeof(struct consumer_seen));
    return comparison;
}

void compare_free(struct comparison *comparison)
{
    for (enum entity entity = 0; entity < ENTITY_PROVIDER; entity++)
        free(comparison->catalogs[entity].seen);
    free(comparison->providers);
    free(comparison->consumers);
    free(comparison->differences.items);
    free(comparison);
}

void compare_note(struct comparison *comparison, struct difference difference)
{
    struct differences *differences = &comparison->differences;
    if (differences->count == comparison->most)
        comparison->is_over = true;
    if (comparison->is_over)
        return;
    if (differences->count == comparison->capacity) {
        comparison->capacity = comparison->capacity == 0 ? 64 : comparison->capacity * 2;
        differences->items =
            reallocarray(differences->items, comparison->capacity, sizeof(struct difference));
        check(differences->items != NULL);
    }
    differences->items[differences->count++] = difference;
}

static void compare_catalog(struct comparison *comparison, enum entity entity,
                            const struct change *change)
{
    const struct catalog *catalog = compare_catalog_of(comparison->version, entity);
    const struct catalog_row *row = catalog_find_id(catalog, change->catalog.id);
    struct difference difference = {.entity = entity, .id = change->catalog.id};
    if (row != NULL) {
        bool repeats_name = entity == ENTITY_TRAIT || entity == ENTITY_AGGREGATE;
        difference.is_known = true;
        difference.is_other = repeats_name && !same_catalog_name(row, change);
        comparison->catalogs[entity].seen[row->number] = difference.is_other ? SEEN_OTHER : SEEN;
        comparison->catalogs[entity].count++;
    }
    if (row == NULL || !same_catalog(row, change))
        compare_note(comparison, difference);
}

static void compare_provider(struct comparison *comparison, const struct change *change)
{
    const struct version *version = comparison->version;
    const struct provider *provider = version_provider_by_id(version, change->provider.id);
    if (provider == NULL) {
        compare_note(comparison,
                     (struct difference){.entity = ENTITY_PROVIDER, .id = change->provider.id});
        return;
    }
    struct provider_seen *seen = &comparison->providers[provider->no.v];
    seen->has_come = true;
    seen->has_other_row = !same_provider(version, provider, change);
    seen->has_moved = !same_place(version, provider, change);
}

/* The provider in memory; NULL: it is new. The last result is kept, because rows of one provider
 * often come together. */
static const struct provider *find_provider(struct comparison *comparison, int64_t id)
{
    if (comparison->provider == NULL || comparison->provider->id != id)
        comparison->provider = version_provider_by_id(comparison->version, id);
    return comparison->provider;
}

static void compare_inventory(struct comparison *comparison, const struct change *change)
{
    const struct provider *provider = find_provider(comparison, change->inventory.provider_id);
    if (provider == NULL)
        return;
    struct provider_seen *seen = &comparison->providers[provider->no.v];
    if (!same_inventory(comparison->version, provider, seen->inventories++, change))
        seen->has_contents = true;
}

static void compare_link(struct comparison *comparison, enum entity entity,
                         const struct change *change)
{
    const struct catalog *catalog = compare_catalog_of(comparison->version, entity);
    const struct provider *provider = find_provider(comparison, change->link.provider_id);
    if (provider == NULL)
        return;
    struct provider_seen *seen = &comparison->providers[provider->no.v];
    const struct catalog_row *row = catalog_find_id(catalog, change->link.other_id);
    if (row == NULL || comparison->catalogs[entity].seen[row->number] != SEEN ||
        !same_link(comparison->version, provider, catalog, row))
        seen->has_contents = true;
    else if (entity == ENTITY_TRAIT)
        seen->traits++;
    else
        seen->aggregates++;
}

static void compare_consumer(struct comparison *comparison, const struct change *change)
{
    const struct version *version = comparison->version;
    const struct consumer *consumer = version_consumer(version, change->consumer.uuid);
    if (consumer != NULL && consumer->id != change->consumer.id)
        consumer = NULL;
    if (comparison->consumer_count == comparison->consumer_capacity) {
        comparison->consumer_capacity *= 2;
        comparison->consumers = reallocarray(comparison->consumers, comparison->consumer_capacity,
                                             sizeof(struct consumer_seen));
        check(comparison->consumers != NULL);
    }
    comparison->consumers_known += consumer != NULL;
    comparison->consumers[comparison->consumer_count++] = (struct consumer_seen){
        .id = change->consumer.id,
        .consumer = consumer,
        .differs = consumer == NULL || !same_consumer(version, consumer, change),
    };
}

struct consumer_seen *compare_find_consumer(struct comparison *comparison, int64_t id)
{
    struct consumer_seen *all = comparison->consumers;
    size_t count = comparison->consumer_count;
    if (count == 0)
        return NULL;
    /* If the ids have no gaps, the position follows from the id. */
    uint64_t distance = (uint64_t)id - (uint64_t)all[0].id;
    if (distance < count && all[distance].id == id)
        return &all[distance];
    size_t at;
    SEARCH_LOWER(at, 0, count, all[at].id < id);
    return at < count && all[at].id == id ? &all[at] : NULL;
}

static void compare_allocation(struct comparison *comparison, const struct change *change)
{
    struct consumer_seen *seen = compare_find_consumer(comparison, change->allocation.consumer_id);
    check(seen != NULL); /* a load has sent the provider before */
    if (seen->consumer == NULL)
        return;
    int64_t newest_us = seen->consumer->allocated_at_us;
    if (change->created_at_us > newest_us ||
        !same_allocation(comparison->version, seen->consumer, seen->allocations++, change))
        seen->differs = true;
    seen->has_newest |= change->created_at_us == newest_us;
}

void compare_skip_records(struct comparison *comparison, enum entity entity, int64_t to)
{
    const struct ptree *rows = compare_rows_of(comparison->version, entity);
    int64_t *at = &comparison->record_id[entity - ENTITY_NODE];
    int64_t id;
    while ((id = rows_next_id(rows, *at)) != 0 && id < to) {
        compare_note(
            comparison,
            (struct difference){.entity = entity, .id = id, .is_known = true, .is_gone = true});
        *at = id;
    }
}

static void compare_record(struct comparison *comparison, enum entity entity,
                           const struct change *change)
{
    const struct change_row *row = &change->row;
    compare_skip_records(comparison, entity, row->id);
    comparison->record_id[entity - ENTITY_NODE] = row->id;
    const struct record *has = rows_at(compare_rows_of(comparison->version, entity), row->id);
    if (has == NULL || !record_equal(has, row->record))
        compare_note(comparison,
                     (struct difference){.entity = entity, .id = row->id, .is_known = has != NULL});
}

void compare_change(void *cls, const struct change *change)
{
    struct comparison *comparison = cls;
    if (comparison->is_over)
        return;
    switch (change->kind) {
    case CHANGE_CLASS_INSERT:
        compare_catalog(comparison, ENTITY_CLASS, change);
        return;
    case CHANGE_TRAIT_INSERT:
        compare_catalog(comparison, ENTITY_TRAIT, change);
        return;
    case CHANGE_AGGREGATE_INSERT:
        compare_catalog(comparison, ENTITY_AGGREGATE, change);
        return;
    case CHANGE_PROJECT_INSERT:
        compare_catalog(comparison, ENTITY_PROJECT, change);
        return;
    case CHANGE_USER_INSERT:
        compare_catalog(comparison, ENTITY_USER, change);
        return;
    case CHANGE_CONSUMER_TYPE_INSERT:
        compare_catalog(comparison, ENTITY_CONSUMER_TYPE, change);
        return;
    case CHANGE_PROVIDER_INSERT:
        compare_provider(comparison, change);
        return;
    case CHANGE_INVENTORY_INSERT:
        compare_inventory(comparison, change);
        return;
    case CHANGE_PROVIDER_TRAIT_INSERT:
        compare_link(comparison, ENTITY_TRAIT, change);
        return;
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
        compare_link(comparison, ENTITY_AGGREGATE, change);
        return;
    case CHANGE_CONSUMER_INSERT:
        compare_consumer(comparison, change);
        return;
    case CHANGE_ALLOCATION_INSERT:
        compare_allocation(comparison, change);
        return;
    case CHANGE_NODE_PUT:
        compare_record(comparison, ENTITY_NODE, change);
        return;
    case CHANGE_NODE_ALLOCATION_PUT:
        compare_record(comparison, ENTITY_NODE_ALLOCATION, change);
        return;
    case CHANGE_VALET_CASES:
        check(change_is_valet_put(change->kind));
        compare_record(comparison,
                       (enum entity)(ENTITY_VALET + (int)change_valet_table(change->kind)), change);
        return;
    case CHANGE_LOAD_PROVIDERS_END:
        return;
    default:
        check(false); /* never part of a load */
    }
}

static enum entity catalog_entity(enum change_kind kind)
{
    return kind == CHANGE_CLASS_INSERT       ? ENTITY_CLASS
           : kind == CHANGE_TRAIT_INSERT     ? ENTITY_TRAIT
           : kind == CHANGE_AGGREGATE_INSERT ? ENTITY_AGGREGATE
           : kind == CHANGE_PROJECT_INSERT   ? ENTITY_PROJECT
           : kind == CHANGE_USER_INSERT      ? ENTITY_USER
                                             : ENTITY_CONSUMER_TYPE;
}

static bool has_aggregate(const struct version *version, const struct change_link *link)
{
    const struct provider *provider = version_provider_by_id(version, link->provider_id);
    const struct catalog_row *row = catalog_find_id(&version->aggregates, link->other_id);
    return provider != NULL && row != NULL &&
           same_link(version, provider, &version->aggregates, row);
}

bool compare_has(const struct version *version, const struct change *change)
{
    if (change->kind == CHANGE_PROVIDER_INSERT) {
        const struct provider *provider = version_provider_by_id(version, change->provider.id);
        return provider != NULL && same_provider(version, provider, change);
    }
    if (change->kind == CHANGE_CONSUMER_INSERT) {
        const struct consumer *consumer = version_consumer(version, change->consumer.uuid);
        return consumer != NULL && consumer->id == change->consumer.id &&
               same_consumer(version, consumer, change);
    }
    if (change->kind == CHANGE_PROVIDER_AGGREGATE_INSERT)
        return has_aggregate(version, &change->link);
    const struct catalog_row *row = catalog_find_id(
        compare_catalog_of(version, catalog_entity(change->kind)), change->catalog.id);
    return row != NULL && same_catalog(row, change);
}
