/* The names of one request, each with a number: clients choose how many there are, so nothing may
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

/* An empty table with room for `most` names, in the arena. */
struct name_table name_table_create(struct arena *arena, size_t most);

/* The number of a name, to be read and written. A name that is new has 0; the text is not copied.
 */
uint32_t *name_table_at(struct name_table *table, struct slice name);

/* Counts the name; true if it is new. */
bool name_table_add(struct name_table *table, struct slice name);

/* Whether the table has that name. */
bool name_table_has(const struct name_table *table, struct slice name);

#endif
