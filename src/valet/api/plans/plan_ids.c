/* An id belongs to one placement, because compute's claim for the id drops one hold and determines
 * one location. */
#include "valet/api/plans/plan_ids.h"

#include "valet/api/caller.h"

static bool plan_ids_refuse(struct api_request *request, struct slice id, struct slice why)
{
    return err_set_join(&request->err, 409, NULL, SLICE_LIT("Valet error: resource '"), id, why);
}

/* Whether the update removes the placement from the plan. */
static bool goes(const struct solving *solving, const struct valet_placement *placement)
{
    if (solving->plan == NULL ||
        record_number(&placement->record, VALET_PLACEMENT_PLAN_ID) != solving->plan->record.id)
        return false;
    for (uint32_t i = 0; i < solving->stack.server_count; i++)
        if (solving->servers[i].placement == placement)
            return false;
    return true;
}

bool plan_ids_are_free(const struct solving *solving)
{
    struct api_request *request = solving->request;
    for (uint32_t i = 0; i < solving->stack.server_count; i++) {
        struct slice id = solving->stack.servers[i].orchestration_id;
        if (solving->servers[i].placement != NULL)
            continue;
        const struct valet_placement *other = version_valet_placement_with(request->version, id, 0);
        if (other == NULL || goes(solving, other))
            continue;
        bool is_planned =
            valet_id_equal(record_text(&other->record, VALET_PLACEMENT_ORCHESTRATION_ID), id);
        return plan_ids_refuse(request, id,
                               is_planned ? SLICE_LIT("' is in another plan")
                                          : SLICE_LIT("' is another placement's"));
    }
    return true;
}

bool plan_ids_resource_is_free(struct api_request *request, const struct valet_placement *row,
                               struct slice id)
{
    return id.data == NULL ||
           version_valet_placement_with(request->version, id, row->record.id) == NULL ||
           plan_ids_refuse(request, id, SLICE_LIT("' is another placement's"));
}

bool plan_ids_any_project(const struct api_request *request, const struct valet_plan *plan,
                          bool brings_ids)
{
    bool was = plan == NULL || record_bool(&plan->record, VALET_PLAN_ANY_PROJECT);
    return was && (!brings_ids || valet_caller_of(request).sees_all);
}

bool plan_ids_are_brought(const struct solving *solving)
{
    for (uint32_t i = 0; i < solving->stack.server_count; i++)
        if (solving->servers[i].placement == NULL)
            return true;
    return false;
}
