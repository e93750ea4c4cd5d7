/* PUT /v1/plans/{plan_id} and its action `update`, which replaces the whole content (Valet
 * spec, 6.8). On a worker or the slow lane, possibly several times for one request. */
#include <stdlib.h>

#include "api/request.h"
#include "valet/api/handlers.h"
#include "valet/api/ids.h"
#include "valet/api/plans/plan_body.h"
#include "valet/api/plans/plan_ids.h"
#include "valet/api/plans/plan_migrate.h"
#include "valet/api/plans/plan_solving.h"
#include "valet/api/stack/stack_body.h"
#include "valet/api/stack/stack_resolve.h"
#include "valet/api/stack/stack_text.h"
#include "valet/state/placement_location.h"

struct updating {
    struct slice plan_name; /* data == NULL: unchanged */
    const json_t *resources;
    struct stack old;
    const struct stack_server **by_id; /* the previous ones, sorted */
};

static int compare_servers(const void *left, const void *right)
{
    const struct stack_server *a = *(const struct stack_server *const *)left;
    const struct stack_server *b = *(const struct stack_server *const *)right;
    return slice_compare(&a->orchestration_id, &b->orchestration_id);
}

static void sort_old(struct updating *updating, struct arena *arena)
{
    const struct stack *old = &updating->old;
    updating->by_id = arena_array(arena, old->server_count, sizeof(*updating->by_id));
    for (uint32_t i = 0; i < old->server_count; i++)
        updating->by_id[i] = &old->servers[i];
    if (old->server_count > 1)
        qsort(updating->by_id, old->server_count, sizeof(*updating->by_id), compare_servers);
}

/* Whether the server's requirements are unchanged. */
static bool asks_the_same(const struct updating *updating, const struct stack_server *server)
{
    if (updating->old.server_count == 0)
        return false;
    const struct stack_server *const *found =
        bsearch(&server, updating->by_id, updating->old.server_count, sizeof(*updating->by_id),
                compare_servers);
    return found != NULL && stack_server_requests_same(*found, server);
}

/* A reserved server stays, with its new amounts; so does a server that is on a host without a hold
 * that could be moved. The others stay if possible. */
static void pin_server(struct solving *solving, const struct updating *updating, uint32_t at)
{
    struct solving_server *server = &solving->servers[at];
    const struct version *version = solving->request->version;
    const struct consumer *hold =
        server->placement == NULL ? NULL : placement_hold(version, server->placement);
    bool stays = server->is_reserved || (server->present != NULL && hold == NULL);
    if (!stays) {
        plan_servers_place(solving, at);
        server->pin.keeps_place = server->present != NULL;
        server->pin.changes = !asks_the_same(updating, &solving->stack.servers[at]);
    } else if (hold != NULL && !asks_the_same(updating, &solving->stack.servers[at])) {
        struct slice *name = arena_alloc(solving->request->arena, sizeof(*name));
        *name = provider_name(server->present);
        plan_servers_place(solving, at);
        server->pin.locations = (struct stack_names){name, 1};
    }
}

static struct slice take_fingerprint(const struct solving *solving, const struct updating *updating)
{
    const struct stack_names *locations = &updating->old.locations;
    char *text = arena_alloc(solving->request->arena, STACK_FINGERPRINT_LEN);
    json_t *list = json_array();
    for (uint32_t i = 0; i < locations->count; i++) {
        struct slice name = locations->names[i];
        check(json_array_append_new(list, json_stringn(name.len == 0 ? "" : name.data, name.len)) ==
              0);
    }
    stack_fingerprint(solving->name, updating->resources, list, text);
    json_decref(list);
    return (struct slice){text, STACK_FINGERPRINT_LEN};
}

static bool read_update(struct api_request *request, const json_t *body, struct updating *updating)
{
    if (!body_check(body, &BODY_PLAN_UPDATE, &request->err))
        return false;
    updating->resources = json_object_get(body, "resources");
    updating->plan_name = body_text(body, "plan_name");
    return true;
}

static enum api_step plan_update(struct api_request *request, const struct valet_plan *plan,
                                 const json_t *body)
{
    struct updating updating = {0};
    const struct record *row = &plan->record;
    struct solving solving = {
        .request = request,
        .plan = plan,
        .plan_uuid = record_text(row, VALET_PLAN_UUID),
        .name = record_text(row, VALET_PLAN_NAME),
        .stack_id = record_text(row, VALET_PLAN_STACK_ID),
        .project = record_text(row, VALET_PLAN_PROJECT),
        .user = record_text(row, VALET_PLAN_USER),
        .drops_others = true,
    };
    if (!read_update(request, body, &updating) ||
        !plan_body_stack(request, updating.resources, NULL, &solving.stack) ||
        !stack_resolve(&solving.stack, request->version, solving.project, 400, request->arena,
                       &request->err))
        return API_DONE;
    /* an unreadable content had no constraints */
    (void)stack_text_read(record_text(row, VALET_PLAN_CONTENT), request->arena, &updating.old);
    stack_resolve_known(&updating.old, request->version, request->arena);
    sort_old(&updating, request->arena);
    solving.accepted = &updating.old;
    solving.stack.locations = updating.old.locations;
    if (updating.plan_name.data != NULL)
        solving.name = updating.plan_name;
    solving.fingerprint = take_fingerprint(&solving, &updating);
    plan_servers_look(&solving);
    if (!plan_ids_are_free(&solving))
        return API_DONE;
    solving.any_project = plan_ids_any_project(request, plan, plan_ids_are_brought(&solving));
    for (uint32_t i = 0; i < solving.stack.server_count; i++)
        pin_server(&solving, &updating, i);
    return plan_solving_run(&solving);
}

enum api_step handle_valet_plan_update(struct api_request *request)
{
    const struct valet_plan *plan = ids_plan(request);
    if (plan == NULL)
        return API_DONE;
    const json_t *body = plan_body(request);
    if (body == NULL || !body_check(body, &BODY_PLAN_ACTION, &request->err))
        return API_DONE;
    return slice_equal(body_text(body, "action"), SLICE_LIT("update"))
               ? plan_update(request, plan, body)
               : plan_migrate(request, plan, body);
}
