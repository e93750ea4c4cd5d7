/* The names of one request, each with a number. Clients choose how many there are, so no code may
 * search a list of them once per name. */
#ifndef BERTH_API_TEXT_NAME_TABLE_H
#define BERTH_API_TEXT_NAME_TABLE_H

#include <stdint.h>

#include "base/hash_map.h"
#include "base/slice.h"

struct arena;
struct name_entry;

struct name_table {
    struct hash_map map;
    struct name_entry *entries;
    uint32_t count;
};

/* Creates an empty table with room for `most` names, in the arena. */
struct name_table name_table_create(struct arena *arena, size_t most);

/* The number of a name, which the caller may read and write. A new name has 0; its text is not
 * copied. */
uint32_t *name_table_at(struct name_table *table, struct slice name);

/* Increments the name's number; true: the name is new. */
bool name_table_add(struct name_table *table, struct slice name);

bool name_table_has(const struct name_table *table, struct slice name);

#endif
