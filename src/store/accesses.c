/* See accesses.h. Each object has its last moments only, because they are the latest. Changes of
 * one consumer come together, so that the last entry found by a text is usually the next one. */
#include "store/accesses.h"

#include "base/arena.h"
#include "base/check.h"
#include "base/hash.h"

static uint32_t hash_of(const struct object_key *key)
{
    if (key->text.data != NULL)
        return (uint32_t)hash_text(key->text) + key->kind;
    uint64_t mixed = (uint64_t)key->b * 0x9e3779b97f4a7c15u + key->kind;
    return hash_id(key->a ^ (int64_t)(mixed ^ mixed >> 29));
}

static bool is_same_key(const struct object_key *a, const struct object_key *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b && slice_equal(a->text, b->text);
}

uint32_t accesses_entry(struct accesses *accesses, const struct object_key *key)
{
    bool is_text = key->text.data != NULL;
    size_t last = accesses->last_text;
    if (is_text && last < accesses->count && is_same_key(&accesses->entries[last].key, key))
        return (uint32_t)last;
    uint32_t hash = hash_of(key);
    struct hash_slot *slot;
    hash_map_make_room(&accesses->map, accesses->arena, accesses->count);
    HASH_MAP_FIND(slot, &accesses->map, hash,
                  is_same_key(&accesses->entries[hash_slot_item(slot)].key, key));
    if (hash_slot_is_free(slot)) {
        accesses->entries = arena_grow(accesses->arena, accesses->entries, accesses->count,
                                       &accesses->capacity, sizeof(*accesses->entries));
        hash_slot_put(slot, hash, (uint32_t)accesses->count);
        accesses->entries[accesses->count++] = (struct object_entry){.key = *key};
    }
    uint32_t entry = hash_slot_item(slot);
    if (is_text)
        accesses->last_text = entry;
    return entry;
}

void accesses_touch(struct accesses *accesses, uint32_t entry, unsigned which, enum access access)
{
    check(accesses->touches < TOUCHES_MOST && which < OBJECTS_OF_KEY);
    const struct object *object = &accesses->entries[entry].object[which];
    uint32_t earliest = object->owned + (access == ACCESS_OWN ? 1 : 0);
    if (access != ACCESS_USE && object->used >= earliest)
        earliest = object->used + 1;
    if (earliest > accesses->earliest)
        accesses->earliest = earliest;
    accesses->touch[accesses->touches++] = (struct touch){entry, (uint8_t)which, (uint8_t)access};
}

void accesses_place(struct accesses *accesses, uint32_t moment)
{
    check(moment >= accesses->earliest);
    for (unsigned i = 0; i < accesses->touches; i++) {
        const struct touch *touch = &accesses->touch[i];
        struct object *object = &accesses->entries[touch->entry].object[touch->which];
        if (touch->access != ACCESS_USE)
            object->owned = moment;
        else if (moment > object->used)
            object->used = moment;
    }
    accesses->earliest = 0;
    accesses->touches = 0;
}
