/* POST /v1/allocations (baremetal-allocations spec, 3.1 and 5). The body is checked on a worker;
 * nodes and conflicts are checked on the writer's thread, on the newest version. The answer shows
 * the row as it was stored, before the search for a node. */
#include "api/request_id.h"
#include "api/text/name_table.h"
#include "api/write.h"
#include "baremetal/api/access.h"
#include "baremetal/api/allocations/allocation_json.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/body_checks.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/links.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/api/nodes/node_find.h"
#include "baremetal/write/conductor.h"
#include "baremetal/write/json_text.h"
#include "baremetal/write/plan_node_allocations.h"
#include "replica/nodes.h"

struct creation {
    const json_t *body;
    struct access_creation access;
    struct slice uuid;
    bool has_uuid;
    struct allocation_shown shown;
    int refused_status; /* of a backfill that was refused but stored */
    struct slice refused_text;
};

static struct slice allocation_create_text_of(const json_t *value)
{
    if (!json_is_string(value))
        return (struct slice){0};
    return (struct slice){json_string_value(value), json_string_length(value)};
}

static struct slice member(const struct creation *creation, const char *name)
{
    return allocation_create_text_of(json_object_get(creation->body, name));
}

static bool check_owner(struct api_request *request, struct creation *creation)
{
    struct access access = node_find_caller(request);
    struct slice owner = member(creation, "owner");
    if (!access_allocation_create(&access, owner, &creation->access, &request->err))
        return false;
    return json_object_get(creation->body, "owner") == NULL || request->minor >= 60 ||
           err_set(&request->err, 406, NULL, "Request not acceptable.");
}

static bool check_version_of_node(struct api_request *request, const struct creation *creation)
{
    return member(creation, "node").len == 0 || request->minor >= 58 ||
           err_set(&request->err, 400, NULL,
                   "Cannot set node when creating an allocation in this API version");
}

static void choose_uuid(struct api_request *request, struct creation *creation)
{
    creation->uuid = member(creation, "uuid");
    creation->has_uuid = creation->uuid.len > 0;
    if (creation->has_uuid)
        return;
    char *text = arena_alloc(request->arena, UUID_LEN);
    uuid_generate_text(text);
    creation->uuid = (struct slice){text, UUID_LEN};
}

static struct slice not_empty(struct slice text)
{
    return text.len > 0 ? text : (struct slice){0};
}

static struct slice words_of(const json_t *list, struct arena *arena)
{
    size_t count = json_array_size(list);
    struct slice *words = arena_array(arena, count, sizeof(*words));
    for (size_t i = 0; i < count; i++)
        words[i] = allocation_create_text_of(json_array_get(list, i));
    return record_join_words(arena, words, count, false);
}

static struct slice object_text(const json_t *object, struct arena *arena)
{
    return json_is_object(object) ? json_text(object, arena) : SLICE_LIT("{}");
}

static struct node_allocation_draft draft_of(struct api_request *request,
                                             const struct creation *creation)
{
    struct node_allocation_draft draft = node_allocation_draft_new(0);
    struct arena *arena = request->arena;
    node_allocation_set_text(&draft, NODE_ALLOCATION_UUID, creation->uuid);
    node_allocation_set_text(&draft, NODE_ALLOCATION_NAME, not_empty(member(creation, "name")));
    node_allocation_set_text(&draft, NODE_ALLOCATION_RESOURCE_CLASS,
                             not_empty(member(creation, "resource_class")));
    node_allocation_set_text(&draft, NODE_ALLOCATION_TRAITS,
                             words_of(json_object_get(creation->body, "traits"), arena));
    node_allocation_set_text(&draft, NODE_ALLOCATION_EXTRA,
                             object_text(json_object_get(creation->body, "extra"), arena));
    node_allocation_set_text(&draft, NODE_ALLOCATION_OWNER, not_empty(creation->access.owner));
    node_allocation_set_text(&draft, NODE_ALLOCATION_CALLER_PROJECT,
                             not_empty(request->identity.project_id));
    node_allocation_set_text(&draft, NODE_ALLOCATION_CALLER_USER,
                             not_empty(request->identity.user_id));
    return draft;
}

static bool refuse_node(struct slice ident, struct err *err)
{
    return err_set_join(err, 400, NULL, SLICE_LIT("Node "), ident,
                        SLICE_LIT(" could not be found."));
}

/* The node to be backfilled, if the caller may see it. */
static bool find_node(struct api_request *request, const struct creation *creation,
                      const struct version *version, const struct node **node, struct err *err)
{
    struct slice text = member(creation, "node");
    *node = NULL;
    if (text.len == 0)
        return true;
    struct ident ident = ident_read(request->arena, text);
    struct access access = node_find_caller(request);
    const struct node *found = node_find_named(version, &ident);
    if (ident.kind == IDENT_NEITHER)
        return err_set_join(err, 400, NULL,
                            SLICE_LIT("Expected a logical name or UUID but received "), text,
                            SLICE_LIT("."));
    if (found == NULL)
        return refuse_node(text, err);
    struct access_node about = node_find_whose(found);
    if (!access_node_passes(&access, POLICY_NODE_GET, &about))
        return refuse_node(text, err);
    *node = found;
    return true;
}

