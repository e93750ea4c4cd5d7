/* PUT and DELETE /v1/nodes/{ident}/maintenance (bare metal spec 8.3). Planners run on the writer's
 * thread. */
#include "api/write.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/nodes/action_bodies.h"
#include "baremetal/api/nodes/node_find.h"
#include "baremetal/write/plan_nodes.h"
#include "base/arena.h"

static bool node_maintenance_plan_set(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    const struct slice *reason = request->state;
    const struct node *node = node_find(request, plan->version, request->args[0],
                                        POLICY_NODE_SET_MAINTENANCE, &write->err);
    return node != NULL && plan_node_maintenance(node, true, *reason, plan, &write->err);
}

enum api_step handle_baremetal_node_maintenance_set(struct api_request *request)
{
    struct slice *reason = arena_zalloc(request->arena, sizeof(*reason));
    if (!intake_no_query(request))
        return API_DONE;
    const json_t *body = intake_body(request);
    if (body == NULL || !action_bodies_maintenance(body, reason, &request->err))
        return API_DONE;
    request->state = reason;
    request->write->plan = node_maintenance_plan_set;
    return API_WRITE;
}

static bool plan_clear(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    const struct node *node = node_find(request, plan->version, request->args[0],
                                        POLICY_NODE_CLEAR_MAINTENANCE, &write->err);
    return node != NULL && plan_node_maintenance(node, false, (struct slice){0}, plan, &write->err);
}

enum api_step handle_baremetal_node_maintenance_clear(struct api_request *request)
{
    if (!intake_no_query(request))
        return API_DONE;
    request->write->plan = plan_clear;
    return API_WRITE;
}

void finish_baremetal_node_maintenance(struct api_request *request)
{
    if (!err_is_set(&request->err))
        api_answer_empty(request, 202);
}
