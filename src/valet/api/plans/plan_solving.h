/* The steps of a request that plans, from a stack to a commit (Valet spec, 9): after its handler
 * has described each server (plan_servers.h), the search on the pinned version, and the commit for
 * the writer (plan_making.h). Handlers on a worker or the slow lane; nothing of the version is
 * kept. */
#ifndef BERTH_VALET_API_PLANS_PLAN_SOLVING_H
#define BERTH_VALET_API_PLANS_PLAN_SOLVING_H

#include "valet/api/plans/plan_making.h"

/* Searches, and prepares the commit. API_DONE: err is set. */
enum api_step plan_solving_run(struct solving *solving);

/* The planner of a request whose state is a struct solved. */
bool plan_solving_commit(struct pipeline_request *write, const struct plan *plan);

/* After the write: 201 with the plan or the placement. */
void finish_valet_plan(struct api_request *request);

#endif
