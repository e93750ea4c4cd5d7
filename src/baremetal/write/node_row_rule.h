/* The part of node_rule.c that starts from the rows of nodes and their allocations. */
#ifndef BERTH_BAREMETAL_WRITE_NODE_ROW_RULE_H
#define BERTH_BAREMETAL_WRITE_NODE_ROW_RULE_H

#include "baremetal/write/metal.h"
#include "base/err.h"
#include "engine/effects.h"

/* Whether Placement's tables, after the request, match the rows that it writes
 * (baremetal-allocations spec, C1 to C7). False: err is set (409). */
bool node_rows_check(const struct effects *effects, const struct metal *metal,
                     struct err *err) BERTH_MUST_CHECK;

/* 409: `what` named `name` belongs to the node. Always false. */
bool node_refuse_managed(struct err *err, struct slice what, struct slice name,
                         const struct node *node);

#endif
