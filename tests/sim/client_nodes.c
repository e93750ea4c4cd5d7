/* Requests at the Bare Metal API, by the real planners. The oracle does not predict what the state
 * machine and the mirror make of them; they pass through the pipeline, the store and a follow like
 * every change, and meet foreign writers that respect nothing. One thread. */
#include "baremetal/write/plan_node_allocations.h"
#include "baremetal/write/plan_node_states.h"
#include "baremetal/write/plan_nodes.h"
#include "base/arena.h"
#include "clients.h"
#include "replica/nodes.h"

static bool plan_create(const struct client_request *request, const struct plan *plan,
                        struct err *err)
{
    const struct node *made;
    struct node_draft draft = node_draft_new(0);
    node_set_text(&draft, NODE_UUID, universe_node(request->node));
    node_set_text(&draft, NODE_NAME, universe_name(request->name));
    node_set_text(&draft, NODE_RESOURCE_CLASS, universe_metal(request->class));
    node_set_text(&draft, NODE_PROVISION_STATE,
                  request->is_busy ? SLICE_LIT("manageable") : SLICE_LIT("available"));
    node_set_text(&draft, NODE_POWER_STATE, SLICE_LIT("power on"));
    return plan_node_create(&draft, plan, &made, err);
}

static bool plan_verb(const struct client_request *request, const struct node *node,
                      const struct plan *plan, struct err *err)
{
    static const char *const verbs[] = {"manage", "provide", "active", "deleted", "rebuild"};
    struct slice name = slice_of(verbs[request->parent % 5]);
    const struct node_verb_name *known = node_verb_find(name);
    const struct plan_node_verb verb = {.verb = known->verb};
    return plan_node_provision_check(node, name, known, plan, err) &&
           plan_node_provision(node, &verb, plan, err);
}

static bool plan_change(const struct client_request *request, const struct node *node,
                        const struct plan *plan, struct err *err)
{
    const struct node *after;
    bool released;
    struct node_draft draft = node_draft_of(node);
    struct plan_node_update update = {
        .before = node, .after = &draft, .ident = universe_node(request->node)};
    node_set_text(&draft, NODE_NAME, universe_name(request->name));
    if (request->is_busy)
        node_set_text(&draft, NODE_RESOURCE_CLASS, universe_metal(request->class));
    if (request->is_allocated)
        node_set_null(&draft, NODE_INSTANCE_UUID);
    return plan_node_update_check(&update, plan, err) &&
           plan_node_update(&update, plan, &after, &released, err);
}

static bool plan_node(const struct client_request *request, const struct plan *plan,
                      struct err *err)
{
    const struct node *node = version_node_by_uuid(plan->version, universe_node(request->node));
    if (node == NULL)
        return err_set(err, 404, NULL, "no such node");
    switch (request->op) {
    case OP_NODE_DELETE:
        return plan_node_delete(node, plan, err);
    case OP_NODE_VERB:
        return plan_verb(request, node, plan, err);
    case OP_NODE_POWER:
        return plan_node_power(node, universe_node(request->node), SLICE_LIT("power on"),
                               node_power_verb_find(SLICE_LIT("power on")), plan, err);
    case OP_NODE_MAINTENANCE:
        return plan_node_maintenance(node, request->is_busy, (struct slice){0}, plan, err);
    default:
        return plan_change(request, node, plan, err);
    }
}

static bool plan_allocate(const struct client_request *request, const struct plan *plan,
                          struct err *err)
{
    struct planned_node_allocation planned;
    struct node_allocation_draft draft = node_allocation_draft_new(0);
    const struct plan_node_allocation input = {.draft = &draft, .has_uuid = true};
    node_allocation_set_text(&draft, NODE_ALLOCATION_UUID,
                             universe_node_allocation(request->other_node));
    node_allocation_set_text(&draft, NODE_ALLOCATION_RESOURCE_CLASS,
                             universe_metal(request->class));
    return plan_node_allocation_create(&input, plan, &planned, err);
}

static bool plan_release(const struct client_request *request, const struct plan *plan,
                         struct err *err)
{
    const struct node_allocation *allocation = version_node_allocation_by_uuid(
        plan->version, universe_node_allocation(request->other_node));
    if (allocation == NULL)
        return err_set(err, 404, NULL, "no such allocation");
    return plan_node_allocation_delete(allocation, plan, err);
}

bool client_plan_node(const struct client_request *request, const struct plan *plan,
                      struct err *err)
{
    switch (request->op) {
    case OP_NODE_CREATE:
        return plan_create(request, plan, err);
    case OP_NODE_ALLOCATE:
        return plan_allocate(request, plan, err);
    case OP_NODE_RELEASE:
        return plan_release(request, plan, err);
    default:
        return plan_node(request, plan, err);
    }
}
