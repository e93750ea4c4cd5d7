/* Which allocation a request is about, if its caller may know of it (baremetal-allocations
 * spec, 1.1, 1.2, 3.3 and 7). */
#ifndef BERTH_BAREMETAL_API_ALLOCATIONS_ALLOCATION_FIND_H
#define BERTH_BAREMETAL_API_ALLOCATIONS_ALLOCATION_FIND_H

#include "api/request.h"
#include "model/node_allocation.h"
#include "policy/rules_baremetal.h"

/* The allocation of that ident; NULL with err: 400 for what is no ident, 404 for one that is not
 * there or not to be seen, 403 where the rule, which is about what is to be done, says no. On a
 * worker with a pinned version, or on the writer's thread with the newest. */
const struct node_allocation *allocation_find(struct api_request *request, struct slice ident,
                                              enum policy_baremetal_rule rule,
                                              const struct version *version, struct err *err);

/* The allocation of the node of that ident, in the same way. `unknown_status`: what a node that is
 * not there is answered with. */
const struct node_allocation *allocation_find_of_node(struct api_request *request,
                                                      struct slice ident, int unknown_status,
                                                      enum policy_baremetal_rule rule,
                                                      const struct version *version,
                                                      struct err *err);

#endif
