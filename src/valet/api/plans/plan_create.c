/* POST /v1/plans (Valet spec, 6.2, 6.5 and 6.6). On a worker or the slow lane, possibly several
 * times for one request. */
#include "api/charge.h"
#include "api/request.h"
#include "api/request_id.h"
#include "valet/api/handlers.h"
#include "valet/api/plans/plan_body.h"
#include "valet/api/plans/plan_find.h"
#include "valet/api/plans/plan_ids.h"
#include "valet/api/plans/plan_show.h"
#include "valet/api/plans/plan_solving.h"
#include "valet/api/stack/stack_body.h"
#include "valet/api/stack/stack_resolve.h"

struct creation {
    struct slice plan_name, stack_id;
    const json_t *resources, *locations;
    struct slice fingerprint;
};

static bool read_body(struct api_request *request, struct creation *creation)
{
    json_t *body = plan_body(request);
    if (body == NULL || !body_check(body, &BODY_PLAN_CREATE, &request->err))
        return false;
    creation->plan_name = body_text(body, "plan_name");
    creation->stack_id = body_text(body, "stack_id");
    creation->resources = json_object_get(body, "resources");
    creation->locations = json_object_get(body, "locations");
    return true;
}

static void take_fingerprint(struct creation *creation, struct arena *arena)
{
    char *text = arena_alloc(arena, STACK_FINGERPRINT_LEN);
    stack_fingerprint(creation->plan_name, creation->resources, creation->locations, text);
    creation->fingerprint = (struct slice){text, STACK_FINGERPRINT_LEN};
}

/* A repeated request gets the same answer again. */
static enum api_step answer_again(struct api_request *request, const struct valet_plan *plan)
{
    struct budget budget = api_budget(request);
    if (!plan_show(request, plan, &budget)) {
        api_out(request)->len = 0;
        return api_over_budget(request);
    }
    request->status = 201;
    return API_DONE;
}

static void answer_nothing(struct api_request *request)
{
    buf_append_lit(api_out(request), "{\"plan\": {}}");
    request->status = 201;
    api_answer_json(request, 0);
}

static enum api_step create(struct api_request *request, const struct creation *creation,
                            const struct stack *stack)
{
    struct solving solving = {
        .request = request,
        .name = creation->plan_name,
        .stack_id = creation->stack_id,
        .project = request->identity.project_id,
        .user = request->identity.user_id,
        .fingerprint = creation->fingerprint,
        .stack = *stack,
    };
    char *uuid = arena_alloc(request->arena, UUID_LEN);
    uuid_generate_text(uuid);
    solving.plan_uuid = (struct slice){uuid, UUID_LEN};
    solving.any_project = plan_ids_any_project(request, NULL, true);
    plan_servers_look(&solving);
    if (!plan_ids_are_free(&solving))
        return API_DONE;
    for (uint32_t i = 0; i < stack->server_count; i++)
        plan_servers_place(&solving, i);
    return plan_solving_run(&solving);
}

enum api_step handle_valet_plan_create(struct api_request *request)
{
    struct creation creation = {0};
    struct stack stack;
    struct slice project = request->identity.project_id;
    if (!read_body(request, &creation))
        return API_DONE;
    take_fingerprint(&creation, request->arena);
    const struct valet_plan *there =
        version_valet_plan_of_stack(request->version, project, creation.stack_id);
    if (there != NULL &&
        slice_equal(record_text(&there->record, VALET_PLAN_FINGERPRINT), creation.fingerprint))
        return answer_again(request, there);
    if (!plan_body_stack(request, creation.resources, creation.locations, &stack) ||
        !stack_resolve(&stack, request->version, project, 400, request->arena, &request->err))
        return API_DONE;
    /* checked before the answer that nothing is planned, which would be wrong for this stack */
    if (there != NULL) {
        err_set_join(&request->err, 409, NULL, SLICE_LIT("Valet error: stack '"), creation.stack_id,
                     SLICE_LIT("' has another plan"));
        return API_DONE;
    }
    if (stack.server_count > 0)
        return create(request, &creation, &stack);
    answer_nothing(request);
    return API_DONE;
}
