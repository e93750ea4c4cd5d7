/* /resource_providers/{uuid}/inventories and single inventories. Handlers run on a worker, planners
 * on the writer's thread. Answers to writes show what has been stored. */
#include "api/charge.h"
#include "api/schema/body_schema.h"
#include "api/schema/schema.h"
#include "api/schema/tables.h"
#include "api/text/latin1.h"
#include "api/write.h"
#include "base/buf.h"
#include "base/json_write.h"
#include "placement/api/allocation_handlers.h"
#include "placement/api/handlers.h"
#include "placement/api/placement_request.h"
#include "placement/write/plan_inventories.h"
#include "placement/write/plan_providers.h"

struct inventories_write {
    struct plan_inventories wanted;
    int64_t generation;       /* after the write */
    bool provider_is_missing; /* for DELETE of one inventory */
};

static void write_figures(struct buf *out, const struct inventory_figures *figures)
{
    buf_append_lit(out, "\"total\": ");
    buf_append_int(out, figures->total);
    buf_append_lit(out, ", \"reserved\": ");
    buf_append_int(out, figures->reserved);
    buf_append_lit(out, ", \"min_unit\": ");
    buf_append_int(out, figures->min_unit);
    buf_append_lit(out, ", \"max_unit\": ");
    buf_append_int(out, figures->max_unit);
    buf_append_lit(out, ", \"step_size\": ");
    buf_append_int(out, figures->step_size);
    buf_append_lit(out, ", \"allocation_ratio\": ");
    json_write_double(out, figures->allocation_ratio);
}

static void write_one(struct buf *out, const struct inventory_figures *figures, int64_t generation)
{
    buf_append_char(out, '{');
    write_figures(out, figures);
    if (generation != 0) { /* upstream omits a generation of 0 */
        buf_append_lit(out, ", \"resource_provider_generation\": ");
        buf_append_int(out, generation);
    }
    buf_append_char(out, '}');
}

static void write_all_begin(struct buf *out, int64_t generation)
{
    buf_append_lit(out, "{\"resource_provider_generation\": ");
    buf_append_int(out, generation);
    buf_append_lit(out, ", \"inventories\": {");
}

static void write_item(struct buf *out, bool is_first, struct slice class_name,
                       const struct inventory_figures *figures)
{
    if (!is_first)
        buf_append_lit(out, ", ");
    json_write_string(out, class_name);
    buf_append_lit(out, ": ");
    write_one(out, figures, 0);
}

/* A ratio with a fraction is formatted repeatedly until it reads back as the same value. */
static int64_t steps_of(const struct inventory_figures *figures)
{
    bool is_whole = figures->allocation_ratio == (double)(int64_t)figures->allocation_ratio;
    return is_whole ? 80 : 500;
}

/* The provider in the path, or NULL with the 404 for reads. */
static const struct provider *find_for_read(struct api_request *request)
{
    const struct provider *provider = version_provider_by_uuid(request->version, request->args[0]);
    if (provider == NULL) {
        struct slice uuid = latin1_text(request->arena, request->args[0]);
        err_set_join(&request->err, 404, NULL, SLICE_LIT("No resource provider with uuid "), uuid,
                     SLICE_LIT(" found : No resource provider with uuid "), uuid,
                     SLICE_LIT(" found"));
    }
    return provider;
}

enum api_step handle_placement_inventories_list(struct api_request *request)
{
    const struct provider *provider = find_for_read(request);
    if (provider == NULL)
        return API_DONE;
    struct buf *out = api_out(request);
    struct budget budget = api_budget(request);
    int64_t modified_at_us = 0;
    write_all_begin(out, provider->generation);
    for (uint32_t i = 0; i < provider->inventory_count; i++) {
        const struct provider_inventory *inventory = &provider->inventory[i];
        if (!budget_take(&budget, steps_of(&inventory->figures)))
            return api_start_over(request);
        write_item(out, i == 0,
                   catalog_name(catalog_row_at(&request->version->classes, inventory->class_no.v)),
                   &inventory->figures);
        if (inventory->modified_at_us > modified_at_us)
            modified_at_us = inventory->modified_at_us;
    }
    buf_append_lit(out, "}}");
    api_answer_json(request, modified_at_us);
    return API_DONE;
}

