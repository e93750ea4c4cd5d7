/* Plans the writes of bare metal allocations (baremetal-allocations spec, 3 to 6). Refusals have
 * Ironic's error texts. */
#ifndef BERTH_BAREMETAL_WRITE_PLAN_NODE_ALLOCATIONS_H
#define BERTH_BAREMETAL_WRITE_PLAN_NODE_ALLOCATIONS_H

#include "baremetal/write/node_choice.h"
#include "engine/plan.h"
#include "model/node.h"
#include "model/node_allocation.h"

struct plan_node_allocation {
    const struct node_allocation_draft
        *draft;              /* all but id, times, state, and what comes from the node */
    const struct node *node; /* of the plan's version, to be backfilled; or NULL */
    bool has_uuid;           /* false: a backfill takes the node's instance */
    bool has_class;          /* false: a backfill takes the node's */
};

struct planned_node_allocation {
    const struct node_allocation *allocation; /* as stored; in the plan's arena */
    /* A refused backfill is stored nevertheless, in state error; this is the answer after the
     * commit (5). status 0: nothing was refused. */
    int refused_status;
    struct slice refused_text; /* in the err's arena */
};

/* False: the name or uuid is in use (409), or the node is locked; nothing is stored. */
bool plan_node_allocation_create(const struct plan_node_allocation *input, const struct plan *plan,
                                 struct planned_node_allocation *result,
                                 struct err *err) BERTH_MUST_CHECK;

/* PATCH: writes the draft, which may differ only in name and extra. *result is the new row. */
bool plan_node_allocation_update(const struct node_allocation *before,
                                 struct node_allocation_draft *after, const struct plan *plan,
                                 const struct node_allocation **result,
                                 struct err *err) BERTH_MUST_CHECK;

/* Section 6.1. */
bool plan_node_allocation_delete(const struct node_allocation *allocation, const struct plan *plan,
                                 struct err *err) BERTH_MUST_CHECK;

/* Finds a node for an allocation that is still allocating and makes it active, or ends it in error
 * (section 4). *tries_again: only locked nodes were left, nothing is written, and the choice
 * remembers them. Does nothing if the allocation is deleted or decided already. */
bool plan_node_allocation_decide(int64_t id, struct node_choice *choice, bool *tries_again,
                                 const struct plan *plan, struct err *err) BERTH_MUST_CHECK;

#endif
