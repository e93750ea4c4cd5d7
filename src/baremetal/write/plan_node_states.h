/* Plans PUT /v1/nodes/{ident}/states/provision and /states/power, and the ends of what they begin
 * (baremetal-allocations spec, 8.4 to 8.6 and 10). */
#ifndef BERTH_BAREMETAL_WRITE_PLAN_NODE_STATES_H
#define BERTH_BAREMETAL_WRITE_PLAN_NODE_STATES_H

#include "engine/plan.h"
#include "model/node.h"
#include "model/node_machine.h"

struct plan_node_verb {
    enum node_verb verb;
    struct slice clean_error; /* clean_steps has any: what comes of it; data == NULL: none */
};

/* Whether the state of the node lets the verb begin, before anything else is looked at: neither
 * maintenance nor the state forbids it; verb NULL: there is no such verb. 400, or 409 of a locked
 * node. */
bool plan_node_provision_check(const struct node *node, struct slice name,
                               const struct node_verb_name *verb, const struct plan *plan,
                               struct err *err) BERTH_MUST_CHECK;

/* Begins what the verb does, after that check; undeploying also releases instance and allocation.
 * The node is of the plan's version. */
bool plan_node_provision(const struct node *node, const struct plan_node_verb *verb,
                         const struct plan *plan, struct err *err) BERTH_MUST_CHECK;

/* `ident`: what the client called the node. verb NULL: `name` is none. */
bool plan_node_power(const struct node *node, struct slice ident, struct slice name,
                     const struct node_power_verb *verb, const struct plan *plan,
                     struct err *err) BERTH_MUST_CHECK;

/* The node's passing state or power operation is over: the next one, or the end. Nothing if it is
 * not due, or not this process's to end. */
bool plan_node_advance(int64_t id, const struct plan *plan, struct err *err) BERTH_MUST_CHECK;

/* The process that acted on the node is gone: its lock is dropped, and a passing state becomes the
 * failed one. Nothing if the row is not the one any more that was due at that time: somebody has
 * done so already, or the process has acted after all. */
bool plan_node_recover(int64_t id, int64_t due_us, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

#endif
