/* Calls the solver on the version that the handler sees, and answers the client once the writer has
 * committed. */
#include "valet/api/plans/plan_solving.h"
#include "api/write.h"

#include "api/charge.h"
#include "valet/api/valet_settings.h"
#include "valet/state/placement_location.h"

/* A hold is dropped when it is on the same host as one of its servers (8.2), and if there are two
 * servers the one with the resource id determines the location. A hold planned beside the other
 * server would be reported as being elsewhere. */
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
        plan_servers_own(solving, i, pins[i].own);
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
    struct solve_request requested = {
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
    enum solve_result result =
        solve(request->version, &requested, request->arena, &budget, outcome);
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
    err_reason(&request->err, "The stack has no placement: %.*s", SLICE_ARG(outcome->reason));
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
    request->write->plan = plan_solving_commit;
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
