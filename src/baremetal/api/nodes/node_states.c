/* GET /v1/nodes/{ident}/states, PUT …/states/provision and …/states/power (bare metal spec 8.3
 * to 8.6). Checks that depend on the node's state are made in the planner, on the newest row.
 * Planners run on the writer's thread. */
#include "api/write.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/api/nodes/action_bodies.h"
#include "baremetal/api/nodes/node_find.h"
#include "baremetal/api/nodes/node_json.h"
#include "baremetal/api/nodes/node_outcome.h"
#include "baremetal/write/conductor.h"
#include "baremetal/write/plan_node_states.h"

enum api_step handle_baremetal_node_states_show(struct api_request *request)
{
    if (!intake_no_query(request))
        return API_DONE;
    const struct node *node = node_find(request, request->version, request->args[0],
                                        POLICY_NODE_GET_STATES, &request->err);
    if (node == NULL)
        return API_DONE;
    struct buf *out = api_out(request);
    buf_append_char(out, '{');
    node_write_states(request, node, out);
    buf_append_char(out, '}');
    api_answer_json(request, 0);
    return API_DONE;
}

static bool plan_provision(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    const struct provision_body *body = request->state;
    struct err *err = &write->err;
    const struct node_verb_name *verb = node_verb_find(body->target);
    const struct node *node =
        node_find(request, plan->version, request->args[0], POLICY_NODE_SET_PROVISION_STATE, err);
    if (node == NULL)
        return false;
    if (verb != NULL && request->minor < verb->since)
        return err_set(err, 406, NULL, "Request not acceptable.");
    if (!plan_node_provision_check(node, body->target, verb, plan, err) ||
        !action_bodies_check_provision(body, verb->verb, request->minor, err))
        return false;
    struct plan_node_verb begun = {.verb = verb->verb};
    if (body->has_clean_steps)
        begun.clean_error =
            action_bodies_clean_error(err->arena, node_text(node, NODE_UUID), body->clean_steps);
    return plan_node_provision(node, &begun, plan, err);
}

enum api_step handle_baremetal_node_provision_set(struct api_request *request)
{
    struct provision_body *state = arena_zalloc(request->arena, sizeof(*state));
    if (!intake_no_query(request))
        return API_DONE;
    const json_t *body = intake_body(request);
    if (body == NULL || !action_bodies_provision(body, state, &request->err))
        return API_DONE;
    request->state = state;
    request->write->plan = plan_provision;
    return API_WRITE;
}

static bool plan_power(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    const struct power_body *body = request->state;
    const struct node *node = node_find(request, plan->version, request->args[0],
                                        POLICY_NODE_SET_POWER_STATE, &write->err);
    return node != NULL && action_bodies_check_power(body, request->minor, &write->err) &&
           plan_node_power(node, request->args[0], body->target, node_power_verb_find(body->target),
                           plan, &write->err);
}

enum api_step handle_baremetal_node_power_set(struct api_request *request)
{
    struct power_body *state = arena_zalloc(request->arena, sizeof(*state));
    if (!intake_no_query(request))
        return API_DONE;
    const json_t *body = intake_body(request);
    if (body == NULL || !action_bodies_power(body, state, &request->err))
        return API_DONE;
    request->state = state;
    request->write->plan = plan_power;
    return API_WRITE;
}

/* The action ends in the background. */
void finish_baremetal_node_action(struct api_request *request)
{
    if (err_is_set(&request->err))
        return;
    api_answer_empty(request, 202);
    node_outcome_locate(request, request->args[0], "/states");
    conductor_wake(metal_conductor(request));
}
