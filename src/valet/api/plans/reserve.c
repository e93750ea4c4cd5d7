/* POST /v1/placements/{placement_id} (Valet spec, 7.3): the server is about to be built. If its
 * host is permitted and its capacity is held there, that is recorded; otherwise it is planned
 * again, first alone, and if that is impossible, with the servers of its plan that are not
 * reserved. On a worker or the slow lane, possibly several times for one request. */
#include "api/write.h"
#include "valet/api/handlers.h"
#include "valet/api/ids.h"
#include "valet/api/plans/plan_body.h"
#include "valet/api/plans/plan_find.h"
#include "valet/api/plans/plan_ids.h"
#include "valet/api/plans/plan_making.h"
#include "valet/api/plans/plan_solving.h"
#include "valet/state/placement_location.h"

struct reservation {
    struct stack_names locations;
    struct slice resource_id; /* data == NULL: unchanged */
    bool replans;
};

static bool read_body(struct api_request *request, struct reservation *reservation)
{
    struct err *err = &request->err;
    json_t *body = plan_body(request);
    if (body == NULL || !body_check(body, &BODY_RESERVE, err) ||
        !plan_body_names(body, "locations", request->arena, &reservation->locations, err))
        return false;
    reservation->resource_id = body_text(body, "resource_id");
    reservation->replans = slice_equal(body_text(body, "action"), SLICE_LIT("replan"));
    return true;
}

static bool is_within(const struct stack_names *locations, struct slice location)
{
    return locations->count == 0 || stack_names_has(locations, location);
}

static const struct valet_plan *plan_after(const struct api_request *request,
                                           const struct valet_plan *plan,
                                           const struct reservation *reservation)
{
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLANS];
    struct record_value values[VALET_PLAN_FIELD_COUNT];
    bool any = plan_ids_any_project(request, plan, reservation->resource_id.data != NULL);
    record_open(shape, &plan->record, values);
    values[VALET_PLAN_ANY_PROJECT].number = any ? RECORD_TRUE : RECORD_FALSE;
    return (const struct valet_plan *)record_pack(shape, plan->record.id, values, request->arena);
}

static const struct valet_placement *row_after(const struct api_request *request,
                                               const struct valet_placement *row,
                                               const struct reservation *reservation)
{
    const struct record_shape *shape = &VALET_SHAPES[VALET_PLACEMENTS];
    struct record_value values[VALET_PLACEMENT_FIELD_COUNT];
    record_open(shape, &row->record, values);
    values[VALET_PLACEMENT_RESERVED].number = RECORD_TRUE;
    if (reservation->resource_id.data != NULL)
        values[VALET_PLACEMENT_RESOURCE_ID].text = reservation->resource_id;
    return (const struct valet_placement *)record_pack(shape, row->record.id, values,
                                                       request->arena);
}

/* The host where the server's capacity is held after the reservation: with another id that may be
 * by another server. NULL: nowhere. A hold that was deleted through the resource API is restored by
 * planning the server again (8.2), so that reserved capacity is held. */
static const struct provider *host_after(const struct api_request *request,
                                         const struct valet_placement *row,
                                         const struct valet_plan *plan,
                                         const struct reservation *reservation)
{
    const struct version *version = request->version;
    const struct consumer *keeper = placement_hold(version, row);
    if (keeper == NULL)
        keeper = placement_server(version, row_after(request, row, reservation),
                                  plan_after(request, plan, reservation));
    return keeper == NULL ? NULL : placement_host_of(version, keeper);
}

/* The server stays where it is: writes one row, and deletes its hold if the server is already
 * there. */
