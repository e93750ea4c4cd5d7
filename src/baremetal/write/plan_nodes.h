/* Plans the writes of bare metal nodes (baremetal-allocations spec, 8.3 and 8.6). Nodes that are
 * given are of the plan's version. What a refusal says are Ironic's words. */
#ifndef BERTH_BAREMETAL_WRITE_PLAN_NODES_H
#define BERTH_BAREMETAL_WRITE_PLAN_NODES_H

#include "engine/plan.h"
#include "model/node.h"

/* False: somebody is at work on the node (409, REFUSED_LOCKED). */
bool plan_node_is_unlocked(const struct node *node, const struct plan *plan,
                           struct err *err) BERTH_MUST_CHECK;

/* A new node; the draft has all but its id and instants. *result is in the plan's arena. */
bool plan_node_create(struct node_draft *draft, const struct plan *plan, const struct node **result,
                      struct err *err) BERTH_MUST_CHECK;

/* PATCH. */
struct plan_node_update {
    const struct node *before;
    struct node_draft *after;     /* the node as it is to be */
    struct slice ident;           /* what the client called it */
    bool only_removes_instance;   /* the patch does nothing else: allowed in maintenance always */
    bool sets_owner;              /* to whatever value */
    bool may_set_owner_of_active; /* the caller */
    bool knows_inspect_wait;      /* the version does, and nodes are not altered while inspecting */
};

/* Whether the node may be patched at all, before it is looked at how: `after` is not used. */
bool plan_node_update_check(const struct plan_node_update *update, const struct plan *plan,
                            struct err *err) BERTH_MUST_CHECK;

/* The rest, after that check. *result is in the plan's arena, or `before`; *released: the node's
 * allocation goes. */
bool plan_node_update(const struct plan_node_update *update, const struct plan *plan,
                      const struct node **result, bool *released, struct err *err) BERTH_MUST_CHECK;

bool plan_node_delete(const struct node *node, const struct plan *plan,
                      struct err *err) BERTH_MUST_CHECK;

/* reason: data == NULL: none. */
bool plan_node_maintenance(const struct node *node, bool is_on, struct slice reason,
                           const struct plan *plan, struct err *err) BERTH_MUST_CHECK;

/* The node's traits become those: words, sorted, each once. At most NODE_TRAITS_MAX. */
enum { NODE_TRAITS_MAX = 50 };
bool plan_node_traits(const struct node *node, struct slice traits, const struct plan *plan,
                      struct err *err) BERTH_MUST_CHECK;

#endif
