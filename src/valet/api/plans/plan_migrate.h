/* The action `migrate` of PUT /v1/plans/{plan_id}, called by the path's handler. */
#ifndef BERTH_VALET_API_PLANS_PLAN_MIGRATE_H
#define BERTH_VALET_API_PLANS_PLAN_MIGRATE_H

#include <jansson.h>

#include "api/request.h"
#include "replica/valet.h"

enum api_step plan_migrate(struct api_request *request, const struct valet_plan *plan,
                           const json_t *body);

#endif
