/* Allocates and doubles the map's memory; everything else is in the header. */
#include "base/hash_map.h"

#include "base/arena.h"

struct hash_map hash_map_create(struct arena *arena, size_t most)
{
    check(most <= (size_t)1 << 30);
    size_t size = 2;
    while (size < 2 * most)
        size *= 2;
    return (struct hash_map){arena_zalloc(arena, size * sizeof(struct hash_slot)),
                             (uint32_t)size - 1};
}

enum { FIRST_SIZE = 8 };

void hash_map_double(struct hash_map *map, struct arena *arena)
{
    const struct hash_slot *old = map->slots;
    size_t old_size = old == NULL ? 0 : (size_t)map->mask + 1;
    size_t size = old == NULL ? FIRST_SIZE : 2 * old_size;
    check(size <= (size_t)1 << 31);
    *map =
        (struct hash_map){arena_zalloc(arena, size * sizeof(struct hash_slot)), (uint32_t)size - 1};
    for (size_t i = 0; i < old_size; i++) {
        struct hash_slot *slot;
        if (hash_slot_is_free(&old[i]))
            continue;
        HASH_MAP_FIND(slot, map, old[i].hash, false);
        *slot = old[i];
    }
}
