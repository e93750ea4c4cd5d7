/* Plans the writes of bare metal nodes (baremetal-allocations spec, 8.3 and 8.6). Nodes that are
 * passed in are of the plan's version. Refusals have Ironic's error texts. */
#ifndef BERTH_BAREMETAL_WRITE_PLAN_NODES_H
#define BERTH_BAREMETAL_WRITE_PLAN_NODES_H

#include "engine/plan.h"
#include "model/node.h"

/* False: the node is locked (409, REFUSED_LOCKED). */
bool plan_node_is_unlocked(const struct node *node, const struct plan *plan,
                           struct err *err) BERTH_MUST_CHECK;

/* Creates a node; the draft has all but its id and times. *result is in the plan's arena. */
bool plan_node_create(struct node_draft *draft, const struct plan *plan, const struct node **result,
                      struct err *err) BERTH_MUST_CHECK;

/* PATCH. */
struct plan_node_update {
    const struct node *before;
    struct node_draft *after;     /* the node as it is to become */
    struct slice ident;           /* the client's name for it */
    bool only_removes_instance;   /* the patch does nothing else: always allowed in maintenance */
    bool sets_owner;              /* to any value */
    bool may_set_owner_of_active; /* the caller's right */
    bool knows_inspect_wait; /* the version does, and nodes cannot be changed while inspecting */
};

/* Whether the node may be patched at all, before the patch is examined: `after` is not used. */
bool plan_node_update_check(const struct plan_node_update *update, const struct plan *plan,
                            struct err *err) BERTH_MUST_CHECK;

/* Writes the patch, after that check. *result is in the plan's arena, or `before`; *released: the
 * node's allocation is deleted. */
bool plan_node_update(const struct plan_node_update *update, const struct plan *plan,
                      const struct node **result, bool *released, struct err *err) BERTH_MUST_CHECK;

bool plan_node_delete(const struct node *node, const struct plan *plan,
                      struct err *err) BERTH_MUST_CHECK;

/* reason: data == NULL: none. */
bool plan_node_maintenance(const struct node *node, bool is_on, struct slice reason,
                           const struct plan *plan, struct err *err) BERTH_MUST_CHECK;

/* Replaces the node's traits: words, sorted, each once. At most NODE_TRAITS_MAX. */
enum { NODE_TRAITS_MAX = 50 };
bool plan_node_traits(const struct node *node, struct slice traits, const struct plan *plan,
                      struct err *err) BERTH_MUST_CHECK;

#endif
