/* The ids of servers that a request brings into a plan: whose they are (Valet spec, 6.5 and 7.3).
 * Handlers on a worker or the slow lane, on the version that they see. */
#ifndef BERTH_VALET_API_PLANS_PLAN_IDS_H
#define BERTH_VALET_API_PLANS_PLAN_IDS_H

#include "valet/api/plans/plan_servers.h"

/* Whether no placement but those that go has what the stack's new servers are called, as whatever
 * kind of id, over all projects. The servers have been looked at. False: 409. */
bool plan_ids_are_free(const struct solving *solving) BERTH_MUST_CHECK;

/* The same of what a placement is to have as its resource_id; data == NULL: nothing. */
bool plan_ids_resource_is_free(struct api_request *request, const struct valet_placement *row,
                               struct slice id) BERTH_MUST_CHECK;

/* What VALET_PLAN_ANY_PROJECT of the plan (NULL: new) becomes. */
bool plan_ids_any_project(const struct api_request *request, const struct valet_plan *plan,
                          bool brings_ids);

/* Whether the stack has servers that the plan has no placement of. */
bool plan_ids_are_brought(const struct solving *solving);

#endif
