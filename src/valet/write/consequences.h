/* Consequences of a request's changes for claims of groups, holds and last known locations (Valet
 * spec, 8.2 and 8.3), in the same transaction. The writer only. */
#ifndef BERTH_VALET_WRITE_CONSEQUENCES_H
#define BERTH_VALET_WRITE_CONSEQUENCES_H

#include "engine/effects.h"

struct consequences; /* between the planning of a request and its end, in the batch's arena */

/* Examines what a request affects while the plan's version is still the one before it. In the
 * batch's arena; NULL: without placements and claims there is nothing to examine. */
struct consequences *consequences_begin(const struct effects *effects, const struct plan *plan);

/* The same for everything in the version, after a foreign write; also drops the holds of those
 * placements. */
struct consequences *consequences_begin_all(const int64_t *placement_ids, size_t count,
                                            const struct plan *plan);

/* After the changes were applied, and the list is empty: appends the next consequences, to be
 * applied in turn. False: no more. */
bool consequences_next(struct consequences *consequences, const struct plan *plan);

#endif
