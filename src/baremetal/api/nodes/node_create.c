/* POST /v1/nodes (bare metal spec 8.3). The handler runs on a worker, the planner on the writer's
 * thread. */
#include "api/request_id.h"
#include "api/text/uuid_like.h"
#include "api/write.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/body_checks.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/nodes/node_body.h"
#include "baremetal/api/nodes/node_find.h"
#include "baremetal/api/nodes/node_outcome.h"
#include "baremetal/write/plan_nodes.h"
#include "base/arena.h"

enum { MINOR_OF_ENROLL = 11 }; /* before it, nodes were created available */

struct node_creation {
    struct node_draft draft;
    struct node_outcome outcome;
};

static bool node_create_plan_create(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    struct node_creation *state = request->state;
    const struct node *node;
    if (!plan_node_create(&state->draft, plan, &node, &write->err))
        return false;
    node_outcome_keep(&state->outcome, request, plan, node, false);
    return true;
}

static bool check_caller(struct api_request *request, const json_t *body, struct slice *owner)
{
    const json_t *given = json_object_get(body, "owner");
    struct slice wanted = {json_string_value(given), json_string_length(given)};
    struct access access = node_find_caller(request);
    return access_node_create(&access, wanted, owner, &request->err);
}

static bool check_name(struct api_request *request, const json_t *body)
{
    const json_t *name = json_object_get(body, "name");
    return ident_check_node_name(name, (struct slice){0}, &request->err);
}

static bool node_create_fill(struct api_request *request, const json_t *body, struct slice owner,
                             struct node_draft *draft)
{
    *draft = node_draft_new(0);
    if (!node_body_create(draft, body, request->arena, &request->err))
        return false;
    if (draft->value[NODE_UUID].text.data == NULL) {
        char *uuid = arena_alloc(request->arena, UUID_LIKE_LEN);
        uuid_generate_text(uuid);
        node_set_text(draft, NODE_UUID, (struct slice){uuid, UUID_LIKE_LEN});
    }
    if (owner.data != NULL)
        node_set_text(draft, NODE_OWNER, owner);
    if (request->minor < MINOR_OF_ENROLL)
        node_set_text(draft, NODE_PROVISION_STATE, SLICE_LIT("available"));
    return true;
}

enum api_step handle_baremetal_node_create(struct api_request *request)
{
    struct slice owner;
    if (!intake_no_query(request))
        return API_DONE;
    json_t *body = intake_body(request);
    if (body == NULL || !body_checks_node(body, "node", false, &request->err) ||
        !check_caller(request, body, &owner) ||
        !node_body_check_versions(body, request->minor, &request->err) ||
        !check_name(request, body))
        return API_DONE;
    struct node_creation *state = arena_zalloc(request->arena, sizeof(*state));
    if (!node_create_fill(request, body, owner, &state->draft))
        return API_DONE;
    request->state = state;
    request->write->plan = node_create_plan_create;
    return API_WRITE;
}

void finish_baremetal_node_create(struct api_request *request)
{
    const struct node_creation *state = request->state;
    if (err_is_set(&request->err))
        return;
    request->status = 201;
    node_outcome_locate(request, node_text(state->outcome.node, NODE_UUID), "");
    node_outcome_write(request, &state->outcome);
}
