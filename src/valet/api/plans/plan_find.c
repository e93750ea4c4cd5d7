/* Objects that the caller may not see are treated as missing. Any thread. */
#include "valet/api/plans/plan_find.h"

#include "valet/state/placement_location.h"

bool plan_is_seen(const struct valet_caller *caller, const struct valet_plan *plan)
{
    return plan == NULL ? caller->sees_all
                        : valet_caller_sees(caller, record_text(&plan->record, VALET_PLAN_PROJECT));
}

bool placement_is_seen(const struct version *version, const struct valet_caller *caller,
                       const struct valet_placement *placement)
{
    return plan_is_seen(caller, placement_plan(version, placement));
}

static const struct valet_plan *refuse_plan(struct slice ident, struct err *err)
{
    err_set_join(err, 404, NULL, SLICE_LIT("There is no plan "), ident);
    return NULL;
}

const struct valet_plan *plan_find(const struct version *version, const struct valet_caller *caller,
                                   struct slice ident, struct err *err)
{
    const struct valet_plan *plan = version_valet_plan_by_uuid(version, ident);
    if (plan != NULL && plan_is_seen(caller, plan))
        return plan;
    plan = version_valet_plan_of_stack(version, caller->project, ident);
    if (plan != NULL)
        return plan;
    plan = caller->sees_all ? version_next_valet_plan_of_stack(version, ident, 0) : NULL;
    if (plan == NULL)
        return refuse_plan(ident, err);
    if (version_next_valet_plan_of_stack(version, ident, plan->record.id) == NULL)
        return plan;
    err_set_join(err, 404, NULL, SLICE_LIT("Several projects have a plan of the stack "), ident,
                 SLICE_LIT(": use the id of the plan"));
    return NULL;
}

const struct valet_placement *placement_find(const struct version *version,
                                             const struct valet_caller *caller, struct slice ident,
                                             struct err *err)
{
    const struct valet_placement *placement = version_valet_placement_by_uuid(version, ident);
    if (placement != NULL && placement_is_seen(version, caller, placement))
        return placement;
    placement = version_valet_placement_by_orchestration(version, ident);
    if (placement != NULL && placement_is_seen(version, caller, placement))
        return placement;
    err_set_join(err, 404, NULL, SLICE_LIT("There is no placement "), ident);
    return NULL;
}
