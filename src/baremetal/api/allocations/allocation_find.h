/* Finds the allocation that a request names, if the caller may see it (baremetal-allocations
 * spec, 1.1, 1.2, 3.3 and 7). */
#ifndef BERTH_BAREMETAL_API_ALLOCATIONS_ALLOCATION_FIND_H
#define BERTH_BAREMETAL_API_ALLOCATIONS_ALLOCATION_FIND_H

#include "api/request.h"
#include "model/node_allocation.h"
#include "policy/rules_baremetal.h"

/* The allocation of that ident; NULL with err: 400 for a text that cannot be an ident, 404 for an
 * allocation that does not exist or that the caller may not see, 403 if the rule of the operation
 * fails. On a worker with a pinned version, or on the writer's thread with the newest. */
const struct node_allocation *allocation_find(struct api_request *request, struct slice ident,
                                              enum policy_baremetal_rule rule,
                                              const struct version *version, struct err *err);

/* The same for the allocation of the node with that ident. `unknown_status`: the status if the node
 * does not exist. */
const struct node_allocation *allocation_find_of_node(struct api_request *request,
                                                      struct slice ident, int unknown_status,
                                                      enum policy_baremetal_rule rule,
                                                      const struct version *version,
                                                      struct err *err);

#endif
