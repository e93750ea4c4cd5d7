/* Holds, the consumers that keep the capacity of placements (Valet spec, 8.2), in writes of
 * allocations. The writer only. */
#ifndef BERTH_VALET_WRITE_HOLDS_H
#define BERTH_VALET_WRITE_HOLDS_H

#include "engine/claim.h"
#include "engine/effects.h"

/* Returns the claims, followed by one for each hold to be dropped because its server is written: an
 * empty claim, so that the hold's room is available when capacity is checked. A hold that the
 * claims name themselves is emptied in their order. Without placements: the claims. `*count` grows.
 */
const struct claim *holds_add_drops(const struct claim *claims, size_t *count,
                                    const struct plan *plan);

/* Refuses (409) a claim that writes to a hold or creates one. A hold may be emptied by PUT and
 * POST, and moved within its trees by the reshaper. The first consumers of the set are those of the
 * claims as they were given. */
bool holds_guard(const struct claim_set *set) BERTH_MUST_CHECK;

/* The same for any request that is not Valet's own, by its effects. */
bool holds_check(const struct effects *effects, struct err *err) BERTH_MUST_CHECK;

#endif
