/* The only way to write a node's row, with the matching changes of Placement's tables in the same
 * list of changes (baremetal-allocations spec, 13). */
#ifndef BERTH_BAREMETAL_WRITE_NODE_WRITE_H
#define BERTH_BAREMETAL_WRITE_NODE_WRITE_H

#include "engine/plan.h"
#include "model/node.h"
#include "model/node_allocation.h"

struct node_write {
    const struct node *before; /* NULL: the node is new */
    struct node_draft *after;  /* NULL: the node is deleted */
    bool keeps_updated_at;     /* a change that is not shown to clients as an update */
    struct node_allocation_draft
        *takes; /* becomes active with it, or NULL; its node_id and state are set already */
    const struct node_allocation *releases; /* the active one that is deleted with it, or NULL */
};

/* Appends the rows of the node and the allocations, and the changes of provider, inventory, traits
 * and consumer. *node (may be NULL) is set to the node's new row, in the plan's arena. False: err
 * is set (409), nothing is appended. Checks C1, C4, C5, C6 and the last sentence of C7; the caller
 * has checked who may write what in which state. */
bool node_write(const struct node_write *write, const struct plan *plan, const struct node **node,
                struct err *err) BERTH_MUST_CHECK;

/* Makes Placement match the node's row, where it does not yet. */
bool node_write_mirror(int64_t id, const struct plan *plan, struct err *err) BERTH_MUST_CHECK;

#endif