enum api_step handle_placement_inventory_show(struct api_request *request)
{
    const struct provider *provider = find_for_read(request);
    if (provider == NULL)
        return API_DONE;
    const struct catalog_row *row = catalog_find(&request->version->classes, request->args[1]);
    const struct provider_inventory *inventory =
        row == NULL ? NULL : provider_inventory_of(provider, (struct class_no){row->number});
    if (inventory == NULL) {
        err_set_join(&request->err, 404, NULL, SLICE_LIT("No inventory of class "),
                     latin1_text(request->arena, request->args[1]), SLICE_LIT(" for "),
                     request->args[0]);
        return API_DONE;
    }
    write_one(api_out(request), &inventory->figures, provider->generation);
    api_answer_json(request, inventory->modified_at_us);
    return API_DONE;
}

/* Reads a figure; false: it is present but is not a 32-bit integer. */
static bool read_int32(const json_t *item, const char *name, int32_t *value)
{
    const json_t *given = json_object_get(item, name);
    if (given == NULL)
        return true;
    if (!schema_is_type(given, SCHEMA_INTEGER))
        return false;
    int64_t number = body_schema_integer(given);
    *value = (int32_t)number;
    return number >= 0 && number <= INT32_MAX;
}

/* Items whose key is a class name have been validated; those under other keys may be anything. */
static struct plan_inventory read_item(struct slice class_name, const json_t *item)
{
    struct plan_inventory read = {
        .class_name = class_name,
        .figures = {.min_unit = 1, .max_unit = INT32_MAX, .step_size = 1, .allocation_ratio = 1.0},
    };
    struct inventory_figures *figures = &read.figures;
    const json_t *ratio = json_object_get(item, "allocation_ratio");
    if (ratio != NULL && json_is_number(ratio))
        figures->allocation_ratio = body_schema_number(ratio) + 0.0; /* SQLite does not distinguish
                                                                      * -0.0 */
    read.has_figures = json_object_get(item, "total") != NULL &&
                       read_int32(item, "total", &figures->total) &&
                       read_int32(item, "reserved", &figures->reserved) &&
                       read_int32(item, "min_unit", &figures->min_unit) &&
                       read_int32(item, "max_unit", &figures->max_unit) &&
                       read_int32(item, "step_size", &figures->step_size);
    return read;
}

static struct inventories_write *inventories_begin(struct api_request *request, pipeline_plan *plan)
{
    struct inventories_write *state = arena_zalloc(request->arena, sizeof(*state));
    state->wanted.provider_uuid = latin1_text(request->arena, request->args[0]);
    state->wanted.all_can_be_reserved = request->minor >= 26;
    request->state = state;
    request->write->plan = plan;
    return state;
}

/* Finds the provider and then validates the body, in that order. */
static json_t *read_body(struct api_request *request, const struct schema *schema)
{
    struct slice uuid = latin1_text(request->arena, request->args[0]);
    if (plan_provider_find(request->version, uuid, &request->err) == NULL)
        return NULL;
    return body_schema_read(request, schema);
}

static int64_t generation_in(const json_t *body)
{
    const json_t *generation = json_object_get(body, "resource_provider_generation");
    return generation == NULL ? 0 : body_schema_integer(generation);
}

static enum api_step write_single(struct api_request *request, pipeline_plan *plan,
                                  struct slice class_name)
{
    struct inventories_write *state = inventories_begin(request, plan);
    struct plan_inventory *item = arena_alloc(request->arena, sizeof(*item));
    *item = read_item(class_name, request->body);
    state->wanted.items = item;
    state->wanted.item_count = 1;
    state->wanted.generation = generation_in(request->body);
    return API_WRITE;
}

static bool inventories_plan_create(struct pipeline_request *write, const struct plan *plan)
{
    struct inventories_write *state = api_request_of(write)->state;
    return plan_inventory_create(&state->wanted, plan, &state->generation, &write->err);
}

enum api_step handle_placement_inventory_create(struct api_request *request)
{
    json_t *body = read_body(request, &SCHEMA_INVENTORY_CREATE);
    if (body == NULL)
        return API_DONE;
    return write_single(request, inventories_plan_create,
                        body_schema_text(json_object_get(body, "resource_class")));
}

