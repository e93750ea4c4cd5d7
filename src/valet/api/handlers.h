/* The handlers of the Valet API's routes, as routes.c names them; struct api_route describes each
 * kind. The ids in the path have been found (ids.h) when a handler is called, on the version that
 * it sees. */
#ifndef BERTH_VALET_API_HANDLERS_H
#define BERTH_VALET_API_HANDLERS_H

#include "api/route.h"

/* root.c */
enum api_step handle_valet_versions_list(struct api_request *request);
enum api_step handle_valet_version_show(struct api_request *request);

/* groups.c */
enum api_step handle_valet_groups_list(struct api_request *request);
enum api_step handle_valet_group_show(struct api_request *request);
enum api_step handle_valet_group_create(struct api_request *request);
enum api_step handle_valet_group_update(struct api_request *request);
enum api_step handle_valet_group_delete(struct api_request *request);
void finish_valet_group(struct api_request *request); /* 201 with the view in request->state */
void finish_valet_empty(struct api_request *request); /* 204 */

/* members.c */
enum api_step handle_valet_members_add(struct api_request *request);
enum api_step handle_valet_members_delete(struct api_request *request);
enum api_step handle_valet_member_verify(struct api_request *request);
enum api_step handle_valet_member_delete(struct api_request *request);

/* status.c */
enum api_step handle_valet_status_show(struct api_request *request);

/* plans.c, plan_create.c, plan_update.c */
enum api_step handle_valet_plans_list(struct api_request *request);
enum api_step handle_valet_plan_create(struct api_request *request);
enum api_step handle_valet_plan_show(struct api_request *request);
enum api_step handle_valet_plan_update(struct api_request *request);
enum api_step handle_valet_plan_delete(struct api_request *request);

/* placements.c, reserve.c */
enum api_step handle_valet_placements_list(struct api_request *request);
enum api_step handle_valet_placement_show(struct api_request *request);
enum api_step handle_valet_placement_reserve(struct api_request *request);
enum api_step handle_valet_placement_delete(struct api_request *request);

/* plan_solving.c: 201 with the result in request->state */
void finish_valet_plan(struct api_request *request);

#endif
