/* The bare metal row in the table of rules (engine/rules.h): no request may contradict what a
 * node's row says of its provider and its consumer (baremetal-allocations spec, C7). */
#ifndef BERTH_BAREMETAL_WRITE_NODE_RULE_H
#define BERTH_BAREMETAL_WRITE_NODE_RULE_H

#include "baremetal/write/metal.h"
#include "engine/rules.h"

/* Its context is the struct metal. */
extern const struct rule node_rule;

/* The settings for the planners of nodes: the context of the rule; NULL: there are no nodes. */
const struct metal *plan_metal(const struct plan *plan);

#endif
