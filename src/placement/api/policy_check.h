/* Whether a policy rule of the Placement API allows a request. */
#ifndef BERTH_PLACEMENT_API_POLICY_CHECK_H
#define BERTH_PLACEMENT_API_POLICY_CHECK_H

#include "api/request.h"
#include "policy/rules_placement.h"

/* Checks a policy rule for a request that concerns `target`; false sets err (403). For handlers
 * that determine the target themselves. */
bool placement_check_policy(struct api_request *request, enum policy_placement_rule rule,
                            const struct policy_target *target) BERTH_MUST_CHECK;

#endif
