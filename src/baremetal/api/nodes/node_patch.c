/* PATCH and DELETE /v1/nodes/{ident} (bare metal spec 8.3). Everything that depends on the node is
 * decided in the planner, on the newest row, so that no change is lost between reading and writing.
 * Planners run on the writer's thread.
 *
 * A node can have megabytes of JSON, which would keep the writer busy for hundreds of milliseconds.
 * Therefore a patch of a large node, or a large patch, is applied by the handler, on a worker or
 * the slow lane. The planner takes the result if the row is still the one that was patched;
 * otherwise the handler runs again. */
#include "api/charge.h"
#include "api/write.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/arguments.h"
#include "baremetal/api/input/body_checks.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/input/json_patch.h"
#include "baremetal/api/nodes/node_body.h"
#include "baremetal/api/nodes/node_find.h"
#include "baremetal/api/nodes/node_outcome.h"
#include "baremetal/write/plan_nodes.h"
#include "base/arena.h"

enum {
    MINOR_OF_INSPECT_WAIT = 39,
    MINOR_OF_RESET_INTERFACES = 45,
    STEPS_OF_A_BYTE = 16, /* to parse, copy, patch and write */
};

/* Row and patch together: this much the writer's thread parses and patches in a few milliseconds.
 */
enum { ON_WRITER_BYTES_MAX = 16 * 1024 };

struct node_patching {
    const json_t *patch;
    size_t patch_bytes;
    bool needed[NODE_FIELD_COUNT];     /* objects that the patch needs */
    const struct node *row;            /* the row that the handler patched; NULL: it did not */
    struct node_draft draft;           /* the result, */
    struct err fault;                  /* or the error instead */
    enum policy_baremetal_rule *rules; /* required by the operations */
    struct node_outcome outcome;
};

static const char *const PATCHABLE[] = {"automated_clean",
                                        "bios_interface",
                                        "boot_interface",
                                        "chassis_uuid",
                                        "conductor_group",
                                        "console_interface",
                                        "deploy_interface",
                                        "description",
                                        "driver",
                                        "driver_info",
                                        "extra",
                                        "inspect_interface",
                                        "instance_info",
                                        "instance_uuid",
                                        "lessee",
                                        "maintenance",
                                        "management_interface",
                                        "name",
                                        "network_data",
                                        "network_interface",
                                        "owner",
                                        "power_interface",
                                        "properties",
                                        "protected",
                                        "protected_reason",
                                        "raid_interface",
                                        "rescue_interface",
                                        "resource_class",
                                        "retired",
                                        "retired_reason",
                                        "shard",
                                        "storage_interface",
                                        "vendor_interface",
                                        NULL};

static struct slice member_text(const json_t *operation, const char *name)
{
    const json_t *value = json_object_get(operation, name);
    return (struct slice){json_string_value(value), json_string_length(value)};
}

/* Whether the operation gives exactly that field a value. */
static bool sets(const json_t *operation, const char *field)
{
    struct slice path = member_text(operation, "path");
    return !slice_equal(member_text(operation, "op"), SLICE_LIT("remove")) && path.len > 0 &&
           slice_equal(slice_skip(path, 1), slice_of(field));
}

static bool any_sets(const json_t *patch, const char *field)
{
    for (size_t i = 0; i < json_array_size(patch); i++)
        if (sets(json_array_get(patch, i), field))
            return true;
    return false;
}

static bool check_versions(struct api_request *request, const json_t *patch)
{
    for (unsigned i = 0; i < NODE_FIELD_COUNT; i++)
        if (request->minor < NODE_SHAPE.fields[i].since &&
            any_sets(patch, NODE_SHAPE.fields[i].name))
            return err_set(&request->err, 406, NULL, "Request not acceptable.");
    return true;
}

static bool read_reset(struct api_request *request, bool *is_given, bool *resets)
{
    static const char *const NAMES[] = {"reset_interfaces", NULL};
    struct query_string query;
    if (!intake_query(request, NAMES, &query))
        return false;
    struct argument argument = argument_find(request->arena, &query, "reset_interfaces");
    *is_given = argument.is_there;
    return argument_boolean(&argument, resets, &request->err);
}

/* There is one driver, so its interfaces never need to be reset; but clients may request it. */
static bool check_reset(struct api_request *request, const json_t *patch, bool is_given,
                        bool resets)
{
    if (is_given && request->minor < MINOR_OF_RESET_INTERFACES)
        return err_set(&request->err, 406, NULL, "Request not acceptable.");
    if (!json_patch_check_fields(patch, PATCHABLE, &request->err) ||
        !check_versions(request, patch))
        return false;
    return !resets || any_sets(patch, "driver") ||
           err_set(&request->err, 400, NULL,
                   "The reset_interfaces parameter can only be used when changing the node's "
                   "driver.");
}

