/* From the result of a search to the commit for the writer. */
#ifndef BERTH_VALET_API_PLANS_PLAN_MAKING_H
#define BERTH_VALET_API_PLANS_PLAN_MAKING_H

#include "valet/api/plans/plan_json.h"
#include "valet/api/plans/plan_servers.h"
#include "valet/write/plan_stacks.h"

/* The result kept in request->state once plan_solving_run has returned API_WRITE. */
struct solved {
    struct stack_commit commit;
    struct placement_view *views; /* one for each row of the commit; row NULL: it is deleted */
    struct slice answer; /* the uuid of the placement to be shown; data == NULL: the plan */
};

/* In the request's arena, independent of the version. NULL: err has the 400, the plan is too large.
 */
struct solved *plan_making_commit(const struct solving *solving,
                                  const struct solve_outcome *outcome);

/* A copy of the row. */
const void *plan_making_copy(const struct record *record, struct arena *arena);

#endif
