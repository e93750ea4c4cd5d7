/* Frees a version: all of it, or what an abandoned edit has made. The writer only. */
#include <stdlib.h>

#include "replica/replica_internal.h"
#include "replica/rows.h"

static void free_places(void *cls, void *leaf)
{
    uint64_t birth = *(const uint64_t *)cls;
    struct place *places = (struct place *)((char *)leaf + COW_LEAF_HEADER);
    for (uint32_t i = 0; i < 1u << PLACE_SHAPE.shift; i++)
        if (places[i].provider != NULL && places[i].provider->node.birth >= birth)
            free((void *)(uintptr_t)places[i].provider);
}

static void free_columns(void *cls, void *leaf)
{
    struct column *columns = (struct column *)((char *)leaf + COW_LEAF_HEADER);
    for (uint32_t i = 0; i < 1u << COLUMN_SHAPE.shift; i++)
        column_free(&columns[i], *(const uint64_t *)cls);
}

static void free_consumer(void *cls, const struct ptree_entry *entry)
{
    struct consumer *consumer = (struct consumer *)(uintptr_t)entry->value;
    if (consumer->node.birth >= *(const uint64_t *)cls)
        free(consumer);
}

static void free_nodes(struct version *version, uint64_t birth)
{
    rows_free(&version->nodes, birth);
    ptree_free(&version->node_by_uuid, birth, NULL, NULL);
    ptree_free(&version->node_by_name, birth, NULL, NULL);
    ptree_free(&version->node_by_instance, birth, NULL, NULL);
    ptree_free(&version->nodes_of_class, birth, NULL, NULL);
    ptree_free(&version->node_classes, birth, NULL, NULL);
    ptree_free(&version->busy_nodes, birth, NULL, NULL);
    rows_free(&version->node_allocations, birth);
    ptree_free(&version->node_allocation_by_uuid, birth, NULL, NULL);
    ptree_free(&version->node_allocation_by_name, birth, NULL, NULL);
    ptree_free(&version->node_allocation_of_node, birth, NULL, NULL);
    ptree_free(&version->allocating, birth, NULL, NULL);
}

static void free_valet(struct version *version, uint64_t birth)
{
    for (int table = 0; table < VALET_TABLE_COUNT; table++) {
        rows_free(&version->valet[table].rows, birth);
        for (unsigned i = 0; i < VALET_KEYS_MAX; i++)
            ptree_free(&version->valet[table].by[i], birth, NULL, NULL);
    }
}

/* In a cloud of many hosts, the parts are of about equal size. */
static bool free_part(struct version *version, uint64_t birth, unsigned part)
{
    switch (part) {
    case 0:
        cow_array_free(&version->places, birth, free_places, &birth);
        return true;
    case 1:
        cow_array_free(&version->slot_of, birth, NULL, NULL);
        ptree_free(&version->free_ranges, birth, NULL, NULL);
        ptree_free(&version->free_numbers, birth, NULL, NULL);
        ptree_free(&version->provider_by_id, birth, NULL, NULL);
        return true;
    case 2:
        ptree_free(&version->provider_by_uuid, birth, NULL, NULL);
        ptree_free(&version->provider_by_name, birth, NULL, NULL);
        return true;
    case 3:
        catalog_free(&version->classes, birth);
        catalog_free(&version->traits, birth);
        catalog_free(&version->aggregates, birth);
        catalog_free(&version->projects, birth);
        catalog_free(&version->users, birth);
        catalog_free(&version->types, birth);
        return true;
    case 4:
        cow_array_free(&version->columns, birth, free_columns, &birth);
        name_sets_free(&version->trait_sets, birth);
        name_sets_free(&version->aggregate_sets, birth);
        return true;
    case 5:
        ptree_free(&version->consumers, birth, free_consumer, &birth);
        return true;
    case 6:
        ptree_free(&version->provider_consumers, birth, NULL, NULL);
        ptree_free(&version->usages, birth, NULL, NULL);
        ptree_free(&version->stray_uses, birth, NULL, NULL);
        ptree_free(&version->over_capacity, birth, NULL, NULL);
        ptree_free(&version->over_capacity_since, birth, NULL, NULL);
        ptree_free(&version->markers, birth, NULL, NULL);
        return true;
    case 7:
        free_nodes(version, birth);
        return true;
    case 8:
        free_valet(version, birth);
        return true;
    default:
        free(version);
        return false;
    }
}

bool version_free_part(struct version *version, unsigned part)
{
    return free_part(version, 0, part);
}

void version_free(struct version *version, uint64_t birth)
{
    for (unsigned part = 0; free_part(version, birth, part);)
        part++;
}
