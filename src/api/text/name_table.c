/* Open addressing, at most half full; the hash is keyed, so that nobody can choose names that
 * collide. One thread. */
#include "api/text/name_table.h"

#include "base/arena.h"
#include "base/hash.h"

struct name_entry {
    struct slice name;
    uint64_t hash;
    uint32_t number;
    bool is_used;
};

struct name_table name_table_create(struct arena *arena, size_t most)
{
    size_t size = 8;
    while (size < 2 * most)
        size *= 2;
    return (struct name_table){arena_zalloc(arena, size * sizeof(struct name_entry)), size - 1};
}

/* The name's entry, or the unused one where it would stand. */
static struct name_entry *find(const struct name_table *table, struct slice name, uint64_t hash)
{
    size_t at = hash & table->mask;
    for (;;) {
        struct name_entry *entry = &table->entries[at];
        if (!entry->is_used || (entry->hash == hash && slice_equal(entry->name, name)))
            return entry;
        at = (at + 1) & table->mask;
    }
}

uint32_t *name_table_at(struct name_table *table, struct slice name)
{
    uint64_t hash = hash_text(name);
    struct name_entry *entry = find(table, name, hash);
    entry->name = name;
    entry->hash = hash;
    entry->is_used = true;
    return &entry->number;
}

bool name_table_add(struct name_table *table, struct slice name)
{
    return (*name_table_at(table, name))++ == 0;
}

bool name_table_has(const struct name_table *table, struct slice name)
{
    return find(table, name, hash_text(name))->is_used;
}
