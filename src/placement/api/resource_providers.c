/* POST /resource_providers; GET, PUT, DELETE /resource_providers/{uuid}. Handlers run on a worker,
 * planners on the writer's thread. */
#include "api/request_id.h"
#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "api/text/latin1.h"
#include "api/text/uuid_like.h"
#include "api/write.h"
#include "placement/api/handlers.h"
#include "placement/api/provider_json.h"
#include "placement/write/plan_providers.h"

struct provider_write {
    struct plan_provider_update wanted;
    struct planned_provider result;
};

static struct slice provider_path(const struct api_request *request, struct slice uuid)
{
    return arena_printf(request->arena, "%.*s/resource_providers/%.*s", SLICE_ARG(request->mount),
                        SLICE_ARG(uuid));
}

enum api_step handle_placement_provider_show(struct api_request *request)
{
    const struct provider *provider = version_provider_by_uuid(request->version, request->args[0]);
    if (provider == NULL) {
        plan_provider_find(request->version, latin1_text(request->arena, request->args[0]),
                           &request->err);
        return API_DONE;
    }
    provider_write_json(api_out(request), provider, request->version, request->minor,
                        request->mount);
    api_answer_json(request, provider->modified_at_us);
    return API_DONE;
}

static bool resource_providers_plan_create(struct pipeline_request *write, const struct plan *plan)
{
    struct provider_write *state = api_request_of(write)->state;
    return plan_provider_create(state->wanted.uuid, state->wanted.name, state->wanted.parent_uuid,
                                plan, &state->result, &write->err);
}

/* The uuid in lower case with hyphens, or a new one. */
static struct slice wanted_uuid(struct api_request *request, const json_t *given)
{
    char *text = arena_alloc(request->arena, UUID_LIKE_LEN);
    if (given == NULL)
        uuid_generate_text(text);
    else
        check(uuid_like_read(body_schema_text(given), text));
    return (struct slice){text, UUID_LIKE_LEN};
}

enum api_step handle_placement_provider_create(struct api_request *request)
{
    const struct schema *schema =
        request->minor >= 14 ? &SCHEMA_PROVIDER_CREATE_1_14 : &SCHEMA_PROVIDER_CREATE_1_0;
    json_t *body = body_schema_read(request, schema);
    if (body == NULL)
        return API_DONE;
    struct provider_write *state = arena_zalloc(request->arena, sizeof(*state));
    state->wanted.uuid = wanted_uuid(request, json_object_get(body, "uuid"));
    state->wanted.name = body_schema_text(json_object_get(body, "name"));
    state->wanted.parent_uuid = body_schema_text(json_object_get(body, "parent_provider_uuid"));
    request->state = state;
    request->write->plan = resource_providers_plan_create;
    return API_WRITE;
}

static void answer_provider(struct api_request *request, const struct planned_provider *provider)
{
    provider_write_planned_json(api_out(request), provider, request->minor, request->mount);
    api_answer_json(request, 0);
}

void finish_placement_provider_create(struct api_request *request)
{
    const struct provider_write *state = request->state;
    if (err_is_set(&request->err))
        return;
    request->location = provider_path(request, state->wanted.uuid);
    if (request->minor >= 20)
        answer_provider(request, &state->result);
    else
        api_answer_empty(request, 201);
}

static bool plan_update(struct pipeline_request *write, const struct plan *plan)
{
    struct provider_write *state = api_request_of(write)->state;
    return plan_provider_update(&state->wanted, plan, &state->result, &write->err);
}

/* A provider that becomes a root may join a claimed rack. */
static void see_generation(struct pipeline_request *write, const struct plan *plan)
{
    struct provider_write *state = api_request_of(write)->state;
    state->result.generation =
        version_provider_by_uuid(plan->version, state->wanted.uuid)->generation;
}

enum api_step handle_placement_provider_update(struct api_request *request)
{
    struct slice uuid = latin1_text(request->arena, request->args[0]);
    if (plan_provider_find(request->version, uuid, &request->err) == NULL)
        return API_DONE;
    const struct schema *schema =
        request->minor >= 14 ? &SCHEMA_PROVIDER_UPDATE_1_14 : &SCHEMA_PROVIDER_UPDATE_1_0;
    json_t *body = body_schema_read(request, schema);
    if (body == NULL)
        return API_DONE;
    const json_t *parent = json_object_get(body, "parent_provider_uuid");
    struct provider_write *state = arena_zalloc(request->arena, sizeof(*state));
    state->wanted = (struct plan_provider_update){
        .uuid = uuid,
        .name = body_schema_text(json_object_get(body, "name")),
        .has_parent = parent != NULL,
        .parent_uuid = body_schema_text(parent),
        .may_move = request->minor >= 37,
    };
    request->state = state;
    request->write->plan = plan_update;
    request->write->applied = see_generation;
    return API_WRITE;
}

void finish_placement_provider_update(struct api_request *request)
{
    const struct provider_write *state = request->state;
    if (!err_is_set(&request->err))
        answer_provider(request, &state->result);
}

static bool resource_providers_plan_delete(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    return plan_provider_delete(latin1_text(request->arena, request->args[0]), plan, &write->err);
}

enum api_step handle_placement_provider_delete(struct api_request *request)
{
    request->write->plan = resource_providers_plan_delete;
    return API_WRITE;
}
