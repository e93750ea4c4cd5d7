/* What a turn's requests do, each on the newest version: the row may have changed since the turn
 * looked at it. Writer thread only. */
#include "write/conductor_internal.h"
#include "write/node_write.h"
#include "write/plan_node_allocations.h"
#include "write/plan_node_states.h"

bool conductor_plan(struct pipeline_request *request, const struct plan *plan)
{
    struct conductor_job *job = (struct conductor_job *)request;
    switch (job->work) {
    case WORK_ADVANCE:
        return plan_node_advance(job->id, plan, &request->err);
    case WORK_RECOVER:
        return plan_node_recover(job->id, plan, &request->err);
    case WORK_DECIDE:
        return plan_node_allocation_decide(job->id, &job->choice, &job->tries_again, plan,
                                           &request->err);
    case WORK_MIRROR:
        return node_write_mirror(job->id, plan, &request->err);
    }
    return true;
}
