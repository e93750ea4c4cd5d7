/* Rows of nodes and of their allocations in the simulation, written as they are wanted. They go the
 * way of every change: through the pipeline, the store, a follow. One thread. */
#include "base/arena.h"
#include "clients.h"
#include "model/node.h"
#include "model/node_allocation.h"
#include "replica/nodes.h"

static void plan_allocation(const struct client_request *request, const struct plan *plan,
                            int64_t node_id)
{
    struct slice uuid = universe_node_allocation(request->node);
    /* not by the node, which somebody else may have taken away from it */
    const struct node_allocation *before = version_node_allocation_by_uuid(plan->version, uuid);
    if (before != NULL && !request->is_allocated) {
        change_delete_node_allocation(plan->changes, before->record.id);
        return;
    }
    if (!request->is_allocated)
        return;
    struct node_allocation_draft draft = node_allocation_draft_new(
        before != NULL ? before->record.id : store_next_id(plan->store, STORE_NODE_ALLOCATIONS));
    node_allocation_set_text(&draft, NODE_ALLOCATION_UUID, uuid);
    node_allocation_set_node_id(&draft, node_id);
    if (request->is_busy)
        node_allocation_set_text(&draft, NODE_ALLOCATION_STATE, SLICE_LIT("active"));
    change_put_node_allocation(plan->changes, node_allocation_pack(&draft, plan->arena));
}

static bool plan_put(const struct client_request *request, const struct plan *plan, struct err *err)
{
    struct slice uuid = universe_node(request->node);
    struct slice name = universe_name(request->name);
    const struct node *before = version_node_by_uuid(plan->version, uuid);
    const struct node *namesake = version_node_by_name(plan->version, name);
    if (namesake != NULL && namesake != before)
        return err_set(err, 409, NULL, "the name is taken");
    int64_t id = before != NULL ? before->record.id : store_next_id(plan->store, STORE_NODES);
    struct node_draft draft = before != NULL ? node_draft_of(before) : node_draft_new(id);
    node_set_text(&draft, NODE_UUID, uuid);
    node_set_text(&draft, NODE_NAME, name);
    node_set_text(&draft, NODE_RESOURCE_CLASS, universe_class(request->class));
    node_set_text(&draft, NODE_POWER_STATE, SLICE_LIT("power on"));
    node_set_text(&draft, NODE_PROVISION_STATE,
                  request->is_busy ? SLICE_LIT("cleaning") : SLICE_LIT("available"));
    node_set_null(&draft, NODE_RESERVATION);
    if (request->is_busy)
        node_set_text(&draft, NODE_RESERVATION, SLICE_LIT("host"));
    node_set_null(&draft, NODE_INSTANCE_UUID);
    if (request->is_allocated)
        node_set_text(&draft, NODE_INSTANCE_UUID, universe_node_allocation(request->node));
    change_put_node(plan->changes, node_pack(&draft, plan->arena));
    plan_allocation(request, plan, id);
    return true;
}

static bool plan_delete(const struct client_request *request, const struct plan *plan,
                        struct err *err)
{
    const struct node *node = version_node_by_uuid(plan->version, universe_node(request->node));
    if (node == NULL)
        return err_set(err, 404, NULL, "no such node");
    const struct node_allocation *allocation =
        version_node_allocation_by_uuid(plan->version, universe_node_allocation(request->node));
    if (allocation != NULL)
        change_delete_node_allocation(plan->changes, allocation->record.id);
    change_delete_node(plan->changes, node->record.id);
    return true;
}

bool client_plan_node(const struct client_request *request, const struct plan *plan,
                      struct err *err)
{
    return request->op == OP_NODE_PUT ? plan_put(request, plan, err)
                                      : plan_delete(request, plan, err);
}
