/* Providers that settling has to look at, each once: a plan of hundreds of hosts names hundreds.
 * Open addressing; the items stay in their order. Writer thread only. */
#include "valet/write/settle_set.h"
#include "base/arena.h"

enum { ROOM_FIRST = 16 };

/* Where the id is, or would be. */
static size_t position_of(const struct settle_set *set, int64_t id)
{
    size_t at = ((uint64_t)id * 0x9e3779b97f4a7c15u >> 32) & (set->room - 1);
    while (set->table[at] != 0 && set->items[set->table[at] - 1].id != id)
        at = (at + 1) & (set->room - 1);
    return at;
}

static void grow(struct settle_set *set, struct arena *arena)
{
    set->room = set->room == 0 ? ROOM_FIRST : 2 * set->room;
    set->table = arena_zalloc(arena, set->room * sizeof(*set->table));
    for (size_t i = 0; i < set->count; i++)
        set->table[position_of(set, set->items[i].id)] = (uint32_t)i + 1;
}

struct settle_provider *settle_set_find(const struct settle_set *set, int64_t id)
{
    uint32_t found = set->count == 0 ? 0 : set->table[position_of(set, id)];
    return found == 0 ? NULL : &set->items[found - 1];
}

struct settle_provider *settle_set_add(struct settle_set *set, int64_t id, struct arena *arena)
{
    if (2 * (set->count + 1) > set->room)
        grow(set, arena);
    size_t at = position_of(set, id);
    if (set->table[at] == 0) {
        set->items = arena_grow(arena, set->items, set->count, &set->capacity, sizeof(*set->items));
        set->items[set->count++] = (struct settle_provider){.id = id};
        set->table[at] = (uint32_t)set->count;
    }
    return &set->items[set->table[at] - 1];
}
