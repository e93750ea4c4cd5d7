/* PATCH /v1/allocations/{ident} (baremetal-allocations spec, 3.4). It is applied to the newest row,
 * so that it overwrites neither another patch nor the result of the search for a node. As with
 * nodes (nodes/node_patch.c), a large patch or a patch of a large row is applied by the handler,
 * and the planner takes the result if the row has not changed. */
#include "api/charge.h"
#include "api/write.h"
#include "baremetal/api/allocations/allocation_find.h"
#include "baremetal/api/allocations/allocation_json.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/body_checks.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/input/json_patch.h"
#include "baremetal/write/json_text.h"
#include "baremetal/write/plan_node_allocations.h"

enum {
    ON_WRITER_BYTES_MAX = 16 * 1024, /* row and patch together */
    STEPS_OF_A_BYTE = 16,            /* to parse, copy, patch and write */
};

struct allocation_patching {
    struct allocation_shown shown;
    size_t patch_bytes;
    const struct node_allocation *row;  /* the row that the handler patched; NULL: it did not */
    struct node_allocation_draft draft; /* the result, */
    struct err fault;                   /* or the error instead */
};

static const char *const PATCHED[] = {"name", "extra", NULL};

static json_t *text_or_null(struct slice text)
{
    return text.data == NULL ? json_null() : json_stringn(text.data, text.len);
}

/* The row as the document that is patched. Fields that a patch cannot change are omitted. */
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

/* Without this limit a row could grow with each patch. */
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

/* False sets err: the patch cannot be applied, or its result is invalid. */
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

static bool is_small(const struct allocation_patching *state, const struct node_allocation *row)
{
    return node_allocation_bytes(row) + state->patch_bytes <= ON_WRITER_BYTES_MAX;
}

static bool refuse_changed(struct slice ident, struct err *err)
{
    err_set_join(err, 409, NULL, SLICE_LIT("Allocation "), ident,
                 SLICE_LIT(" is being changed by other requests, please retry."));
    return err_of_kind(err, REFUSED_CHANGED);
}

/* The patched draft: the handler's, if the row has not changed. */
static bool take_draft(struct api_request *request, const struct node_allocation *row,
                       struct node_allocation_draft *draft, struct err *err)
{
    const struct allocation_patching *state = request->state;
    if (state->row != NULL && node_allocation_bytes(row) == node_allocation_bytes(state->row) &&
        memcmp(row, state->row, node_allocation_bytes(row)) == 0) {
        if (err_is_set(&state->fault)) {
            *err = state->fault;
            return false;
        }
        *draft = state->draft;
        return true;
    }
    if (!is_small(state, row))
        return refuse_changed(request->args[0], err);
    *draft = node_allocation_draft_of(row);
    return apply(request, row, draft, err);
}

static bool plan_patch(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    struct allocation_patching *state = request->state;
    const struct node_allocation *row = allocation_find(
        request, request->args[0], POLICY_NODE_ALLOCATION_UPDATE, plan->version, &write->err);
    const struct node_allocation *after;
    struct node_allocation_draft draft;
    if (row == NULL || !json_patch_check_fields(request->body, PATCHED, &write->err) ||
        !check_names(request->body, &write->err) ||
        !take_draft(request, row, &draft, &write->err) ||
        !plan_node_allocation_update(row, &draft, plan, &after, &write->err))
        return false;
    state->shown = allocation_shown_copy(plan->version, after, request->arena);
    return true;
}

/* Applies the patch if the row or the patch is large and the caller may do that. Errors in the
 * patch are kept for the planner, which reports them after the errors that come first. */
static enum api_step prepare(struct api_request *request, struct allocation_patching *state)
{
    struct err ignored = {.arena = request->arena};
    struct memory_share share;
    const struct node_allocation *row = allocation_find(
        request, request->args[0], POLICY_NODE_ALLOCATION_UPDATE, request->version, &ignored);
    state->row = NULL;
    if (row == NULL || is_small(state, row))
        return API_WRITE;
    size_t row_bytes = node_allocation_bytes(row);
    struct budget budget = api_budget(request);
    if (!budget_take(&budget, (int64_t)(row_bytes + state->patch_bytes) * STEPS_OF_A_BYTE))
        return api_over_budget(request);
    struct json_text_cost cost =
        json_text_cost(node_allocation_text(row, NODE_ALLOCATION_EXTRA), SIZE_MAX);
    if (!intake_memory(request, 2 * cost.bytes + state->patch_bytes, &share))
        return API_DONE;
    struct node_allocation *copy = arena_alloc(request->arena, row_bytes);
    memcpy(copy, row, row_bytes);
    state->draft = node_allocation_draft_of(copy);
    state->fault = (struct err){.arena = request->arena};
    if (json_patch_check_fields(request->body, PATCHED, &state->fault) &&
        check_names(request->body, &state->fault))
        (void)apply(request, copy, &state->draft, &state->fault);
    state->row = copy;
    memory_give_back(&share);
    return API_WRITE;
}

enum api_step handle_baremetal_allocation_patch(struct api_request *request)
{
    static const char *const NAMES[] = {NULL};
    if (request->state ==
        NULL) { /* else run again: on the slow lane, or after a change of the row */
        struct query_string query = query_string_parse(request->arena, request->query);
        if (!arguments_check_names(&query, NAMES, &request->err))
            return API_DONE;
        (void)intake_body(request);
        if (request->body == NULL || !json_patch_check(request->body, &request->err))
            return API_DONE;
        struct allocation_patching *state = arena_zalloc(request->arena, sizeof(*state));
        state->patch_bytes = request->http->body.len;
        request->state = state;
    }
    request->write->plan = plan_patch;
    return prepare(request, request->state);
}

void finish_baremetal_allocation_patch(struct api_request *request)
{
    const struct allocation_patching *state = request->state;
    if (!err_is_set(&request->err))
        allocation_answer(request, &state->shown);
}
