/* A plan's placements are shown in the order of their creation. Any thread. */
#include "valet/api/plans/plan_show.h"

#include "api/charge.h"
#include "query/budget.h"
#include "valet/api/plans/plan_json.h"
#include "valet/state/placement_location.h"

enum { STEPS_OF_A_PLACEMENT = 100 }; /* of the query's budget */

bool plan_write(struct buf *out, const struct version *version, const struct valet_plan *plan,
                struct budget *budget)
{
    const struct valet_placement *at = NULL;
    plan_json_begin(out, plan);
    for (int64_t id = 0;
         (at = version_next_valet_placement_of(version, plan->record.id, id)) != NULL;
         id = at->record.id) {
        struct placement_view view = {.row = at, .location = placement_location(version, at)};
        if (!budget_take(budget, STEPS_OF_A_PLACEMENT))
            return false;
        plan_json_placement(out, &view, id == 0);
    }
    plan_json_end(out);
    return true;
}

bool plan_show(struct api_request *request, const struct valet_plan *plan, struct budget *budget)
{
    buf_append_lit(api_out(request), "{\"plan\": ");
    if (!plan_write(api_out(request), request->version, plan, budget))
        return false;
    buf_append_lit(api_out(request), "}");
    api_answer_json(request, 0);
    return true;
}
