/* Headroom columns. Invariant 4 of the architecture: headroom is the capacity rule applied to the
 * inventory, 0 for dead slots; `most` is exact. The writer changes chunks that its edit owns. */
#include "replica/column.h"

static void refresh_most(struct column_chunk *chunk, uint32_t run)
{
    int32_t most = 0;
    for (uint32_t i = run * CHUNK_RUN; i < (run + 1) * CHUNK_RUN; i++)
        if (chunk->headroom[i] > most)
            most = chunk->headroom[i];
    chunk->most[run] = most;
}

static void column_put(struct cow *cow, struct column *column, struct slot_no slot,
                       int32_t headroom)
{
    if (column_headroom(column, slot) == headroom)
        return;
    void **at = cow_array_own_leaf(cow, &column->chunks, slot.v / CHUNK_SLOTS);
    struct column_chunk *chunk =
        *at == NULL ? cow_new(cow, sizeof(*chunk)) : cow_own(cow, *at, sizeof(*chunk));
    *at = chunk;
    uint32_t offset = slot.v % CHUNK_SLOTS;
    uint32_t run = offset / CHUNK_RUN;
    int32_t before = chunk->headroom[offset];
    chunk->headroom[offset] = headroom;
    if (headroom >= chunk->most[run])
        chunk->most[run] = headroom;
    else if (before == chunk->most[run])
        refresh_most(chunk, run);
}

void column_set(struct cow *cow, struct column *column, struct slot_no slot, int32_t headroom,
                bool odd)
{
    column_put(cow, column, slot, headroom);
    slotset_add(cow, &column->holders, slot);
    if (odd)
        slotset_add(cow, &column->odd, slot);
    else
        slotset_remove(cow, &column->odd, slot);
}

void column_clear(struct cow *cow, struct column *column, struct slot_no slot)
{
    column_put(cow, column, slot, 0);
    slotset_remove(cow, &column->holders, slot);
    slotset_remove(cow, &column->odd, slot);
}

void column_free(struct column *column, uint64_t birth)
{
    cow_array_free(&column->chunks, birth, NULL, NULL);
    slotset_free(&column->holders, birth);
    slotset_free(&column->odd, birth);
}