static enum api_step reserve_note(struct api_request *request, const struct valet_placement *row,
                                  const struct valet_plan *plan,
                                  const struct reservation *reservation, struct slice location)
{
    struct arena *arena = request->arena;
    struct solved *solved = arena_zalloc(arena, sizeof(*solved));
    struct stack_row *change = arena_zalloc(arena, sizeof(*change));
    const struct provider *host = placement_host(request->version, row);
    change->before = plan_making_copy(&row->record, arena);
    change->after = row_after(request, row, reservation);
    if (host != NULL)
        change->present = arena_copy(arena, provider_uuid(host));
    solved->commit.before = plan_making_copy(&plan->record, arena);
    solved->commit.after = plan_after(request, plan, reservation);
    solved->commit.rows = change;
    solved->commit.row_count = 1;
    solved->views = arena_zalloc(arena, sizeof(*solved->views));
    solved->views->row = change->after;
    solved->views->location = arena_copy(arena, location);
    solved->answer = record_text(&change->after->record, VALET_PLACEMENT_UUID);
    request->state = solved;
    request->write->plan = plan_solving_commit;
    return API_WRITE;
}

/* The servers that may move if necessary: not reserved, and not on a host without a hold. False:
 * there are none. */
static bool let_others_move(struct solving *solving, uint32_t but_for, bool now)
{
    bool any = false;
    for (uint32_t i = 0; i < solving->stack.server_count; i++) {
        const struct solving_server *server = &solving->servers[i];
        if (i == but_for || server->placement == NULL || server->is_reserved ||
            (server->present != NULL &&
             placement_hold(solving->request->version, server->placement) == NULL))
            continue;
        any = true;
        if (!now)
            continue;
        plan_servers_place(solving, i);
        solving->servers[i].pin.keeps_place = server->present != NULL;
    }
    return any;
}

/* If it is nowhere, its last host is preferred as if it were its current one. */
static void prefer_last(const struct api_request *request, struct solving_server *server,
                        const struct valet_placement *row)
{
    if (server->present == NULL)
        server->pin.present = version_provider_by_name(
            request->version, record_text(&row->record, VALET_PLACEMENT_LOCATION));
}

static enum api_step replan(struct api_request *request, const struct valet_placement *row,
                            const struct valet_plan *plan, const struct reservation *reservation)
{
    struct solving solving = {.request = request, .plan = plan};
    uint32_t at;
    if (!plan_servers_recall(&solving) || !plan_servers_find(&solving, row, &at))
        return API_DONE;
    struct solving_server *server = &solving.servers[at];
    plan_servers_place(&solving, at);
    prefer_last(request, server, row);
    server->pin.locations = reservation->locations;
    server->is_reserved = true;
    solving.any_project =
        plan_ids_any_project(request, plan, reservation->resource_id.data != NULL);
    if (reservation->resource_id.data != NULL)
        server->resource_id = reservation->resource_id;
    solving.comes_back = let_others_move(&solving, at, false);
    enum api_step step = plan_solving_run(&solving);
    if (step == API_DONE && solving.comes_back) {
        solving.comes_back = false;
        (void)let_others_move(&solving, at, true);
        request->err = (struct err){.arena = request->arena};
        step = plan_solving_run(&solving);
    }
    if (step == API_WRITE) {
        struct solved *solved = request->state;
        solved->answer =
            arena_copy(request->arena, record_text(&row->record, VALET_PLACEMENT_UUID));
    }
    return step;
}

enum api_step handle_valet_placement_reserve(struct api_request *request)
{
    struct reservation reservation = {0};
    const struct valet_placement *row = ids_placement(request);
    if (row == NULL)
        return API_DONE;
    if (!read_body(request, &reservation) ||
        !plan_ids_resource_is_free(request, row, reservation.resource_id))
        return API_DONE;
    const struct valet_plan *plan = placement_plan(request->version, row);
    if (plan == NULL) {
        err_set(&request->err, 409, NULL, "Valet error: the placement's plan is gone");
        return API_DONE;
    }
    const struct provider *host = host_after(request, row, plan, &reservation);
    if (!reservation.replans && host != NULL &&
        is_within(&reservation.locations, provider_name(host)))
        return reserve_note(request, row, plan, &reservation, provider_name(host));
    return replan(request, row, plan, &reservation);
}
