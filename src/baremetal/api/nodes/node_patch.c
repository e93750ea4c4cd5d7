/* PATCH and DELETE /v1/nodes/{ident} (bare metal spec 8.3). Handlers look at the patch alone;
 * everything that needs the node is done in the planner, on the newest row, so that nothing is lost
 * between reading and writing it. Planners run on the writer's thread. */
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
};

struct node_patching {
    const json_t *patch;
    enum policy_baremetal_rule *rules; /* what the operations ask */
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

/* Whether the operation gives that very field a value. */
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

/* There is one driver, so its interfaces never need to be reset; but it can be asked for. */
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

/* The node, if the caller may do all of that to it. */
static const struct node *find(struct api_request *request, const struct plan *plan,
                               struct access *access, struct err *err)
{
    struct node_patching *state = request->state;
    const struct node *node =
        node_find_visible(request, plan->version, request->args[0], access, err);
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

/* A name is removed by remove; null is none. */
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

/* What the patch leaves, which `draft` then has; NULL: err is set. The draft's texts are its. */
static json_t *apply(const json_t *patch, const struct node *node, struct node_draft *draft,
                     const struct plan *plan, struct err *err)
{
    json_t *before = node_body_of(node);
    json_t *after = json_patch_apply(before, patch, err);
    if (after != NULL && (!body_checks_node(after, "patch", true, err) ||
                          !node_body_patch(draft, before, after, plan->arena, err))) {
        json_decref(after);
        after = NULL;
    }
    json_decref(before);
    return after;
}

static bool plan_patch(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    struct node_patching *state = request->state;
    struct err *err = &write->err;
    struct access access;
    const struct node *node = find(request, plan, &access, err);
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
        !check_names(state->patch, request->args[0], err))
        return false;
    json_t *after = apply(state->patch, node, &draft, plan, err);
    if (after == NULL)
        return false;
    const struct node *result;
    bool released;
    bool good = plan_node_update(&update, plan, &result, &released, err);
    if (good)
        node_outcome_keep(&state->outcome, request, plan, result, released);
    json_decref(after);
    return good;
}

enum api_step handle_baremetal_node_patch(struct api_request *request)
{
    bool is_given;
    bool resets = false;
    struct err *err = &request->err;
    if (!read_reset(request, &is_given, &resets))
        return API_DONE;
    json_t *patch = intake_body(request);
    if (patch == NULL || !json_patch_check(patch, err) ||
        !check_reset(request, patch, is_given, resets) || !check_descriptions(patch, err))
        return API_DONE;
    struct node_patching *state = arena_zalloc(request->arena, sizeof(*state));
    state->patch = patch;
    state->rules = rules_of(patch, request->arena);
    request->state = state;
    request->write->plan = plan_patch;
    return API_WRITE;
}

void finish_baremetal_node_patch(struct api_request *request)
{
    const struct node_patching *state = request->state;
    if (!err_is_set(&request->err))
        node_outcome_write(request, &state->outcome);
}

static bool plan_delete(struct pipeline_request *write, const struct plan *plan)
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
    request->write->plan = plan_delete;
    return API_WRITE;
}
