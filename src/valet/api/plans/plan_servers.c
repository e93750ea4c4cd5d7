/* Finds what exists of the servers of a stack, in the version that the handler sees. Handlers on a
 * worker or the slow lane. */
#include "valet/api/plans/plan_servers.h"

#include <stdlib.h>

#include "valet/api/stack/stack_resolve.h"
#include "valet/api/stack/stack_text.h"
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

static int plan_servers_compare_ids(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* The holds of the plan's placements that are not in the stack. */
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
        qsort(kept, kept_count, sizeof(*kept), plan_servers_compare_ids);
    const struct valet_placement *at;
    for (int64_t id = 0;
         (at = version_next_valet_placement_of(version, solving->plan->record.id, id)) != NULL;
         id = at->record.id) {
        const struct consumer *hold = placement_hold(version, at);
        if (hold == NULL ||
            (kept_count > 0 && bsearch(&at->record.id, kept, kept_count, sizeof(*kept),
                                       plan_servers_compare_ids) != NULL))
            continue;
        solving->released = arena_grow(arena, solving->released, solving->released_count, &capacity,
                                       sizeof(*solving->released));
        solving->released[solving->released_count++] = hold;
    }
}

void plan_servers_look(struct solving *solving)
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

bool plan_servers_recall(struct solving *solving)
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
    plan_servers_look(solving);
    return true;
}

bool plan_servers_find(struct solving *solving, const struct valet_placement *placement,
                       uint32_t *at)
{
    for (*at = 0; *at < solving->stack.server_count; ++*at)
        if (solving->servers[*at].placement == placement)
            return true;
    return err_set_join(&solving->request->err, 409, NULL, SLICE_LIT("Valet error: the plan of '"),
                        record_text(&placement->record, VALET_PLACEMENT_NAME),
                        SLICE_LIT("' does not know it any more"));
}

void plan_servers_place(struct solving *solving, uint32_t at)
{
    struct solving_server *server = &solving->servers[at];
    server->pin.kind = SOLVE_PLACE;
    if (server->placement != NULL)
        server->pin.released = placement_hold(solving->request->version, server->placement);
}

void plan_servers_own(const struct solving *solving, uint32_t at, const struct consumer **own)
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

const struct consumer *plan_servers_server(const struct solving *solving, uint32_t at)
{
    const struct consumer *own[SOLVE_OWN] = {NULL};
    plan_servers_own(solving, at, own);
    return own[1] != NULL ? own[1] : own[2];
}
