/* The table has one row for each flag of a route. Any thread. */
#include "valet/api/ids.h"

#include "valet/api/plans/plan_find.h"
#include "valet/api/routes.h"

const struct valet_group *ids_group(struct api_request *request)
{
    const struct valet_group *group =
        version_valet_group_by_uuid(request->version, request->args[0]);
    if (group == NULL)
        err_set_join(&request->err, 404, NULL, SLICE_LIT("There is no group "), request->args[0]);
    return group;
}

const struct valet_member *ids_member(struct api_request *request, const struct valet_group *group)
{
    const struct valet_member *member =
        version_valet_member(request->version, group->record.id, request->args[1]);
    if (member == NULL)
        err_set_join(&request->err, 404, NULL, SLICE_LIT("The group has no member "),
                     request->args[1]);
    return member;
}

const struct valet_plan *ids_plan(struct api_request *request)
{
    struct valet_caller caller = valet_caller_of(request);
    return plan_find(request->version, &caller, request->args[0], &request->err);
}

const struct valet_placement *ids_placement(struct api_request *request)
{
    struct valet_caller caller = valet_caller_of(request);
    return placement_find(request->version, &caller, request->args[0], &request->err);
}

static bool plan_is_known(struct api_request *request)
{
    return ids_plan(request) != NULL;
}

static bool placement_is_known(struct api_request *request)
{
    return ids_placement(request) != NULL;
}

static bool group_is_known(struct api_request *request)
{
    return ids_group(request) != NULL;
}

static bool member_is_known(struct api_request *request)
{
    const struct valet_group *group = ids_group(request);
    return group != NULL && ids_member(request, group) != NULL;
}

bool ids_are_known(struct api_request *request, unsigned flags)
{
    static const struct {
        enum valet_route_flag flag;
        bool (*is_known)(struct api_request *request);
    } KINDS[] = {
        {VALET_OF_GROUP, group_is_known},
        {VALET_OF_MEMBER, member_is_known},
        {VALET_OF_PLAN, plan_is_known},
        {VALET_OF_PLACEMENT, placement_is_known},
    };
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
        if ((flags & KINDS[i].flag) != 0 && !KINDS[i].is_known(request))
            return false;
    return true;
}