static bool check_descriptions(const json_t *patch, struct err *err)
{
    for (size_t i = 0; i < json_array_size(patch); i++) {
        const json_t *value = json_patch_value(json_array_get(patch, i), "/description");
        struct slice text = {json_string_value(value), json_string_length(value)};
        size_t chars = 0;
        for (size_t at = 0; at < text.len; at++)
            chars += ((unsigned char)text.data[at] & 0xc0) != 0x80;
        if (chars > NODE_SHAPE.fields[NODE_DESCRIPTION].max_chars)
            return err_set(err, 400, NULL,
                           "Cannot update node with description exceeding %u characters",
                           NODE_SHAPE.fields[NODE_DESCRIPTION].max_chars);
    }
    return true;
}

static bool is_false(const json_t *value)
{
    bool is_true;
    struct slice text = {json_string_value(value), json_string_length(value)};
    return json_is_false(value) ||
           (json_is_string(value) && argument_read_boolean(text, &is_true) && !is_true);
}

static enum policy_baremetal_rule *rules_of(const json_t *patch, struct arena *arena)
{
    size_t count = json_array_size(patch);
    enum policy_baremetal_rule *rules = arena_array(arena, count + 1, sizeof(*rules));
    for (size_t i = 0; i < count; i++) {
        const json_t *operation = json_array_get(patch, i);
        rules[i] = access_rule_of_patch(member_text(operation, "path"),
                                        is_false(json_object_get(operation, "value")));
    }
    return rules;
}

/* The node, if the caller may apply all operations to it. */
static const struct node *node_patch_find(struct api_request *request,
                                          const struct version *version, struct access *access,
                                          struct err *err)
{
    struct node_patching *state = request->state;
    const struct node *node = node_find_visible(request, version, request->args[0], access, err);
    if (node == NULL)
        return NULL;
    struct access_node whose = node_find_whose(node);
    switch (access_node_patch(access, &whose, state->rules, (unsigned)json_array_size(state->patch),
                              err)) {
    case ACCESS_ALLOWED:
        return node;
    case ACCESS_HIDDEN:
        return node_find_refuse(request->args[0], err);
    case ACCESS_REFUSED:
        break;
    }
    return NULL;
}

/* Names are removed with the operation remove; null is not a valid name. */
static bool check_names(const json_t *patch, struct slice ident, struct err *err)
{
    for (size_t i = 0; i < json_array_size(patch); i++) {
        const json_t *name = json_patch_value(json_array_get(patch, i), "/name");
        if (name != NULL && json_is_null(name))
            return err_set(err, 400, NULL, "Node %.*s: Cannot change name to invalid name 'None'",
                           SLICE_ARG(ident));
        if (!ident_check_node_name(name, ident, err))
            return false;
    }
    return true;
}

/* Afterwards the draft has the result of the patch; its texts are the node's, or in the arena. */
static bool apply(const struct node_patching *state, const struct node *node,
                  struct node_draft *draft, struct arena *arena, struct err *err)
{
    json_t *before = node_body_of(node, state->needed);
    json_t *after = json_patch_apply(before, state->patch, err);
    bool good = after != NULL && body_checks_node(after, "patch", true, err) &&
                node_body_patch(draft, before, after, arena, err);
    json_decref(after);
    json_decref(before);
    return good;
}

static bool is_small(const struct node_patching *state, const struct node *node)
{
    return node_bytes(node) + state->patch_bytes <= ON_WRITER_BYTES_MAX;
}

static bool refuse_changed(struct slice ident, struct err *err)
{
    err_set_join(err, 409, NULL, SLICE_LIT("Node "), ident,
                 SLICE_LIT(" is being changed by other requests, please retry."));
    return err_of_kind(err, REFUSED_CHANGED);
}

/* The patched draft: the handler's, if the row has not changed. */
static bool take_draft(const struct node_patching *state, const struct node *node,
                       struct slice ident, struct node_draft *draft, const struct plan *plan,
                       struct err *err)
{
    if (state->row != NULL && node_bytes(node) == node_bytes(state->row) &&
        memcmp(node, state->row, node_bytes(node)) == 0) {
        if (err_is_set(&state->fault)) {
            *err = state->fault;
            return false;
        }
        *draft = state->draft;
        return true;
    }
    if (!is_small(state, node))
        return refuse_changed(ident, err);
    return apply(state, node, draft, plan->arena, err);
}

static bool plan_patch(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    struct node_patching *state = request->state;
    struct err *err = &write->err;
    struct access access;
    const struct node *node = node_patch_find(request, plan->version, &access, err);
    if (node == NULL)
        return false;
    struct access_node whose = node_find_whose(node);
    struct node_draft draft = node_draft_of(node);
    const struct plan_node_update update = {
        .before = node,
        .after = &draft,
        .ident = request->args[0],
        .only_removes_instance = json_patch_only_removes(state->patch, "/instance_uuid"),
        .sets_owner = any_sets(state->patch, "owner"),
        .may_set_owner_of_active =
            access_node_passes(&access, POLICY_NODE_UPDATE_OWNER_PROVISIONED, &whose),
        .knows_inspect_wait = request->minor >= MINOR_OF_INSPECT_WAIT,
    };
    if (!plan_node_update_check(&update, plan, err) ||
        !check_names(state->patch, request->args[0], err) ||
        !take_draft(state, node, request->args[0], &draft, plan, err))
        return false;
    const struct node *result;
    bool released;
    if (!plan_node_update(&update, plan, &result, &released, err))
        return false;
    node_outcome_keep(&state->outcome, request, plan, result, released);
    return true;
}

