/* Checks the ids of servers that a request brings into a plan (Valet spec, 6.5 and 7.3). Handlers
 * on a worker or the slow lane, on the version that they see. */
#ifndef BERTH_VALET_API_PLANS_PLAN_IDS_H
#define BERTH_VALET_API_PLANS_PLAN_IDS_H

#include "valet/api/plans/plan_servers.h"

/* Whether no placement of any project, except those that are deleted, has an id of one of the
 * stack's new servers, as either kind of id. plan_servers_look has been called. False: 409. */
bool plan_ids_are_free(const struct solving *solving) BERTH_MUST_CHECK;

/* The same for the new resource_id of a placement; data == NULL: none. */
bool plan_ids_resource_is_free(struct api_request *request, const struct valet_placement *row,
                               struct slice id) BERTH_MUST_CHECK;

/* The new value of the plan's VALET_PLAN_ANY_PROJECT (plan NULL: new). */
bool plan_ids_any_project(const struct api_request *request, const struct valet_plan *plan,
                          bool brings_ids);

/* Whether the stack has servers that the plan has no placements for. */
bool plan_ids_are_brought(const struct solving *solving);

#endif
