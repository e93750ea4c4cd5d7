/* Shows plans of a version. */
#ifndef BERTH_VALET_API_PLANS_PLAN_SHOW_H
#define BERTH_VALET_API_PLANS_PLAN_SHOW_H

#include "api/request.h"
#include "query/budget.h"
#include "replica/valet.h"

/* Appends the plan with the current locations of its placements. False: the budget is exhausted. */
bool plan_write(struct buf *out, const struct version *version, const struct valet_plan *plan,
                struct budget *budget) BERTH_MUST_CHECK;

/* The same as the whole answer, {"plan": …}. */
bool plan_show(struct api_request *request, const struct valet_plan *plan,
               struct budget *budget) BERTH_MUST_CHECK;

#endif
