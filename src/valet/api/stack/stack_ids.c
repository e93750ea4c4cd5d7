/* Keys of an object differ byte by byte; two of them may still be one UUID, and compute would claim
 * for both at once. */
#include "valet/api/stack/stack_ids.h"

#include "model/valet.h"

bool stack_ids_differ(const struct stack *stack, struct arena *arena, struct err *err)
{
    uint32_t size = 4;
    while (size < 2 * stack->server_count)
        size *= 2;
    /* open addressing: index + 1 of a server */
    uint32_t *slots = arena_zalloc(arena, size * sizeof(*slots));
    for (uint32_t i = 0; i < stack->server_count; i++) {
        struct slice id = stack->servers[i].orchestration_id;
        uint32_t slot = (uint32_t)valet_id_hash(id);
        for (; slots[slot & (size - 1)] != 0; slot++) {
            struct slice other = stack->servers[slots[slot & (size - 1)] - 1].orchestration_id;
            if (valet_id_equal(other, id))
                return err_set_join(err, 400, NULL, SLICE_LIT("Valet error: resource '"), id,
                                    SLICE_LIT("' is '"), other, SLICE_LIT("' in another form"));
        }
        slots[slot & (size - 1)] = i + 1;
    }
    return true;
}
