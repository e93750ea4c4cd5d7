/* One resource class over all slots: the largest amount that each provider can provide in one
 * request. */
#ifndef BERTH_REPLICA_COLUMN_H
#define BERTH_REPLICA_COLUMN_H

#include <stdint.h>

#include "base/cow.h"
#include "model/numbers.h"
#include "replica/slotset.h"

enum { CHUNK_SLOTS = 256, CHUNK_RUN = 64, CHUNK_RUNS = CHUNK_SLOTS / CHUNK_RUN };

/* Immutable once published. `most` has the maximum of each run, so that a search skips runs of full
 * hosts without reading them. */
struct column_chunk {
    struct cow_node node;
    int32_t most[CHUNK_RUNS];
    int32_t headroom[CHUNK_SLOTS];
};

struct column {
    struct cow_array chunks; /* of struct column_chunk; absent: all 0 */
    struct slotset holders;  /* the slots with any inventory of the class */
    struct slotset odd;      /* min_unit or step_size is not 1, so that headroom alone does not
                              * decide */
};

static inline const struct column_chunk *column_chunk_at(const struct column *column,
                                                         uint32_t chunk)
{
    return cow_array_leaf(&column->chunks, chunk);
}

static inline int32_t column_headroom(const struct column *column, struct slot_no slot)
{
    const struct column_chunk *chunk = column_chunk_at(column, slot.v / CHUNK_SLOTS);
    return chunk == NULL ? 0 : chunk->headroom[slot.v % CHUNK_SLOTS];
}

/* Sets a slot's headroom (model/capacity.h) and whether it is odd, and makes the slot a holder. A
 * call that changes nothing copies nothing. Here and below: the writer only, on a column of its
 * edit. */
void column_set(struct cow *cow, struct column *column, struct slot_no slot, int32_t headroom,
                bool odd);

/* Marks that the slot has no inventory of the class any more. */
void column_clear(struct cow *cow, struct column *column, struct slot_no slot);

/* Frees everything born at or after `birth` (cow_array_free). */
void column_free(struct column *column, uint64_t birth);

#endif
