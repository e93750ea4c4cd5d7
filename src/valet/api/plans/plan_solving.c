/* What the solver is asked of the version that the handler sees, and what the client is told once
 * the writer has said yes. */
#include "valet/api/plans/plan_solving.h"

#include <stdlib.h>

#include "api/charge.h"
#include "valet/api/plans/plan_making.h"
#include "valet/api/stack/stack_resolve.h"
#include "valet/api/stack/stack_text.h"
#include "valet/api/valet_settings.h"
#include "valet/state/placement_location.h"

static const struct valet_placement *placement_of(const struct solving *solving,
                                                  struct slice orchestration_id)
{
    const struct valet_placement *row =
        version_valet_placement_by_orchestration(solving->request->version, orchestration_id);
    if (row == NULL || solving->plan == NULL ||
        record_number(&row->record, VALET_PLACEMENT_PLAN_ID) != solving->plan->record.id)
        return NULL;
    return row;
}

static int compare_ids(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* The holds of the plan's placements that the stack does not have. */
static void find_released(struct solving *solving)
{
    const struct version *version = solving->request->version;
    struct arena *arena = solving->request->arena;
    uint32_t count = solving->stack.server_count;
    int64_t *kept = arena_array(arena, count, sizeof(*kept));
    size_t kept_count = 0;
    size_t capacity = 0;
    for (uint32_t i = 0; i < count; i++)
        if (solving->servers[i].placement != NULL)
            kept[kept_count++] = solving->servers[i].placement->record.id;
    if (kept_count > 1)
        qsort(kept, kept_count, sizeof(*kept), compare_ids);
    const struct valet_placement *at;
    for (int64_t id = 0;
         (at = version_next_valet_placement_of(version, solving->plan->record.id, id)) != NULL;
         id = at->record.id) {
        const struct consumer *hold = placement_hold(version, at);
        if (hold == NULL || (kept_count > 0 && bsearch(&at->record.id, kept, kept_count,
                                                       sizeof(*kept), compare_ids) != NULL))
            continue;
        solving->released = arena_grow(arena, solving->released, solving->released_count, &capacity,
                                       sizeof(*solving->released));
        solving->released[solving->released_count++] = hold;
    }
}

void plan_solving_look(struct solving *solving)
{
    const struct version *version = solving->request->version;
    solving->servers = arena_zalloc(solving->request->arena,
                                    solving->stack.server_count * sizeof(*solving->servers));
    for (uint32_t i = 0; i < solving->stack.server_count; i++) {
        struct solving_server *server = &solving->servers[i];
        const struct valet_placement *row =
            placement_of(solving, solving->stack.servers[i].orchestration_id);
        server->pin.kind = SOLVE_ABSENT;
        if (row == NULL)
            continue;
        server->placement = row;
        server->present = placement_host(version, row);
        server->is_reserved = record_bool(&row->record, VALET_PLACEMENT_RESERVED);
        server->resource_id = record_text(&row->record, VALET_PLACEMENT_RESOURCE_ID);
        server->pin.present = server->present;
        if (server->present != NULL)
            server->pin.kind = SOLVE_FIXED;
    }
    if (solving->plan != NULL && solving->drops_others)
        find_released(solving);
}

bool plan_solving_recall(struct solving *solving)
{
    struct api_request *request = solving->request;
    const struct record *row = &solving->plan->record;
    solving->plan_uuid = record_text(row, VALET_PLAN_UUID);
    solving->name = record_text(row, VALET_PLAN_NAME);
    solving->stack_id = record_text(row, VALET_PLAN_STACK_ID);
    solving->project = record_text(row, VALET_PLAN_PROJECT);
    solving->user = record_text(row, VALET_PLAN_USER);
    solving->fingerprint = record_text(row, VALET_PLAN_FINGERPRINT);
    solving->any_project = record_bool(row, VALET_PLAN_ANY_PROJECT);
    if (!stack_text_read(record_text(row, VALET_PLAN_CONTENT), request->arena, &solving->stack))
        return err_set_join(&request->err, 409, NULL,
                            SLICE_LIT("Valet error: what was planned for '"), solving->name,
                            SLICE_LIT("' cannot be read"));
    if (!stack_resolve(&solving->stack, request->version, solving->project, 409, request->arena,
                       &request->err))
        return false;
    plan_solving_look(solving);
    return true;
}

bool plan_solving_find(struct solving *solving, const struct valet_placement *placement,
                       uint32_t *at)
{
    for (*at = 0; *at < solving->stack.server_count; ++*at)
        if (solving->servers[*at].placement == placement)
            return true;
    return err_set_join(&solving->request->err, 409, NULL, SLICE_LIT("Valet error: the plan of '"),
                        record_text(&placement->record, VALET_PLACEMENT_NAME),
                        SLICE_LIT("' does not know it any more"));
}

void plan_solving_place(struct solving *solving, uint32_t at)
{
    struct solving_server *server = &solving->servers[at];
    server->pin.kind = SOLVE_PLACE;
    if (server->placement != NULL)
        server->pin.released = placement_hold(solving->request->version, server->placement);
}

/* By the ids that it is to have: the writer will ask by those. */
static void find_own(const struct solving *solving, uint32_t at, const struct consumer **own)
{
    const struct version *version = solving->request->version;
    const struct solving_server *server = &solving->servers[at];
    if (server->placement != NULL)
        own[0] = placement_hold(version, server->placement);
    if (server->placement == NULL && server->pin.kind != SOLVE_PLACE)
        return;
    struct slice project = solving->any_project ? (struct slice){0} : solving->project;
    own[1] = placement_server_of(version, project, server->resource_id);
    own[2] = placement_server_of(version, project, solving->stack.servers[at].orchestration_id);
}

const struct consumer *plan_solving_server(const struct solving *solving, uint32_t at)
{
    const struct consumer *own[SOLVE_OWN] = {NULL};
    find_own(solving, at, own);
    return own[1] != NULL ? own[1] : own[2];
}

/* Beside a server of its a hold does not stay (8.2), and if two are there the one by its resource
 * id tells where it is: what is planned for it beside the other would be told to be elsewhere. */
static void exclude_other(const struct solving *solving, struct solve_pin *pin)
{
    const struct version *version = solving->request->version;
    if (pin->kind != SOLVE_PLACE || pin->own[1] == NULL || pin->own[2] == NULL)
        return;
    const struct provider *other = placement_host_of(version, pin->own[2]);
    if (other == placement_host_of(version, pin->own[1]))
        return;
    const struct stack_names *said = &pin->excluded;
    struct slice *names =
        arena_array(solving->request->arena, (size_t)said->count + 1, sizeof(*names));
    for (uint32_t i = 0; i < said->count; i++)
        names[i] = said->names[i];
    names[said->count] = provider_name(other);
    pin->excluded = (struct stack_names){names, said->count + 1};
}

static int64_t steps_left(const struct solving *solving)
{
    int64_t left = valet_conf(solving->request)->step_limit - solving->steps;
    if (solving->comes_back)
        left /= 2;
    return left > 0 ? left : 1;
}

static enum api_step search(struct solving *solving, struct solve_outcome *outcome)
{
    struct api_request *request = solving->request;
    uint32_t count = solving->stack.server_count;
    bool is_needed = false;
    struct solve_pin *pins = arena_array(request->arena, count, sizeof(*pins));
    for (uint32_t i = 0; i < count; i++) {
        pins[i] = solving->servers[i].pin;
        find_own(solving, i, pins[i].own);
        exclude_other(solving, &pins[i]);
        is_needed |= pins[i].kind == SOLVE_PLACE ||
                     (pins[i].kind == SOLVE_FIXED && solving->accepted != NULL);
    }
    *outcome = (struct solve_outcome){
        .servers = arena_zalloc(request->arena, count * sizeof(*outcome->servers)),
        .exclusives = arena_zalloc(request->arena, count * sizeof(*outcome->exclusives)),
    };
    if (!is_needed)
        return API_WRITE;
    struct solve_request asked = {
        .stack = &solving->stack,
        .project = solving->project,
        .pins = pins,
        .default_zone = valet_conf(request)->default_zone,
        .step_limit = valet_conf(request)->step_limit,
        .steps = steps_left(solving),
        .accepted = solving->accepted,
        .released = solving->released,
        .released_count = solving->released_count,
    };
    struct budget budget = api_budget(request);
    enum solve_result result = solve(request->version, &asked, request->arena, &budget, outcome);
    solving->steps += outcome->steps;
    switch (result) {
    case SOLVE_FOUND:
        return API_WRITE;
    case SOLVE_EXPENSIVE:
        return api_over_budget(request);
    case SOLVE_NONE:
        break;
    }
    err_set_text(&request->err, 409, NULL, outcome->reason);
    return API_DONE;
}

bool plan_solving_commit(struct pipeline_request *write, const struct plan *plan)
{
    const struct solved *solved = api_request_of(write)->state;
    return plan_stack_commit(&solved->commit, plan, &write->err);
}

enum api_step plan_solving_run(struct solving *solving)
{
    struct api_request *request = solving->request;
    struct solve_outcome outcome;
    enum api_step step = search(solving, &outcome);
    if (step != API_WRITE)
        return step;
    request->state = plan_making_commit(solving, &outcome);
    request->write.plan = plan_solving_commit;
    return request->state == NULL ? API_DONE : API_WRITE;
}

static void write_plan(struct api_request *request, const struct solved *solved)
{
    struct buf *out = api_out(request);
    bool is_first = true;
    buf_append_lit(out, "{\"plan\": ");
    plan_json_begin(out, solved->commit.after);
    for (size_t i = 0; i < solved->commit.row_count; i++) {
        if (solved->views[i].row == NULL)
            continue;
        plan_json_placement(out, &solved->views[i], is_first);
        is_first = false;
    }
    plan_json_end(out);
    buf_append_lit(out, "}");
}

static void write_placement(struct api_request *request, const struct solved *solved)
{
    for (size_t i = 0; i < solved->commit.row_count; i++) {
        struct placement_view view = solved->views[i];
        if (view.row == NULL ||
            !slice_equal(record_text(&view.row->record, VALET_PLACEMENT_UUID), solved->answer))
            continue;
        view.plan_uuid = record_text(&solved->commit.after->record, VALET_PLAN_UUID);
        buf_append_lit(api_out(request), "{\"placement\": ");
        placement_json(api_out(request), &view);
        buf_append_lit(api_out(request), "}");
    }
}

void finish_valet_plan(struct api_request *request)
{
    const struct solved *solved = request->state;
    if (err_is_set(&request->err))
        return;
    if (solved->answer.data == NULL)
        write_plan(request, solved);
    else
        write_placement(request, solved);
    request->status = 201;
    api_answer_json(request, 0);
}
