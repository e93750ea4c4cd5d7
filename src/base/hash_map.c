/* The map's memory; everything else is in the header. */
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
