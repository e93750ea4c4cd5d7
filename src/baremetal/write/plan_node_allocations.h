/* Plans the writes of bare metal allocations (baremetal-allocations spec, 3 to 6). What a refusal
 * says are Ironic's words. */
#ifndef BERTH_BAREMETAL_WRITE_PLAN_NODE_ALLOCATIONS_H
#define BERTH_BAREMETAL_WRITE_PLAN_NODE_ALLOCATIONS_H

#include "baremetal/write/node_choice.h"
#include "engine/plan.h"
#include "model/node.h"
#include "model/node_allocation.h"

struct plan_node_allocation {
    const struct node_allocation_draft
        *draft;              /* all but id, instants, state, and what the node gives */
    const struct node *node; /* of the plan's version, to be backfilled; or NULL */
    bool has_uuid;           /* false: a backfilled one takes the node's instance */
    bool has_class;          /* false: a backfilled one takes the node's */
};

struct planned_node_allocation {
    const struct node_allocation *allocation; /* as stored; in the plan's arena */
    /* A refused backfill is stored all the same, in state error: what is to be answered after the
     * commit (5). status 0: nothing. */
    int refused_status;
    struct slice refused_text; /* in the err's arena */
};

/* False: name or uuid are in use (409), or the node is locked; nothing is stored. */
bool plan_node_allocation_create(const struct plan_node_allocation *input, const struct plan *plan,
                                 struct planned_node_allocation *result,
                                 struct err *err) BERTH_MUST_CHECK;

/* PATCH: the allocation as the draft has it, whose name and extra alone may differ. *result is the
 * row afterwards. */
bool plan_node_allocation_update(const struct node_allocation *before,
                                 struct node_allocation_draft *after, const struct plan *plan,
                                 const struct node_allocation **result,
                                 struct err *err) BERTH_MUST_CHECK;

/* Section 6.1. */
bool plan_node_allocation_delete(const struct node_allocation *allocation, const struct plan *plan,
                                 struct err *err) BERTH_MUST_CHECK;

/* Finds a node for an allocation that is still allocating and makes it active, or ends it in error
 * (section 4). *tries_again: only locked nodes were left, nothing is written, the choice remembers
 * them. Nothing if the allocation is gone or decided already. */
bool plan_node_allocation_decide(int64_t id, struct node_choice *choice, bool *tries_again,
                                 const struct plan *plan, struct err *err) BERTH_MUST_CHECK;

#endif
