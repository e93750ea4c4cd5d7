/* Plans PUT /v1/nodes/{ident}/states/provision and /states/power, and the ends of those actions
 * (baremetal-allocations spec, 8.4 to 8.6 and 10). */
#ifndef BERTH_BAREMETAL_WRITE_PLAN_NODE_STATES_H
#define BERTH_BAREMETAL_WRITE_PLAN_NODE_STATES_H

#include "engine/plan.h"
#include "model/node.h"
#include "model/node_machine.h"

struct plan_node_verb {
    enum node_verb verb;
    struct slice clean_error; /* the error that non-empty clean_steps lead to; data == NULL: there
                                 are none */
};

/* Whether the node's state permits the verb, before anything else is checked: neither maintenance
 * nor the state forbids it; verb NULL: there is no such verb. 400, or 409 if the node is locked. */
bool plan_node_provision_check(const struct node *node, struct slice name,
                               const struct node_verb_name *verb, const struct plan *plan,
                               struct err *err) BERTH_MUST_CHECK;

/* Begins the verb's action, after that check; undeploying also releases instance and allocation.
 * The node is of the plan's version. */
bool plan_node_provision(const struct node *node, const struct plan_node_verb *verb,
                         const struct plan *plan, struct err *err) BERTH_MUST_CHECK;

/* `ident`: the client's name for the node. verb NULL: `name` is not a verb. */
bool plan_node_power(const struct node *node, struct slice ident, struct slice name,
                     const struct node_power_verb *verb, const struct plan *plan,
                     struct err *err) BERTH_MUST_CHECK;

/* The node's transient state or power operation has ended: writes the next state, or the final one.
 * Does nothing if it is not due, or belongs to another process. */
bool plan_node_advance(int64_t id, const struct plan *plan, struct err *err) BERTH_MUST_CHECK;

/* The process that handled the node has ended: removes its lock, and changes a transient state to
 * the failed one. Does nothing if the row is not the one that was due at that time any more,
 * because another process has already done so or the first one has acted after all. */
bool plan_node_recover(int64_t id, int64_t due_us, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

#endif
