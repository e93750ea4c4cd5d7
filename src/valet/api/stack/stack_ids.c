/* An object's keys differ as bytes, but two of them may be the same UUID in different forms; then
 * compute would claim for both at once. */
#include "valet/api/stack/stack_ids.h"

#include "base/hash_map.h"
#include "model/valet.h"

bool stack_ids_differ(const struct stack *stack, struct arena *arena, struct err *err)
{
    struct hash_map map = hash_map_create(arena, stack->server_count);
    for (uint32_t i = 0; i < stack->server_count; i++) {
        struct slice id = stack->servers[i].orchestration_id;
        uint64_t hash = valet_id_hash(id);
        struct hash_slot *slot;
        HASH_MAP_FIND(slot, &map, hash,
                      valet_id_equal(stack->servers[hash_slot_item(slot)].orchestration_id, id));
        if (!hash_slot_is_free(slot))
            return err_set_join(err, 400, NULL, SLICE_LIT("Valet error: resource '"), id,
                                SLICE_LIT("' is '"),
                                stack->servers[hash_slot_item(slot)].orchestration_id,
                                SLICE_LIT("' in another form"));
        hash_slot_put(slot, hash, i);
    }
    return true;
}
