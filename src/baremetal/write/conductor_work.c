/* What the requests of a pass do, each on the newest version: since the pass examined the row, it
 * may have changed or been replaced by another row with its id. The writer only. */
#include "baremetal/write/conductor_internal.h"
#include "baremetal/write/node_write.h"
#include "baremetal/write/plan_node_allocations.h"
#include "baremetal/write/plan_node_states.h"
#include "replica/nodes.h"

static bool decide(struct conductor_job *job, const struct plan *plan)
{
    const struct node_allocation *row = version_node_allocation(plan->version, job->id);
    if (row == NULL || node_allocation_time(row, NODE_ALLOCATION_DUE_AT) != job->due_us)
        return true;
    return plan_node_allocation_decide(job->id, &job->choice, &job->tries_again, plan,
                                       &job->request.err);
}

bool conductor_plan(struct pipeline_request *request, const struct plan *plan)
{
    struct conductor_job *job = (struct conductor_job *)request;
    switch (job->work) {
    case WORK_ADVANCE:
        return plan_node_advance(job->id, plan, &request->err);
    case WORK_RECOVER:
        return plan_node_recover(job->id, job->due_us, plan, &request->err);
    case WORK_DECIDE:
        return decide(job, plan);
    case WORK_MIRROR:
        return node_write_mirror(job->id, plan, &request->err);
    case WORK_PROVE:
        plan->said->must_commit = true;
        break;
    }
    return true;
}
