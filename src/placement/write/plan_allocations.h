/* Plans PUT /allocations/{consumer}, POST /allocations and DELETE /allocations/{consumer}. */
#ifndef BERTH_PLACEMENT_WRITE_PLAN_ALLOCATIONS_H
#define BERTH_PLACEMENT_WRITE_PLAN_ALLOCATIONS_H

#include "engine/claim.h"

/* Replaces the allocations of the consumers of all claims, together or not at all. No consumer
 * occurs twice. CLAIM_BY_PUT: exactly one claim. */
bool plan_allocations(const struct claim *claims, size_t claim_count, enum claim_source source,
                      const struct plan *plan, struct err *err) BERTH_MUST_CHECK;

/* Deletes a consumer with everything it holds, whatever its generation; 404 if it holds nothing.
 * `shown`: the consumer as the message shows it. */
bool plan_allocations_delete(struct slice consumer, struct slice shown, const struct plan *plan,
                             struct err *err) BERTH_MUST_CHECK;

#endif
