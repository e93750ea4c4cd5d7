/* The stages of the Placement API, as its door names them (api/door.h). */
#ifndef BERTH_PLACEMENT_API_STAGES_H
#define BERTH_PLACEMENT_API_STAGES_H

#include "api/request.h"
#include "policy/rules_placement.h"

/* The version document, which is for everybody. */
bool placement_is_root(const struct api_request *request);

/* By the words of noauth2; false sets err. */
bool placement_identify(struct api_request *request) BERTH_MUST_CHECK;

/* Microversion, route, content, policy; false sets err. */
bool placement_pass(struct api_request *request) BERTH_MUST_CHECK;

/* Checks a policy rule for the request, which is about `target`; false sets err (403). For handlers
 * that know the target themselves. */
bool placement_check_policy(struct api_request *request, enum policy_placement_rule rule,
                            const struct policy_target *target) BERTH_MUST_CHECK;

#endif
