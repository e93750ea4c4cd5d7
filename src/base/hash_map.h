/* A hash map from keys to positions in an array that the caller owns: open addressing, at most half
 * full, in an arena, either made for a known number of items or growing with them. Items cannot be
 * removed. The map stores a hash of each key; the keys stay in the array, and the caller compares
 * them. If clients choose the keys, the hash must be keyed (base/hash.h). One thread. */
#ifndef BERTH_BASE_HASH_MAP_H
#define BERTH_BASE_HASH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct hash_slot {
    uint32_t hash;
    uint32_t item_and_1; /* 0: the slot is free */
};

struct hash_map {
    struct hash_slot *slots;
    uint32_t mask;
};

/* Creates an empty map with room for `most` items, up to 2^30. */
struct hash_map hash_map_create(struct arena *arena, size_t most);

/* Makes room for one item more than the `count` items in the map by doubling it, without reading
 * the keys. A map that is all zero has no room, and must not be searched before this call. */
void hash_map_double(struct hash_map *map, struct arena *arena);
static inline void hash_map_make_room(struct hash_map *map, struct arena *arena, size_t count)
{
    if (__builtin_expect(2 * count >= map->mask, 0))
        hash_map_double(map, arena);
}

/* A bijection: different numbers have different hashes, so equal hashes mean equal numbers. */
static inline uint32_t hash_number(uint32_t number)
{
    uint32_t hash = number * 0x9e3779b1u;
    return hash ^ hash >> 16;
}

/* The hash of a 64-bit id. */
static inline uint32_t hash_id(int64_t id)
{
    return (uint32_t)((uint64_t)id * 0x9e3779b97f4a7c15u >> 32);
}

static inline bool hash_slot_is_free(const struct hash_slot *slot)
{
    return slot->item_and_1 == 0;
}

/* The item in a slot that is not free. */
static inline uint32_t hash_slot_item(const struct hash_slot *slot)
{
    return slot->item_and_1 - 1;
}

/* Stores an item in the free slot that was found for its hash. */
static inline void hash_slot_put(struct hash_slot *slot, uint64_t hash, uint32_t item)
{
    *slot = (struct hash_slot){(uint32_t)hash, item + 1};
}

/* Sets `slot`, a struct hash_slot *, to the slot of the item that has the hash and for which
 * `is_same`, an expression that uses hash_slot_item(slot), is true; if there is none, to the free
 * slot where the item belongs. A macro, so that the comparison is compiled into the loop. */
#define HASH_MAP_FIND(slot, map, key_hash, is_same)                                                \
    do {                                                                                           \
        const struct hash_map *hash_map_ = (map);                                                  \
        uint32_t hash_wanted_ = (uint32_t)(key_hash);                                              \
        uint32_t hash_at_ = hash_wanted_ & hash_map_->mask;                                        \
        (slot) = &hash_map_->slots[hash_at_];                                                      \
        while (!hash_slot_is_free(slot) && !((slot)->hash == hash_wanted_ && (is_same))) {         \
            hash_at_ = (hash_at_ + 1) & hash_map_->mask;                                           \
            (slot) = &hash_map_->slots[hash_at_];                                                  \
        }                                                                                          \
    } while (0)

#endif
