/* See alikes.h. Clients choose the texts, so their number is limited; each costs one batch that the
 * database refuses, and a later one with the same text none. A row that has changed since is not
 * noticed here: whoever asks compares its text (store.h). The writer only. */
#include "store/server/alikes.h"

#include "base/arena.h"
#include "base/hash.h"

struct alike {
    enum change_kind insert;
    unsigned field;
    struct slice text;
    struct store_alike row;
};

/* The slot of the text, or the free one where it belongs. */
static struct hash_slot *alikes_slot(const struct alikes *alikes, enum change_kind insert,
                                     unsigned field, struct slice text, uint64_t hash)
{
    struct hash_slot *slot;
    HASH_MAP_FIND(slot, &alikes->by_text, hash,
                  alikes->items[hash_slot_item(slot)].insert == insert &&
                      alikes->items[hash_slot_item(slot)].field == field &&
                      slice_equal(alikes->items[hash_slot_item(slot)].text, text));
    return slot;
}

bool alikes_find(const struct alikes *alikes, enum change_kind insert, unsigned field,
                 struct slice text, struct store_alike *found)
{
    if (alikes->count == 0)
        return false;
    const struct hash_slot *slot = alikes_slot(alikes, insert, field, text, hash_text(text));
    if (hash_slot_is_free(slot))
        return false;
    *found = alikes->items[hash_slot_item(slot)].row;
    return true;
}

static void begin(struct alikes *alikes)
{
    alikes_free(alikes);
    alikes->arena = arena_create();
    alikes->items = arena_array(alikes->arena, ALIKES_MOST, sizeof(*alikes->items));
    alikes->by_text = hash_map_create(alikes->arena, ALIKES_MOST);
}

void alikes_note(struct alikes *alikes, enum change_kind insert, unsigned field, struct slice text,
                 const struct store_alike *row)
{
    uint64_t hash = hash_text(text);
    if (alikes->arena == NULL || alikes->count == ALIKES_MOST)
        begin(alikes);
    struct hash_slot *slot = alikes_slot(alikes, insert, field, text, hash);
    alikes->items[alikes->count] = (struct alike){insert,
                                                  field,
                                                  arena_copy(alikes->arena, text),
                                                  {row->id, arena_copy(alikes->arena, row->text)}};
    hash_slot_put(slot, hash, (uint32_t)alikes->count++);
}

void alikes_free(struct alikes *alikes)
{
    if (alikes->arena != NULL)
        arena_destroy(alikes->arena);
    *alikes = (struct alikes){0};
}
