/* GET and PUT /resource_providers/{uuid}/aggregates. */
#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "api/text/latin1.h"
#include "api/write.h"
#include "base/json_write.h"
#include "placement/api/handlers.h"
#include "placement/write/plan_aggregates.h"
#include "placement/write/plan_providers.h"

enum { MINOR_WITH_GENERATION = 19 };

struct aggregates_write {
    struct plan_aggregates wanted;
    int64_t generation; /* after the write */
};

static void write_end(struct api_request *request, int64_t generation)
{
    struct buf *out = api_out(request);
    if (request->minor >= MINOR_WITH_GENERATION) {
        buf_append_lit(out, ", \"resource_provider_generation\": ");
        buf_append_int(out, generation);
    }
    buf_append_char(out, '}');
    api_answer_json(request, 0);
}

enum api_step handle_placement_aggregates_list(struct api_request *request)
{
    const struct provider *provider = plan_provider_find(
        request->version, latin1_text(request->arena, request->args[0]), &request->err);
    if (provider == NULL)
        return API_DONE;
    buf_append_lit(api_out(request), "{\"aggregates\": ");
    buf_append_slice(api_out(request), name_set_json(provider->aggregates));
    write_end(request, provider->generation);
    return API_DONE;
}

static bool aggregates_plan_set(struct pipeline_request *write, const struct plan *plan)
{
    struct aggregates_write *state = api_request_of(write)->state;
    return plan_aggregates_set(&state->wanted, plan, &state->generation, &write->err);
}

/* A claim by a group may have followed, which raises the generation once more. */
static void see_generation(struct pipeline_request *write, const struct plan *plan)
{
    struct aggregates_write *state = api_request_of(write)->state;
    state->generation =
        version_provider_by_uuid(plan->version, state->wanted.provider_uuid)->generation;
}

static struct slice *read_texts(struct api_request *request, const json_t *list)
{
    struct slice *texts = arena_array(request->arena, json_array_size(list), sizeof(*texts));
    for (size_t i = 0; i < json_array_size(list); i++)
        texts[i] = body_schema_text(json_array_get(list, i));
    return texts;
}

enum api_step handle_placement_aggregates_set(struct api_request *request)
{
    struct slice uuid = latin1_text(request->arena, request->args[0]);
    if (plan_provider_find(request->version, uuid, &request->err) == NULL)
        return API_DONE;
    bool has_generation = request->minor >= MINOR_WITH_GENERATION;
    const json_t *body = body_schema_read(request, has_generation ? &SCHEMA_AGGREGATES_1_19
                                                                  : &SCHEMA_AGGREGATES_1_1);
    if (body == NULL)
        return API_DONE;
    const json_t *list = has_generation ? json_object_get(body, "aggregates") : body;
    struct aggregates_write *state = arena_zalloc(request->arena, sizeof(*state));
    state->wanted = (struct plan_aggregates){
        .provider_uuid = uuid,
        .uuids = read_texts(request, list),
        .uuid_count = json_array_size(list),
        .has_generation = has_generation,
    };
    if (has_generation)
        state->wanted.generation =
            body_schema_integer(json_object_get(body, "resource_provider_generation"));
    request->state = state;
    request->write->plan = aggregates_plan_set;
    request->write->applied = see_generation;
    request->write->least_rows = state->wanted.uuid_count; /* a lower bound: that many are looked
                                                            * up */
    return API_WRITE;
}

/* Repeats the uuids in the order of the request. */
void finish_placement_aggregates_set(struct api_request *request)
{
    const struct aggregates_write *state = request->state;
    if (err_is_set(&request->err))
        return;
    struct buf *out = api_out(request);
    buf_append_lit(out, "{\"aggregates\": [");
    for (size_t i = 0; i < state->wanted.uuid_count; i++) {
        if (i > 0)
            buf_append_lit(out, ", ");
        json_write_string(out, state->wanted.uuids[i]);
    }
    buf_append_char(out, ']');
    write_end(request, state->generation);
}
