/* Catalogs. Invariants: 1. by_id, by_name and entries contain the same rows, whose ids are in the
 * sums; 2. a free number's slot set is empty. Written by the writer's edit, read in any published
 * version. */
#include "replica/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

const struct catalog_row *catalog_find(const struct catalog *catalog, struct slice name)
{
    struct ptree_iter iter;
    uint64_t hash = hash_text(name);
    ptree_seek(&catalog->by_name, hash, 0, &iter);
    for (;;) {
        const struct ptree_entry *entry = ptree_iter_get(&iter);
        if (entry == NULL || entry->k1 != hash)
            return NULL;
        const struct catalog_row *row = catalog_row_at(catalog, (uint32_t)entry->k2);
        if (slice_equal(catalog_name(row), name))
            return row;
        ptree_iter_next(&iter);
    }
}

const struct catalog_row *catalog_find_id(const struct catalog *catalog, int64_t id)
{
    uint64_t number;
    if (!ptree_find(&catalog->by_id, (uint64_t)id, 0, &number))
        return NULL;
    return catalog_row_at(catalog, (uint32_t)number);
}

static uint32_t take_number(struct cow *cow, struct catalog *catalog)
{
    struct ptree_iter iter;
    ptree_seek(&catalog->free, 0, 0, &iter);
    const struct ptree_entry *entry = ptree_iter_get(&iter);
    if (entry == NULL)
        return catalog->limit++;
    uint32_t number = (uint32_t)entry->k1;
    ptree_remove(cow, &catalog->free, number, 0);
    return number;
}

static struct catalog_row *make_row(struct cow *cow, int64_t id, uint32_t number, struct slice name)
{
    struct catalog_row *row = cow_new(cow, sizeof(*row) + name.len + 1);
    row->id = id;
    row->number = number;
    row->name_len = (uint32_t)name.len;
    memcpy(row->name, name.data, name.len);
    return row;
}

static struct catalog_entry *own_entry(struct cow *cow, struct catalog *catalog, uint32_t number)
{
    return cow_array_own(cow, &catalog->entries, CATALOG_SHAPE, number);
}

const struct catalog_row *catalog_insert(struct cow *cow, struct catalog *catalog, int64_t id,
                                         struct slice name, int64_t created_at_us,
                                         int64_t updated_at_us)
{
    uint32_t number = take_number(cow, catalog);
    struct catalog_row *row = make_row(cow, id, number, name);
    row->created_at_us = created_at_us;
    row->updated_at_us = updated_at_us;
    own_entry(cow, catalog, number)->row = row;
    ptree_set(cow, &catalog->by_id, (uint64_t)id, 0, number);
    ptree_set(cow, &catalog->by_name, hash_text(name), number, 0);
    row_sums_add(&catalog->sums, id, 0);
    return row;
}

void catalog_rename(struct cow *cow, struct catalog *catalog, uint32_t number, struct slice name,
                    int64_t updated_at_us)
{
    catalog_replace(cow, catalog, number, name, catalog_row_at(catalog, number)->created_at_us,
                    updated_at_us);
}

void catalog_replace(struct cow *cow, struct catalog *catalog, uint32_t number, struct slice name,
                     int64_t created_at_us, int64_t updated_at_us)
{
    const struct catalog_row *old = catalog_row_at(catalog, number);
    struct catalog_row *row = make_row(cow, old->id, number, name);
    row->created_at_us = created_at_us;
    row->updated_at_us = updated_at_us;
    own_entry(cow, catalog, number)->row = row;
    ptree_remove(cow, &catalog->by_name, hash_text(catalog_name(old)), number);
    ptree_set(cow, &catalog->by_name, hash_text(name), number, 0);
    cow_drop(cow, old);
}

void catalog_delete(struct cow *cow, struct catalog *catalog, uint32_t number)
{
    struct catalog_entry *entry = own_entry(cow, catalog, number);
    check(entry->slots.count == 0);
    ptree_remove(cow, &catalog->by_id, (uint64_t)entry->row->id, 0);
    ptree_remove(cow, &catalog->by_name, hash_text(catalog_name(entry->row)), number);
    ptree_set(cow, &catalog->free, number, 0, 0);
    row_sums_subtract(&catalog->sums, entry->row->id, 0);
    cow_drop(cow, entry->row);
    entry->row = NULL;
}

struct slotset *catalog_own_slots(struct cow *cow, struct catalog *catalog, uint32_t number)
{
    return &own_entry(cow, catalog, number)->slots;
}

static void free_leaf(void *cls, void *leaf)
{
    uint64_t birth = *(const uint64_t *)cls;
    struct catalog_entry *entries = (struct catalog_entry *)((char *)leaf + COW_LEAF_HEADER);
    for (uint32_t i = 0; i < 1u << CATALOG_SHAPE.shift; i++) {
        slotset_free(&entries[i].slots, birth);
        if (entries[i].row != NULL && entries[i].row->node.birth >= birth)
            free((void *)(uintptr_t)entries[i].row);
    }
}

void catalog_free(struct catalog *catalog, uint64_t birth)
{
    ptree_free(&catalog->by_id, birth, NULL, NULL);
    ptree_free(&catalog->by_name, birth, NULL, NULL);
    ptree_free(&catalog->free, birth, NULL, NULL);
    cow_array_free(&catalog->entries, birth, free_leaf, &birth);
}