/* Applies the patch if the node or the patch is large and the caller may do that. Errors in the
 * patch are kept for the planner, which reports them after the errors that come first. */
static enum api_step prepare(struct api_request *request, struct node_patching *state)
{
    struct access access;
    struct err ignored = {.arena = request->arena};
    struct memory_share share;
    const struct node *node = node_patch_find(request, request->version, &access, &ignored);
    state->row = NULL;
    if (node == NULL || is_small(state, node))
        return API_WRITE;
    struct budget budget = api_budget(request);
    if (!budget_take(&budget, (int64_t)(node_bytes(node) + state->patch_bytes) * STEPS_OF_A_BYTE))
        return api_over_budget(request);
    /* before and after */
    uint64_t bytes = 2 * node_body_cost(node, state->needed).bytes + state->patch_bytes;
    if (!intake_memory(request, bytes, &share))
        return API_DONE;
    struct node *row = arena_alloc(request->arena, node_bytes(node));
    memcpy(row, node, node_bytes(node));
    state->draft = node_draft_of(row);
    state->fault = (struct err){.arena = request->arena};
    (void)apply(state, row, &state->draft, request->arena, &state->fault);
    state->row = row;
    request->ends_slowly = true;
    memory_give_back(&share);
    return API_WRITE;
}

static bool is_within(struct slice path, struct slice field)
{
    return slice_starts_with(slice_skip(path, 1), field) && path.len > 1 + field.len &&
           path.data[1 + field.len] == '/';
}

/* Finds the objects that the operations need: those that they name. If one operation removes a
 * field and another refers to it, the error quotes the whole document. */
static void find_needed(struct node_patching *state)
{
    const json_t *patch = state->patch;
    bool removes[NODE_FIELD_COUNT] = {false};
    bool needs_all = false;
    for (size_t i = 0; i < json_array_size(patch); i++) {
        const json_t *operation = json_array_get(patch, i);
        struct slice path = member_text(operation, "path");
        int field = record_find(&NODE_SHAPE, json_patch_field(operation));
        check(field >= 0); /* json_patch_check_fields() */
        bool is_inside = is_within(path, slice_of(NODE_SHAPE.fields[field].name));
        needs_all = needs_all || (is_inside && removes[field]);
        removes[field] = removes[field] || !is_inside;
        state->needed[field] = true;
    }
    for (unsigned i = 0; i < NODE_FIELD_COUNT; i++)
        state->needed[i] = state->needed[i] || needs_all;
}

static struct node_patching *patching_create(struct api_request *request, const json_t *patch)
{
    struct node_patching *state = arena_zalloc(request->arena, sizeof(*state));
    state->patch = patch;
    state->patch_bytes = request->http->body.len;
    state->rules = rules_of(patch, request->arena);
    find_needed(state);
    return state;
}

enum api_step handle_baremetal_node_patch(struct api_request *request)
{
    bool is_given;
    bool resets = false;
    struct err *err = &request->err;
    if (request->state != NULL) { /* run again: on the slow lane, or after a change of the node */
        request->write->plan = plan_patch;
        return prepare(request, request->state);
    }
    if (!read_reset(request, &is_given, &resets))
        return API_DONE;
    json_t *patch = intake_body(request);
    if (patch == NULL || !json_patch_check(patch, err) ||
        !check_reset(request, patch, is_given, resets) || !check_descriptions(patch, err))
        return API_DONE;
    request->state = patching_create(request, patch);
    request->write->plan = plan_patch;
    return prepare(request, request->state);
}

void finish_baremetal_node_patch(struct api_request *request)
{
    const struct node_patching *state = request->state;
    if (!err_is_set(&request->err))
        node_outcome_write(request, &state->outcome);
}

static bool node_patch_plan_delete(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    struct access access;
    const struct node *node =
        node_find_visible(request, plan->version, request->args[0], &access, &write->err);
    if (node == NULL)
        return false;
    struct access_node whose = node_find_whose(node);
    return access_node_delete(&access, &whose, &write->err) == ACCESS_ALLOWED &&
           plan_node_delete(node, plan, &write->err);
}

enum api_step handle_baremetal_node_delete(struct api_request *request)
{
    if (!intake_no_query(request))
        return API_DONE;
    request->write->plan = node_patch_plan_delete;
    return API_WRITE;
}
