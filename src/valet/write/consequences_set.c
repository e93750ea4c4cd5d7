/* Providers to be examined for consequences, each once; a plan of hundreds of hosts names hundreds.
 * The items stay in their order. The writer only. */
#include "valet/write/consequences_set.h"
#include "base/arena.h"

static struct hash_slot *slot_of(const struct consequences_set *set, int64_t id)
{
    struct hash_slot *slot;
    HASH_MAP_FIND(slot, &set->by_id, hash_id(id), set->items[hash_slot_item(slot)].id == id);
    return slot;
}

struct consequences_provider *consequences_set_find(const struct consequences_set *set, int64_t id)
{
    const struct hash_slot *slot = set->count == 0 ? NULL : slot_of(set, id);
    return slot == NULL || hash_slot_is_free(slot) ? NULL : &set->items[hash_slot_item(slot)];
}

struct consequences_provider *consequences_set_add(struct consequences_set *set, int64_t id,
                                                   struct arena *arena)
{
    hash_map_make_room(&set->by_id, arena, set->count);
    struct hash_slot *slot = slot_of(set, id);
    if (hash_slot_is_free(slot)) {
        set->items = arena_grow(arena, set->items, set->count, &set->capacity, sizeof(*set->items));
        hash_slot_put(slot, hash_id(id), (uint32_t)set->count);
        set->items[set->count++] = (struct consequences_provider){.id = id};
    }
    return &set->items[hash_slot_item(slot)];
}
