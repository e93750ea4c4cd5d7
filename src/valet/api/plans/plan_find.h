/* Plans and placements by what a path or a body calls them, as far as the caller sees them (Valet
 * spec, 2.3, 6.1, 6.5 and 7.1). On a pinned version, or the writer's. */
#ifndef BERTH_VALET_API_PLANS_PLAN_FIND_H
#define BERTH_VALET_API_PLANS_PLAN_FIND_H

#include "replica/valet.h"
#include "valet/api/caller.h"

/* By id, else by stack_id, where the caller's own project comes first; NULL: err has the 404, also
 * when several other projects have the stack. */
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
