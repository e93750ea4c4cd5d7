/* The one way in which a node's row is written, with what it means for Placement in the same change
 * list (baremetal-allocations spec, 13). */
#ifndef BERTH_BAREMETAL_WRITE_NODE_WRITE_H
#define BERTH_BAREMETAL_WRITE_NODE_WRITE_H

#include "engine/plan.h"
#include "model/node.h"
#include "model/node_allocation.h"

struct node_write {
    const struct node *before;              /* NULL: the node is new */
    struct node_draft *after;               /* NULL: the node goes */
    bool keeps_updated_at;                  /* a change that clients do not see as one */
    struct node_allocation_draft *takes;    /* becomes active with it, or NULL; its node_id and
                                               state are set already */
    const struct node_allocation *releases; /* the active one that goes with it, or NULL */
};

/* Appends the rows of the node and the allocations, and the changes of provider, inventory, traits
 * and consumer. *node (may be NULL) gets the node's new row, in the plan's arena. False: err is set
 * (409), nothing is appended. What was checked here is C1, C4, C5, C6 and C7's last sentence; who
 * may write what in which state the caller has checked. */
bool node_write(const struct node_write *write, const struct plan *plan, const struct node **node,
                struct err *err) BERTH_MUST_CHECK;

/* Makes Placement see what the node's row says, where it does not yet. */
bool node_write_mirror(int64_t id, const struct plan *plan, struct err *err) BERTH_MUST_CHECK;

#endif
