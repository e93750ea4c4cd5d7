/* A hash map of the names in the order in which they were added; the hash is keyed, so that clients
 * cannot choose names that collide. One thread. */
#include "api/text/name_table.h"

#include "base/arena.h"
#include "base/hash.h"

struct name_entry {
    struct slice name;
    uint32_t number;
};

struct name_table name_table_create(struct arena *arena, size_t most)
{
    return (struct name_table){.map = hash_map_create(arena, most),
                               .entries = arena_array(arena, most, sizeof(struct name_entry))};
}

static struct hash_slot *name_table_find(const struct name_table *table, struct slice name,
                                         uint64_t hash)
{
    struct hash_slot *slot;
    HASH_MAP_FIND(slot, &table->map, hash,
                  slice_equal(table->entries[hash_slot_item(slot)].name, name));
    return slot;
}

uint32_t *name_table_at(struct name_table *table, struct slice name)
{
    uint64_t hash = hash_text(name);
    struct hash_slot *slot = name_table_find(table, name, hash);
    if (hash_slot_is_free(slot)) {
        table->entries[table->count] = (struct name_entry){.name = name};
        hash_slot_put(slot, hash, table->count++);
    }
    return &table->entries[hash_slot_item(slot)].number;
}

bool name_table_add(struct name_table *table, struct slice name)
{
    return (*name_table_at(table, name))++ == 0;
}

bool name_table_has(const struct name_table *table, struct slice name)
{
    return !hash_slot_is_free(name_table_find(table, name, hash_text(name)));
}
