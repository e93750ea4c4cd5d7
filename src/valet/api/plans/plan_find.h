/* Finds plans and placements by the ids in a path or a body, if the caller may see them (Valet
 * spec, 2.3, 6.1, 6.5 and 7.1). On a pinned version, or the writer's. */
#ifndef BERTH_VALET_API_PLANS_PLAN_FIND_H
#define BERTH_VALET_API_PLANS_PLAN_FIND_H

#include "replica/valet.h"
#include "valet/api/caller.h"

/* By id, else by stack_id, preferring the caller's own project; NULL: err has the 404, also if
 * several other projects have the stack. */
const struct valet_plan *plan_find(const struct version *version, const struct valet_caller *caller,
                                   struct slice ident, struct err *err);

/* By id, else by orchestration id; NULL: err has the 404. */
const struct valet_placement *placement_find(const struct version *version,
                                             const struct valet_caller *caller, struct slice ident,
                                             struct err *err);

bool plan_is_seen(const struct valet_caller *caller, const struct valet_plan *plan);
bool placement_is_seen(const struct version *version, const struct valet_caller *caller,
                       const struct valet_placement *placement);

#endif
