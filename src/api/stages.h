/* The stages that every request passes before its handler. */
#ifndef BERTH_API_STAGES_H
#define BERTH_API_STAGES_H

#include "api/request.h"

/* Fills the request (path, mount, identity, microversion, route, arguments) and checks it; false
 * with err set. */
bool stages_pass(struct api_request *request) BERTH_MUST_CHECK;

/* Checks a policy rule for the request, which is about `target`; false sets err (403). For handlers
 * that know the target themselves. */
bool stages_check_policy(struct api_request *request, enum policy_rule rule,
                         const struct policy_target *target) BERTH_MUST_CHECK;

#endif
