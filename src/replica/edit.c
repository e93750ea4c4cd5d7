/* Owned copies of provider rows. Writer only. */
#include "replica/edit.h"

static struct place *own_place(struct edit *edit, struct provider_no no)
{
    struct slot_no slot = version_slot(edit->version, no);
    return cow_array_own(&edit->cow, &edit->version->places, PLACE_SHAPE, slot.v);
}

struct provider *edit_own_provider(struct edit *edit, struct provider_no no)
{
    struct place *place = own_place(edit, no);
    struct provider *provider =
        cow_own(&edit->cow, place->provider,
                provider_bytes(place->provider->inventory_count, place->provider->name_len));
    place->provider = provider;
    return provider;
}

struct provider *edit_resize_provider(struct edit *edit, struct provider_no no,
                                      uint32_t inventory_count, struct slice name)
{
    struct place *place = own_place(edit, no);
    const struct provider *old = place->provider;
    struct provider *provider =
        cow_new(&edit->cow, provider_bytes(inventory_count, (uint32_t)name.len));
    uint64_t birth = provider->node.birth;
    uint32_t common =
        inventory_count < old->inventory_count ? inventory_count : old->inventory_count;
    memcpy(provider, old, provider_bytes(common, 0));
    provider->node.birth = birth;
    provider->inventory_count = inventory_count;
    provider->name_len = (uint32_t)name.len;
    /* name may belong to the old row: copied before that row is dropped */
    memcpy(&provider->inventory[inventory_count], name.data, name.len);
    cow_drop(&edit->cow, old);
    place->provider = provider;
    return provider;
}
