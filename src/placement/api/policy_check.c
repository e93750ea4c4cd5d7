/* The answer to a request that a policy rule refuses (placement spec, Errors). Worker threads. */
#include "placement/api/policy_check.h"

#include "api/api.h"
#include "placement/api/placement_request.h"

bool placement_check_policy(struct api_request *request, enum policy_placement_rule rule,
                            const struct policy_target *target)
{
    switch (policy_placement_check(request->api->policies, rule, &request->identity, target)) {
    case POLICY_ALLOWED:
        return true;
    case POLICY_DENIED_SCOPE:
        err_set(&request->err, 403, NULL, "%s", policy_placement_name(rule));
        break;
    case POLICY_DENIED:
        err_set(&request->err, 403, NULL, "Policy does not allow %s to be performed.",
                policy_placement_name(rule));
        break;
    }
    placement_own(request)->vary_shown = false;
    request->err.denied_by = policy_placement_name(rule);
    return false;
}