void finish_placement_inventory_create(struct api_request *request)
{
    const struct inventories_write *state = request->state;
    if (err_is_set(&request->err))
        return;
    const struct plan_inventory *item = &state->wanted.items[0];
    write_one(api_out(request), &item->figures, state->generation);
    api_answer_json(request, 0);
    request->status = 201;
    request->location = arena_printf(
        request->arena, "%.*s/resource_providers/%.*s/inventories/%.*s", SLICE_ARG(request->mount),
        SLICE_ARG(state->wanted.provider_uuid), SLICE_ARG(item->class_name));
}

static bool plan_update(struct pipeline_request *write, const struct plan *plan)
{
    struct inventories_write *state = api_request_of(write)->state;
    return plan_inventory_update(&state->wanted, plan, &state->generation, &write->err);
}

enum api_step handle_placement_inventory_update(struct api_request *request)
{
    if (read_body(request, &SCHEMA_INVENTORY_UPDATE) == NULL)
        return API_DONE;
    return write_single(request, plan_update, latin1_text(request->arena, request->args[1]));
}

void finish_placement_inventory_update(struct api_request *request)
{
    const struct inventories_write *state = request->state;
    if (err_is_set(&request->err))
        return;
    write_one(api_out(request), &state->wanted.items[0].figures, state->generation);
    api_answer_json(request, 0);
}

static bool inventories_plan_set(struct pipeline_request *write, const struct plan *plan)
{
    struct inventories_write *state = api_request_of(write)->state;
    return plan_inventories_set(&state->wanted, plan, &state->generation, &write->err);
}

enum api_step handle_placement_inventories_set(struct api_request *request)
{
    json_t *body = read_body(request, &SCHEMA_INVENTORIES);
    if (body == NULL)
        return API_DONE;
    struct inventories_write *state = inventories_begin(request, inventories_plan_set);
    json_t *given = json_object_get(body, "inventories");
    struct plan_inventory *items =
        arena_array(request->arena, json_object_size(given), sizeof(*items));
    size_t count = 0;
    for (void *at = json_object_iter(given); at != NULL; at = json_object_iter_next(given, at))
        items[count++] =
            read_item((struct slice){json_object_iter_key(at), json_object_iter_key_len(at)},
                      json_object_iter_value(at));
    state->wanted.items = items;
    state->wanted.item_count = count;
    state->wanted.generation = generation_in(body);
    request->write->least_rows = count; /* a lower bound: that many are looked up */
    return API_WRITE;
}

void finish_placement_inventories_set(struct api_request *request)
{
    const struct inventories_write *state = request->state;
    if (err_is_set(&request->err))
        return;
    struct buf *out = api_out(request);
    write_all_begin(out, state->generation);
    for (size_t i = 0; i < state->wanted.item_count; i++)
        write_item(out, i == 0, state->wanted.items[i].class_name, &state->wanted.items[i].figures);
    buf_append_lit(out, "}}");
    api_answer_json(request, 0);
}

static bool plan_delete_one(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    struct inventories_write *state = request->state;
    struct slice uuid = state->wanted.provider_uuid;
    state->provider_is_missing = version_provider_by_uuid(plan->version, uuid) == NULL;
    return plan_inventory_delete(uuid, latin1_text(request->arena, request->args[1]), plan,
                                 &write->err);
}

enum api_step handle_placement_inventory_delete(struct api_request *request)
{
    inventories_begin(request, plan_delete_one);
    return API_WRITE;
}

void finish_placement_inventory_delete(struct api_request *request)
{
    const struct inventories_write *state = request->state;
    if (state->provider_is_missing)
        placement_own(request)->vary_shown = false; /* the other 404 of this route has vary */
    finish_placement_empty(request);
}

static bool plan_delete_all(struct pipeline_request *write, const struct plan *plan)
{
    struct inventories_write *state = api_request_of(write)->state;
    return plan_inventories_delete(state->wanted.provider_uuid, plan, &write->err);
}

enum api_step handle_placement_inventories_delete(struct api_request *request)
{
    inventories_begin(request, plan_delete_all);
    return API_WRITE;
}
