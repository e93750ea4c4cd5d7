/* The caller's credentials, as the target of a policy check. */
#ifndef BERTH_POLICY_CALLER_H
#define BERTH_POLICY_CALLER_H

#include "policy/policy.h"

enum { POLICY_CALLER_ATTRIBUTES = 13 };

/* The target of a request to the service unless the request sets another. Placement: project_id and
 * user_id (RequestContext.can). The others: each of the caller's credentials that is a text, under
 * its name (ironic, check_policy). Returns their number. Pure. */
unsigned policy_caller_attributes(enum policy_service service, const struct identity *identity,
                                  struct policy_attribute out[POLICY_CALLER_ATTRIBUTES]);

#endif
