/* The two actions of PUT /v1/plans/{plan_id}, as its handler hands them on. */
#ifndef BERTH_VALET_API_PLANS_PLAN_UPDATE_H
#define BERTH_VALET_API_PLANS_PLAN_UPDATE_H

#include <jansson.h>

#include "api/request.h"
#include "replica/valet.h"

enum api_step plan_update(struct api_request *request, const struct valet_plan *plan,
                          const json_t *body);
enum api_step plan_migrate(struct api_request *request, const struct valet_plan *plan,
                           const json_t *body);

#endif
