/* GET, PUT, DELETE /resource_providers/{uuid}/traits. */
#include "api/charge.h"
#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "api/text/latin1.h"
#include "api/write.h"
#include "base/json_write.h"
#include "placement/api/handlers.h"
#include "placement/write/plan_provider_traits.h"
#include "query/budget.h"

enum { STEPS_OF_A_TRAIT = 4 }; /* a trait's text is stored */

struct traits_write {
    struct plan_provider_traits wanted;
    struct planned_traits result;
};

static void write_end(struct api_request *request, int64_t generation, int64_t modified_at_us)
{
    struct buf *out = api_out(request);
    buf_append_lit(out, ", \"resource_provider_generation\": ");
    buf_append_int(out, generation);
    buf_append_char(out, '}');
    api_answer_json(request, modified_at_us);
}

enum api_step handle_placement_provider_traits_list(struct api_request *request)
{
    const struct provider *provider = version_provider_by_uuid(request->version, request->args[0]);
    if (provider == NULL) {
        struct slice uuid = latin1_text(request->arena, request->args[0]);
        err_set_join(&request->err, 404, NULL, SLICE_LIT("No resource provider with uuid "), uuid,
                     SLICE_LIT(" found: No resource provider with uuid "), uuid,
                     SLICE_LIT(" found"));
        return API_DONE;
    }
    struct budget budget = api_budget(request);
    if (!budget_take(&budget, STEPS_OF_A_TRAIT * (int64_t)provider->traits->count))
        return api_over_budget(request);
    int64_t modified_at_us = 0;
    for (uint32_t i = 0; i < provider->traits->count; i++) {
        const struct catalog_row *row =
            catalog_row_at(&request->version->traits, provider->traits->numbers[i]);
        int64_t at_us = catalog_modified_at_us(row);
        if (at_us > modified_at_us)
            modified_at_us = at_us;
    }
    buf_append_lit(api_out(request), "{\"traits\": ");
    buf_append_slice(api_out(request), name_set_json(provider->traits));
    write_end(request, provider->generation, modified_at_us);
    return API_DONE;
}

static bool provider_traits_plan_set(struct pipeline_request *write, const struct plan *plan)
{
    struct traits_write *state = api_request_of(write)->state;
    return plan_provider_traits_set(&state->wanted, plan, &state->result, &write->err);
}

/* A provider that has become a host again may have joined a claimed rack. */
static void see_generation(struct pipeline_request *write, const struct plan *plan)
{
    struct traits_write *state = api_request_of(write)->state;
    state->result.generation =
        version_provider_by_uuid(plan->version, state->wanted.provider_uuid)->generation;
}

static struct traits_write *provider_traits_begin(struct api_request *request)
{
    struct traits_write *state = arena_zalloc(request->arena, sizeof(*state));
    state->wanted.provider_uuid = latin1_text(request->arena, request->args[0]);
    request->state = state;
    request->write->plan = provider_traits_plan_set;
    request->write->applied = see_generation;
    return state;
}

/* The body is validated before the provider is looked up. */
enum api_step handle_placement_provider_traits_set(struct api_request *request)
{
    const json_t *body = body_schema_read(request, &SCHEMA_PROVIDER_TRAITS);
    if (body == NULL)
        return API_DONE;
    const json_t *list = json_object_get(body, "traits");
    size_t count = json_array_size(list);
    struct slice *names = arena_array(request->arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = body_schema_text(json_array_get(list, i));
    struct traits_write *state = provider_traits_begin(request);
    state->wanted.names = names;
    state->wanted.name_count = count;
    request->write->least_rows = count; /* a lower bound: that many are looked up */
    state->wanted.has_generation = true;
    state->wanted.generation =
        body_schema_integer(json_object_get(body, "resource_provider_generation"));
    return API_WRITE;
}

void finish_placement_provider_traits_set(struct api_request *request)
{
    const struct traits_write *state = request->state;
    if (err_is_set(&request->err))
        return;
    struct buf *out = api_out(request);
    buf_append_lit(out, "{\"traits\": [");
    for (size_t i = 0; i < state->result.count; i++) {
        if (i > 0)
            buf_append_lit(out, ", ");
        json_write_string(out, state->result.names[i]);
    }
    buf_append_char(out, ']');
    write_end(request, state->result.generation, state->result.modified_at_us);
}

enum api_step handle_placement_provider_traits_delete(struct api_request *request)
{
    provider_traits_begin(request);
    return API_WRITE;
}
