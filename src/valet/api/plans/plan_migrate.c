/* PUT /v1/plans/{plan_id}, action `migrate`: moves one server to another host (Valet spec, 6.8).
 * First the server alone; if that is impossible, together with those that affinity binds to it. On
 * a worker or the slow lane, possibly several times for one request. */
#include "valet/api/plans/plan_migrate.h"

#include "valet/api/caller.h"
#include "valet/api/plans/plan_body.h"
#include "valet/api/plans/plan_solving.h"
#include "valet/api/stack/stack_shape.h"
#include "valet/state/placement_location.h"

struct migration {
    struct slice resource; /* the server's id in the body */
    struct stack_names excluded;
};

static bool read_migration(struct api_request *request, const json_t *body,
                           struct migration *migration)
{
    struct stack_names names;
    struct err *err = &request->err;
    if (!body_check(body, &BODY_PLAN_MIGRATE, err) ||
        !plan_body_names(body, "resources", request->arena, &names, err) ||
        !plan_body_names(body, "excluded_hosts", request->arena, &migration->excluded, err))
        return false;
    check(names.count == 1);
    migration->resource = names.names[0];
    return true;
}

static bool is_of(const struct valet_placement *placement, const struct valet_plan *plan)
{
    return placement != NULL &&
           record_number(&placement->record, VALET_PLACEMENT_PLAN_ID) == plan->record.id;
}

static const struct valet_placement *
plan_migrate_find(const struct version *version, const struct valet_plan *plan, struct slice name)
{
    const struct valet_placement *placement = version_valet_placement_by_resource(version, name);
    if (is_of(placement, plan))
        return placement;
    placement = version_valet_placement_by_orchestration(version, name);
    return is_of(placement, plan) ? placement : NULL;
}

/* The hosts that it may not get: those of the body, and its current one. */
static struct stack_names excluded_of(const struct solving *solving,
                                      const struct valet_placement *placement,
                                      const struct migration *migration)
{
    uint32_t count = migration->excluded.count;
    struct slice *names = arena_array(solving->request->arena, count + (size_t)1, sizeof(*names));
    for (uint32_t i = 0; i < count; i++)
        names[i] = migration->excluded.names[i];
    names[count] = placement_location(solving->request->version, placement);
    return (struct stack_names){names, count + 1};
}

static void bind_others(struct solving *solving, const bool *with, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (with[i] && solving->servers[i].pin.kind == SOLVE_FIXED)
            plan_servers_place(solving, i);
}

static enum api_step migrate(struct solving *solving, uint32_t at,
                             const struct migration *migration)
{
    struct api_request *request = solving->request;
    uint32_t count = solving->stack.server_count;
    const bool *bound = stack_shape_bound(&solving->stack, at, request->arena);
    uint32_t bound_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        solving->servers[i].leaves_reserve = true;
        bound_count += bound[i];
    }
    plan_servers_place(solving, at);
    solving->servers[at].pin.excluded =
        excluded_of(solving, solving->servers[at].placement, migration);
    solving->comes_back = bound_count > 1;
    enum api_step step = plan_solving_run(solving);
    if (step != API_DONE || !solving->comes_back)
        return step;
    solving->comes_back = false;
    request->err = (struct err){.arena = request->arena};
    bind_others(solving, bound, count);
    return plan_solving_run(solving);
}

enum api_step plan_migrate(struct api_request *request, const struct valet_plan *plan,
                           const json_t *body)
{
    struct migration migration = {0};
    struct solving solving = {.request = request, .plan = plan};
    if (!read_migration(request, body, &migration) ||
        !valet_require(request, POLICY_VALET_PLAN_MIGRATE))
        return API_DONE;
    const struct valet_placement *placement =
        plan_migrate_find(request->version, plan, migration.resource);
    if (placement == NULL) {
        err_set_join(&request->err, 400, NULL, SLICE_LIT("Valet error: the plan has no resource '"),
                     migration.resource, SLICE_LIT("'"));
        return API_DONE;
    }
    uint32_t at;
    if (!plan_servers_recall(&solving) || !plan_servers_find(&solving, placement, &at))
        return API_DONE;
    return migrate(&solving, at, &migration);
}