static bool is_of_project(const struct node *node, struct slice project)
{
    struct access_node about = node_find_whose(node);
    return project.data == NULL || slice_equal(about.owner, project) ||
           slice_equal(about.lessee, project);
}

/* Nodes cannot be found: A, B; each named once. */
static bool refuse_candidates(const struct slice *missing, size_t count, struct err *err)
{
    struct buf text = {0};
    struct name_table seen = name_table_create(err->arena, count);
    for (size_t i = 0; i < count; i++) {
        if (!name_table_add(&seen, missing[i]))
            continue;
        if (text.len > 0)
            buf_append_lit(&text, ", ");
        buf_append_slice(&text, missing[i]);
    }
    err_set_join(err, 400, NULL, SLICE_LIT("Nodes cannot be found: "), buf_slice(&text));
    buf_free(&text);
    return false;
}

/* Texts that cannot be a node's ident are reported before idents that no node has. */
static bool find_candidates(struct api_request *request, const struct creation *creation,
                            const struct version *version, struct slice *words, struct err *err)
{
    const json_t *list = json_object_get(creation->body, "candidate_nodes");
    size_t count = json_array_size(list);
    struct slice *uuids = arena_array(request->arena, count, sizeof(*uuids));
    struct slice *impossible = arena_array(request->arena, count, sizeof(*impossible));
    struct slice *missing = arena_array(request->arena, count, sizeof(*missing));
    size_t impossible_count = 0;
    size_t missing_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct slice text = allocation_create_text_of(json_array_get(list, i));
        struct ident ident = ident_read(request->arena, text);
        const struct node *node = node_find_named(version, &ident);
        if (node != NULL && is_of_project(node, creation->access.candidates_of))
            uuids[i] = node_text(node, NODE_UUID);
        else if (ident.kind == IDENT_NEITHER)
            impossible[impossible_count++] = text;
        else
            missing[missing_count++] = text;
    }
    if (impossible_count > 0)
        return refuse_candidates(impossible, impossible_count, err);
    if (missing_count > 0)
        return refuse_candidates(missing, missing_count, err);
    *words = record_join_words(request->arena, uuids, count, false);
    return true;
}

static bool allocation_create_plan_create(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    struct creation *creation = request->state;
    struct node_allocation_draft draft = draft_of(request, creation);
    struct plan_node_allocation input = {
        .draft = &draft,
        .has_uuid = creation->has_uuid,
        .has_class = draft.value[NODE_ALLOCATION_RESOURCE_CLASS].text.data != NULL,
    };
    struct planned_node_allocation planned;
    if (!find_node(request, creation, plan->version, &input.node, &write->err))
        return false;
    if (input.node == NULL && !input.has_class)
        return err_set(&write->err, 400, NULL,
                       "The resource_class field is mandatory when not backfilling");
    if (!find_candidates(request, creation, plan->version,
                         &draft.value[NODE_ALLOCATION_CANDIDATE_NODES].text, &write->err) ||
        !plan_node_allocation_create(&input, plan, &planned, &write->err))
        return false;
    creation->shown = allocation_shown_copy(plan->version, planned.allocation, request->arena);
    creation->refused_status = planned.refused_status;
    creation->refused_text = planned.refused_text;
    return true;
}

enum api_step handle_baremetal_allocation_create(struct api_request *request)
{
    static const char *const NAMES[] = {NULL};
    struct query_string query = query_string_parse(request->arena, request->query);
    struct creation *creation = arena_zalloc(request->arena, sizeof(*creation));
    if (!arguments_check_names(&query, NAMES, &request->err))
        return API_DONE;
    (void)intake_body(request);
    creation->body = request->body;
    request->state = creation;
    if (request->body == NULL ||
        !body_checks_allocation(request->body, "allocation", &request->err) ||
        !check_owner(request, creation) ||
        !ident_check_allocation_name(json_object_get(request->body, "name"), false,
                                     &request->err) ||
        !check_version_of_node(request, creation))
        return API_DONE;
    choose_uuid(request, creation);
    request->write->plan = allocation_create_plan_create;
    return API_WRITE;
}

void finish_baremetal_allocation_create(struct api_request *request)
{
    const struct creation *creation = request->state;
    if (err_is_set(&request->err))
        return;
    if (creation->refused_status != 0) {
        err_set_text(&request->err, creation->refused_status, NULL, creation->refused_text);
        return;
    }
    conductor_wake(metal_conductor(request));
    struct slice base = baremetal_base(request);
    struct slice uuid = node_allocation_text(creation->shown.row, NODE_ALLOCATION_UUID);
    request->location =
        arena_printf(request->arena, "%.*s/v1/allocations/%.*s", SLICE_ARG(base), SLICE_ARG(uuid));
    request->status = 201;
    allocation_answer(request, &creation->shown);
}
