/* Rooms, in chunks of slots that are made when something in them is asked for, so that a class that
 * few have costs little. Any thread, one set of rooms at a time. */
#include "valet/solve/rooms.h"

#include <stdlib.h>

void rooms_init(struct rooms *rooms, const struct version *version, struct arena *arena,
                struct class_no *classes, uint32_t class_count)
{
    *rooms = (struct rooms){
        .version = version,
        .arena = arena,
        .classes = classes,
        .class_count = class_count,
        .chunk_count = (version->slot_limit + ROOMS_CHUNK - 1) / ROOMS_CHUNK,
    };
    rooms->chunks =
        arena_zalloc(arena, (size_t)class_count * rooms->chunk_count * sizeof(*rooms->chunks));
    rooms->nothing = arena_zalloc(arena, ROOMS_CHUNK * sizeof(*rooms->nothing));
}

static int compare_back(const void *left, const void *right)
{
    const struct room_back *a = left;
    const struct room_back *b = right;
    if (a->class_no.v != b->class_no.v)
        return a->class_no.v < b->class_no.v ? -1 : 1;
    return (a->slot.v > b->slot.v) - (a->slot.v < b->slot.v);
}

void rooms_give_back(struct rooms *rooms, const struct consumer *const *consumers, uint32_t count)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += consumers[i]->allocation_count;
    struct room_back *back = arena_array(rooms->arena, total, sizeof(*back));
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < consumers[i]->allocation_count; j++) {
            const struct consumer_allocation *allocation = &consumers[i]->allocation[j];
            back[at++] = (struct room_back){allocation->class_no,
                                            version_slot(rooms->version, allocation->provider),
                                            allocation->used};
        }
    }
    if (total > 1)
        qsort(back, total, sizeof(*back), compare_back);
    for (uint32_t i = 0; i < total; i++) {
        if (rooms->back_count > 0 && compare_back(&back[rooms->back_count - 1], &back[i]) == 0)
            back[rooms->back_count - 1].amount += back[i].amount;
        else
            back[rooms->back_count++] = back[i];
    }
    rooms->back = back;
}

static int64_t given_back(const struct rooms *rooms, struct class_no class_no, uint32_t slot)
{
    struct room_back key = {class_no, {slot}, 0};
    const struct room_back *found =
        rooms->back_count == 0
            ? NULL
            : bsearch(&key, rooms->back, rooms->back_count, sizeof(*rooms->back), compare_back);
    return found == NULL ? 0 : found->amount;
}

struct fit_room *rooms_overlay(const struct rooms *rooms, uint32_t *count)
{
    struct fit_room *overlay = arena_array(rooms->arena, rooms->back_count, sizeof(*overlay));
    *count = 0;
    for (uint32_t i = 0; i < rooms->back_count; i++) {
        const struct room_back *back = &rooms->back[i];
        const struct provider_inventory *inventory = provider_inventory_of(
            version_place(rooms->version, back->slot)->provider, back->class_no);
        if (inventory != NULL)
            overlay[(*count)++] = (struct fit_room){
                back->class_no, back->slot,
                capacity_headroom(&inventory->figures, inventory->used - back->amount)};
    }
    return overlay;
}

/* Whether none of the chunk's slots has inventory of the class. */
static bool is_without(const struct rooms *rooms, uint32_t class_index, uint32_t chunk)
{
    const struct slotset *holders =
        &version_column(rooms->version, rooms->classes[class_index])->holders;
    uint32_t slot = slotset_next(holders, chunk * ROOMS_CHUNK);
    return slot == NUMBER_NONE || slot / ROOMS_CHUNK > chunk;
}

struct room *rooms_read(struct rooms *rooms, uint32_t class_index, uint32_t slot)
{
    struct room **chunk =
        &rooms->chunks[(size_t)class_index * rooms->chunk_count + slot / ROOMS_CHUNK];
    if (*chunk == NULL && is_without(rooms, class_index, slot / ROOMS_CHUNK))
        *chunk = rooms->nothing;
    if (*chunk == rooms->nothing)
        return &(*chunk)[slot % ROOMS_CHUNK];
    if (*chunk == NULL) {
        *chunk = arena_array(rooms->arena, ROOMS_CHUNK, sizeof(**chunk));
        for (uint32_t i = 0; i < ROOMS_CHUNK; i++)
            (*chunk)[i].left = INT64_MIN;
    }
    struct room *room = &(*chunk)[slot % ROOMS_CHUNK];
    struct class_no class_no = rooms->classes[class_index];
    const struct provider_inventory *inventory = provider_inventory_of(
        version_place(rooms->version, (struct slot_no){slot})->provider, class_no);
    *room = (struct room){0, 0, 0};
    if (inventory != NULL) {
        int64_t capacity = capacity_of(&inventory->figures);
        room->left = capacity - inventory->used + given_back(rooms, class_no, slot);
        room->first = room->left;
        room->per_unit = capacity > 0 ? 1.0 / (double)capacity : 0;
    }
    return room;
}
