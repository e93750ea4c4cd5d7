/* Headrooms, in chunks of slots that are created when one of them is needed, so that a class on few
 * providers costs little. Any thread, one set of headrooms at a time. */
#include "valet/solve/headrooms.h"

#include <stdlib.h>

void headrooms_init(struct headrooms *headrooms, const struct version *version, struct arena *arena,
                    struct class_no *classes, uint32_t class_count)
{
    *headrooms = (struct headrooms){
        .version = version,
        .arena = arena,
        .classes = classes,
        .class_count = class_count,
        .chunk_count = (version->slot_limit + HEADROOMS_CHUNK - 1) / HEADROOMS_CHUNK,
    };
    headrooms->chunks = arena_zalloc(arena, (size_t)class_count * headrooms->chunk_count *
                                                sizeof(*headrooms->chunks));
    headrooms->nothing = arena_zalloc(arena, HEADROOMS_CHUNK * sizeof(*headrooms->nothing));
}

static int compare_back(const void *left, const void *right)
{
    const struct headroom_back *a = left;
    const struct headroom_back *b = right;
    if (a->class_no.v != b->class_no.v)
        return a->class_no.v < b->class_no.v ? -1 : 1;
    return (a->slot.v > b->slot.v) - (a->slot.v < b->slot.v);
}

void headrooms_give_back(struct headrooms *headrooms, const struct consumer *const *consumers,
                         uint32_t count)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += consumers[i]->allocation_count;
    struct headroom_back *back = arena_array(headrooms->arena, total, sizeof(*back));
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < consumers[i]->allocation_count; j++) {
            const struct consumer_allocation *allocation = &consumers[i]->allocation[j];
            back[at++] = (struct headroom_back){
                allocation->class_no, version_slot(headrooms->version, allocation->provider),
                allocation->used};
        }
    }
    if (total > 1)
        qsort(back, total, sizeof(*back), compare_back);
    for (uint32_t i = 0; i < total; i++) {
        if (headrooms->back_count > 0 &&
            compare_back(&back[headrooms->back_count - 1], &back[i]) == 0)
            back[headrooms->back_count - 1].amount += back[i].amount;
        else
            back[headrooms->back_count++] = back[i];
    }
    headrooms->back = back;
}

static int64_t given_back(const struct headrooms *headrooms, struct class_no class_no,
                          uint32_t slot)
{
    struct headroom_back key = {class_no, {slot}, 0};
    const struct headroom_back *found = headrooms->back_count == 0
                                            ? NULL
                                            : bsearch(&key, headrooms->back, headrooms->back_count,
                                                      sizeof(*headrooms->back), compare_back);
    return found == NULL ? 0 : found->amount;
}

struct fit_headroom *headrooms_overlay(const struct headrooms *headrooms, uint32_t *count)
{
    struct fit_headroom *overlay =
        arena_array(headrooms->arena, headrooms->back_count, sizeof(*overlay));
    *count = 0;
    for (uint32_t i = 0; i < headrooms->back_count; i++) {
        const struct headroom_back *back = &headrooms->back[i];
        const struct provider_inventory *inventory = provider_inventory_of(
            version_place(headrooms->version, back->slot)->provider, back->class_no);
        if (inventory != NULL)
            overlay[(*count)++] = (struct fit_headroom){
                back->class_no, back->slot,
                capacity_headroom(&inventory->figures, inventory->used - back->amount)};
    }
    return overlay;
}

/* Whether none of the chunk's slots has inventory of the class. */
static bool is_without(const struct headrooms *headrooms, uint32_t class_index, uint32_t chunk)
{
    const struct slotset *holders =
        &version_column(headrooms->version, headrooms->classes[class_index])->holders;
    uint32_t slot = slotset_next(holders, chunk * HEADROOMS_CHUNK);
    return slot == NUMBER_NONE || slot / HEADROOMS_CHUNK > chunk;
}

struct headroom *headrooms_read(struct headrooms *headrooms, uint32_t class_index, uint32_t slot)
{
    struct headroom **chunk =
        &headrooms->chunks[(size_t)class_index * headrooms->chunk_count + slot / HEADROOMS_CHUNK];
    if (*chunk == NULL && is_without(headrooms, class_index, slot / HEADROOMS_CHUNK))
        *chunk = headrooms->nothing;
    if (*chunk == headrooms->nothing)
        return &(*chunk)[slot % HEADROOMS_CHUNK];
    if (*chunk == NULL) {
        *chunk = arena_array(headrooms->arena, HEADROOMS_CHUNK, sizeof(**chunk));
        for (uint32_t i = 0; i < HEADROOMS_CHUNK; i++)
            (*chunk)[i].left = INT64_MIN;
    }
    struct headroom *headroom = &(*chunk)[slot % HEADROOMS_CHUNK];
    struct class_no class_no = headrooms->classes[class_index];
    const struct provider_inventory *inventory = provider_inventory_of(
        version_place(headrooms->version, (struct slot_no){slot})->provider, class_no);
    *headroom = (struct headroom){0, 0, 0};
    if (inventory != NULL) {
        int64_t capacity = capacity_of(&inventory->figures);
        headroom->left = capacity - inventory->used + given_back(headrooms, class_no, slot);
        headroom->first = headroom->left;
        headroom->per_unit = capacity > 0 ? 1.0 / (double)capacity : 0;
    }
    return headroom;
}
