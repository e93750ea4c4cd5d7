/* GET and POST /resource_classes; GET, PUT, DELETE /resource_classes/{name}. */
#include "api/charge.h"
#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "api/text/latin1.h"
#include "api/write.h"
#include "base/json_write.h"
#include "placement/api/handlers.h"
#include "placement/api/provider_json.h"
#include "placement/write/plan_classes.h"
#include "query/budget.h"
#include "replica/catalog.h"

struct class_write {
    struct slice name;     /* after the write */
    struct slice old_name; /* for a rename */
    bool is_new;
};

static void write_class(struct buf *out, struct slice name, struct slice mount)
{
    buf_append_lit(out, "{\"name\": ");
    json_write_string(out, name);
    buf_append_lit(out, ", \"links\": [{\"rel\": \"self\", \"href\": \"");
    json_append_part(out, mount);
    buf_append_lit(out, "/resource_classes/");
    json_append_part(out, name);
    buf_append_lit(out, "\"}]}");
}

enum api_step handle_placement_classes_list(struct api_request *request)
{
    const struct catalog *catalog = &request->version->classes;
    struct buf *out = api_out(request);
    struct budget budget = api_budget(request);
    size_t counted = 0;
    int64_t modified_at_us = 0;
    bool is_first = true;
    buf_append_lit(out, "{\"resource_classes\": [");
    struct ptree_iter iter;
    for (ptree_seek(&catalog->by_id, 0, 0, &iter); ptree_iter_get(&iter) != NULL;
         ptree_iter_next(&iter)) {
        const struct catalog_row *row =
            catalog_row_at(catalog, (uint32_t)ptree_iter_get(&iter)->value);
        if (!is_first)
            buf_append_lit(out, ", ");
        is_first = false;
        write_class(out, catalog_name(row), request->mount);
        if (!api_charge_text(request, &budget, &counted))
            return api_start_over(request);
        if (catalog_modified_at_us(row) > modified_at_us)
            modified_at_us = catalog_modified_at_us(row);
    }
    buf_append_lit(out, "]}");
    api_answer_json(request, modified_at_us);
    return API_DONE;
}

enum api_step handle_placement_class_show(struct api_request *request)
{
    const struct catalog_row *row = catalog_find(&request->version->classes, request->args[0]);
    if (row == NULL) {
        err_set_join(&request->err, 404, NULL, SLICE_LIT("No such resource class "),
                     latin1_text(request->arena, request->args[0]), SLICE_LIT("."));
        return API_DONE;
    }
    write_class(api_out(request), catalog_name(row), request->mount);
    api_answer_json(request, catalog_modified_at_us(row));
    return API_DONE;
}

static void set_location(struct api_request *request, struct slice name)
{
    request->location = arena_printf(request->arena, "%.*s/resource_classes/%.*s",
                                     SLICE_ARG(request->mount), SLICE_ARG(name));
}

static struct class_write *resource_classes_begin(struct api_request *request, pipeline_plan *plan)
{
    struct class_write *state = arena_zalloc(request->arena, sizeof(*state));
    request->state = state;
    request->write->plan = plan;
    return state;
}

static bool resource_classes_plan_create(struct pipeline_request *write, const struct plan *plan)
{
    const struct class_write *state = api_request_of(write)->state;
    return plan_class_create(state->name, plan, &write->err);
}

enum api_step handle_placement_class_create(struct api_request *request)
{
    const json_t *body = body_schema_read(request, &SCHEMA_CLASS);
    if (body == NULL)
        return API_DONE;
    resource_classes_begin(request, resource_classes_plan_create)->name =
        body_schema_text(json_object_get(body, "name"));
    return API_WRITE;
}

void finish_placement_class_create(struct api_request *request)
{
    const struct class_write *state = request->state;
    if (err_is_set(&request->err))
        return;
    api_answer_empty(request, 201);
    set_location(request, state->name);
}

static bool plan_rename(struct pipeline_request *write, const struct plan *plan)
{
    const struct class_write *state = api_request_of(write)->state;
    return plan_class_rename(state->old_name, state->name, plan, &write->err);
}

enum api_step handle_placement_class_rename(struct api_request *request)
{
    const json_t *body = body_schema_read(request, &SCHEMA_CLASS);
    if (body == NULL)
        return API_DONE;
    struct class_write *state = resource_classes_begin(request, plan_rename);
    state->old_name = latin1_text(request->arena, request->args[0]);
    state->name = body_schema_text(json_object_get(body, "name"));
    return API_WRITE;
}

void finish_placement_class_rename(struct api_request *request)
{
    const struct class_write *state = request->state;
    if (err_is_set(&request->err))
        return;
    write_class(api_out(request), state->name, request->mount);
    request->has_body = true; /* so that no microversion has cache headers */
}

static bool plan_ensure(struct pipeline_request *write, const struct plan *plan)
{
    struct class_write *state = api_request_of(write)->state;
    return plan_class_ensure(state->name, plan, &state->is_new, &write->err);
}

/* The name in the path is validated as if it had been sent in a body. */
enum api_step handle_placement_class_ensure(struct api_request *request)
{
    struct slice name = latin1_text(request->arena, request->args[0]);
    request->body = json_pack("{s:s%}", "name", name.data, name.len);
    check(request->body != NULL);
    if (!body_schema_check(request->body, &SCHEMA_CLASS, &request->err))
        return API_DONE;
    resource_classes_begin(request, plan_ensure)->name = name;
    return API_WRITE;
}

void finish_placement_class_ensure(struct api_request *request)
{
    const struct class_write *state = request->state;
    if (err_is_set(&request->err))
        return;
    api_answer_empty(request, state->is_new ? 201 : 204);
    set_location(request, state->name);
}

static bool resource_classes_plan_delete(struct pipeline_request *write, const struct plan *plan)
{
    const struct class_write *state = api_request_of(write)->state;
    return plan_class_delete(state->name, plan, &write->err);
}

enum api_step handle_placement_class_delete(struct api_request *request)
{
    resource_classes_begin(request, resource_classes_plan_delete)->name =
        latin1_text(request->arena, request->args[0]);
    return API_WRITE;
}
