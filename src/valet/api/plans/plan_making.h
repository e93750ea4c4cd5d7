/* From what a search found to what the writer is handed. */
#ifndef BERTH_VALET_API_PLANS_PLAN_MAKING_H
#define BERTH_VALET_API_PLANS_PLAN_MAKING_H

#include "valet/api/plans/plan_solving.h"

/* In the request's arena, with nothing of the version in it. NULL: err has the 400, the plan is too
 * large. */
struct solved *plan_making_commit(const struct solving *solving,
                                  const struct solve_outcome *outcome);

/* A copy of the row. */
const void *plan_making_copy(const struct record *record, struct arena *arena);

#endif
