/* Shared by the handlers of plan bodies. Any thread. */
#ifndef BERTH_VALET_API_PLANS_PLAN_BODY_H
#define BERTH_VALET_API_PLANS_PLAN_BODY_H

#include "model/stack.h"
#include "valet/api/body.h"
#include "valet/api/body_schemas.h"

/* The request's body, parsed at the first call. NULL: err has the 400. */
json_t *plan_body(struct api_request *request);

/* Reads the stack from `resources` and `locations` (NULL: none), with the current catalogue of
 * flavors. */
bool plan_body_stack(struct api_request *request, const json_t *resources, const json_t *locations,
                     struct stack *stack) BERTH_MUST_CHECK;

/* Reads a list of strings, which may be missing. */
bool plan_body_names(const json_t *body, const char *key, struct arena *arena,
                     struct stack_names *names, struct err *err) BERTH_MUST_CHECK;

#endif
