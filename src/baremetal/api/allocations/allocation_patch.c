/* PATCH /v1/allocations/{ident} (baremetal-allocations spec, 3.4): on the newest row, so that
 * neither another patch nor the worker that looks for a node is overwritten. */
#include "api/write.h"
#include "baremetal/api/allocations/allocation_find.h"
#include "baremetal/api/allocations/allocation_json.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/body_checks.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/input/json_patch.h"
#include "baremetal/write/json_text.h"
#include "baremetal/write/plan_node_allocations.h"

static const char *const PATCHED[] = {"name", "extra", NULL};

static json_t *text_or_null(struct slice text)
{
    return text.data == NULL ? json_null() : json_stringn(text.data, text.len);
}

/* The row as a patch sees it: what it cannot change matters to nobody. */
static json_t *document_of(const struct node_allocation *row)
{
    json_error_t error;
    struct slice extra = node_allocation_text(row, NODE_ALLOCATION_EXTRA);
    json_t *object = json_loadb(extra.data, extra.len, JSON_ALLOW_NUL, &error);
    json_t *document = json_object();
    json_object_set_new(document, "name",
                        text_or_null(node_allocation_text(row, NODE_ALLOCATION_NAME)));
    json_object_set_new(document, "extra", object != NULL ? object : json_object());
    return document;
}

static bool check_names(const json_t *patch, struct err *err)
{
    size_t i;
    json_t *operation;
    json_array_foreach(patch, i, operation)
    {
        const json_t *name = json_patch_value(operation, "/name");
        if (name != NULL && !ident_check_allocation_name(name, true, err))
            return false;
    }
    return true;
}

/* Patch by patch it could grow without end. */
static bool dump_extra(const json_t *extra, struct arena *arena, struct slice *text,
                       struct err *err)
{
    *text = SLICE_LIT("{}");
    if (!json_is_object(extra))
        return true;
    *text = json_text(extra, arena);
    return text->len <= BODY_CHECKS_BYTES_MAX ||
           err_set(err, 400, NULL, "The extra of an allocation may not be larger than %d bytes.",
                   BODY_CHECKS_BYTES_MAX);
}

/* False sets err: the patch cannot be applied, or leaves something that cannot be. */
static bool apply(struct api_request *request, const struct node_allocation *row,
                  struct node_allocation_draft *draft, struct err *err)
{
    json_t *document = document_of(row);
    json_t *patched = json_patch_apply(document, request->body, err);
    struct slice extra;
    bool ok = patched != NULL && body_checks_allocation(patched, "patch", err) &&
              dump_extra(json_object_get(patched, "extra"), request->arena, &extra, err);
    if (ok) {
        const json_t *name = json_object_get(patched, "name");
        if (json_is_string(name) && json_string_length(name) > 0)
            node_allocation_set_text(
                draft, NODE_ALLOCATION_NAME,
                arena_copy(request->arena,
                           (struct slice){json_string_value(name), json_string_length(name)}));
        else
            node_allocation_set_null(draft, NODE_ALLOCATION_NAME);
        node_allocation_set_text(draft, NODE_ALLOCATION_EXTRA, extra);
    }
    json_decref(patched);
    json_decref(document);
    return ok;
}

static bool plan_patch(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    struct allocation_shown *shown = request->state;
    const struct node_allocation *row = allocation_find(
        request, request->args[0], POLICY_NODE_ALLOCATION_UPDATE, plan->version, &write->err);
    const struct node_allocation *after;
    if (row == NULL || !json_patch_check_fields(request->body, PATCHED, &write->err) ||
        !check_names(request->body, &write->err))
        return false;
    struct node_allocation_draft draft = node_allocation_draft_of(row);
    if (!apply(request, row, &draft, &write->err) ||
        !plan_node_allocation_update(row, &draft, plan, &after, &write->err))
        return false;
    *shown = allocation_shown_copy(plan->version, after, request->arena);
    return true;
}

enum api_step handle_baremetal_allocation_patch(struct api_request *request)
{
    static const char *const NAMES[] = {NULL};
    struct query_string query = query_string_parse(request->arena, request->query);
    if (!arguments_check_names(&query, NAMES, &request->err))
        return API_DONE;
    (void)intake_body(request);
    if (request->body == NULL || !json_patch_check(request->body, &request->err))
        return API_DONE;
    request->state = arena_zalloc(request->arena, sizeof(struct allocation_shown));
    request->write->plan = plan_patch;
    return API_WRITE;
}

void finish_baremetal_allocation_patch(struct api_request *request)
{
    if (!err_is_set(&request->err))
        allocation_answer(request, request->state);
}
