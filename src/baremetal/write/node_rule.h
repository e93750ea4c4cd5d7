/* The bare metal row in the table of rules (engine/rules.h): what the row of a node says of its
 * provider and its consumer, no request may make untrue (baremetal-allocations spec, C7). */
#ifndef BERTH_BAREMETAL_WRITE_NODE_RULE_H
#define BERTH_BAREMETAL_WRITE_NODE_RULE_H

#include "baremetal/write/metal.h"
#include "engine/rules.h"

/* Its context is the struct metal. */
extern const struct rule node_rule;

/* What the planners of nodes go by: the context of the rule; NULL: there are no nodes. */
const struct metal *plan_metal(const struct plan *plan);

#endif
