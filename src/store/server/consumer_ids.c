/* See consumer_ids.h. At most half of the slots are in use. */
#include "store/server/consumer_ids.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"

enum { SLOTS_FIRST = 1024 };

struct consumer_id {
    const char *uuid;
    uint32_t uuid_len;
    uint32_t hash;
    int64_t id;
};

/* The slot of the uuid, or the free one where it belongs. */
static size_t find_slot(const struct consumer_ids *ids, uint32_t hash, struct slice uuid)
{
    size_t slot = hash & (ids->slot_count - 1);
    for (; ids->slots[slot] != 0; slot = (slot + 1) & (ids->slot_count - 1)) {
        const struct consumer_id *entry = &ids->entries[ids->slots[slot] - 1];
        if (entry->hash == hash && slice_equal(uuid, (struct slice){entry->uuid, entry->uuid_len}))
            break;
    }
    return slot;
}

static void double_slots(struct consumer_ids *ids)
{
    ids->slot_count = ids->slot_count == 0 ? SLOTS_FIRST : 2 * ids->slot_count;
    free(ids->slots);
    ids->slots = calloc(ids->slot_count, sizeof(*ids->slots));
    check(ids->slots != NULL);
    for (size_t i = 0; i < ids->count; i++) {
        size_t slot = ids->entries[i].hash & (ids->slot_count - 1);
        while (ids->slots[slot] != 0)
            slot = (slot + 1) & (ids->slot_count - 1);
        ids->slots[slot] = (uint32_t)(i + 1);
    }
}

void consumer_ids_add(struct consumer_ids *ids, struct slice uuid, int64_t id)
{
    check(ids->count < UINT32_MAX);
    if (ids->arena == NULL)
        ids->arena = arena_create();
    if (2 * (ids->count + 1) > ids->slot_count)
        double_slots(ids);
    if (ids->count == ids->capacity) {
        ids->capacity = ids->capacity == 0 ? SLOTS_FIRST : 2 * ids->capacity;
        ids->entries = reallocarray(ids->entries, ids->capacity, sizeof(*ids->entries));
        check(ids->entries != NULL);
    }
    uint32_t hash = (uint32_t)hash_text(uuid);
    ids->entries[ids->count++] = (struct consumer_id){.uuid = arena_copy(ids->arena, uuid).data,
                                                      .uuid_len = (uint32_t)uuid.len,
                                                      .hash = hash,
                                                      .id = id};
    ids->slots[find_slot(ids, hash, uuid)] = (uint32_t)ids->count;
}

int64_t consumer_ids_find(const struct consumer_ids *ids, struct slice uuid)
{
    if (ids->count == 0)
        return 0;
    uint32_t position = ids->slots[find_slot(ids, (uint32_t)hash_text(uuid), uuid)];
    return position == 0 ? 0 : ids->entries[position - 1].id;
}

void consumer_ids_free(struct consumer_ids *ids)
{
    arena_destroy(ids->arena);
    free(ids->entries);
    free(ids->slots);
    *ids = (struct consumer_ids){0};
}
