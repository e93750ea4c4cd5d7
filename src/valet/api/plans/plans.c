/* GET /v1/plans, GET and DELETE /v1/plans/{plan_id} (Valet spec, 6.7 and 6.9). Handlers run on a
 * worker or the slow lane, planners on the writer's thread. */
#include "api/charge.h"
#include "api/write.h"
#include "base/arena.h"
#include "query/budget.h"
#include "valet/api/handlers.h"
#include "valet/api/ids.h"
#include "valet/api/plans/plan_find.h"
#include "valet/api/plans/plan_show.h"
#include "valet/write/plan_stacks.h"

enum { STEPS_OF_A_PLAN = 40 }; /* of the query's budget */

static bool write_plans(struct api_request *request)
{
    struct buf *out = api_out(request);
    struct valet_caller caller = valet_caller_of(request);
    struct budget budget = api_budget(request);
    const struct valet_plan *plan = NULL;
    bool is_first = true;
    for (int64_t id = 0; (plan = version_next_valet_plan(request->version, id)) != NULL;
         id = plan->record.id) {
        if (!budget_take(&budget, STEPS_OF_A_PLAN))
            return false;
        if (!plan_is_seen(&caller, plan))
            continue;
        if (!is_first)
            buf_append_lit(out, ", ");
        is_first = false;
        if (!plan_write(out, request->version, plan, &budget))
            return false;
    }
    return true;
}

static enum api_step start_again(struct api_request *request)
{
    api_out(request)->len = 0;
    return api_over_budget(request);
}

enum api_step handle_valet_plans_list(struct api_request *request)
{
    buf_append_lit(api_out(request), "{\"plans\": [");
    if (!write_plans(request))
        return start_again(request);
    buf_append_lit(api_out(request), "]}");
    api_answer_json(request, 0);
    return API_DONE;
}

enum api_step handle_valet_plan_show(struct api_request *request)
{
    const struct valet_plan *plan = ids_plan(request);
    struct budget budget = api_budget(request);
    if (plan == NULL)
        return API_DONE;
    return plan_show(request, plan, &budget) ? API_DONE : start_again(request);
}

static bool plans_plan_delete(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    const struct valet_plan *row =
        plan_find(plan->version, request->state, request->args[0], &write->err);
    if (row == NULL)
        return false;
    plan_stack_delete(row, plan);
    return true;
}

enum api_step handle_valet_plan_delete(struct api_request *request)
{
    if (ids_plan(request) == NULL)
        return API_DONE;
    struct valet_caller *caller = arena_alloc(request->arena, sizeof(*caller));
    *caller = valet_caller_of(request);
    request->state = caller;
    request->write->plan = plans_plan_delete;
    return API_WRITE;
}
