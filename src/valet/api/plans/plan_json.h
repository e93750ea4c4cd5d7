/* Plans and placements as clients see them (Valet spec, 6.1 and 7.1). Any thread. */
#ifndef BERTH_VALET_API_PLANS_PLAN_JSON_H
#define BERTH_VALET_API_PLANS_PLAN_JSON_H

#include "base/buf.h"
#include "replica/valet.h"

/* A placement and its location. */
struct placement_view {
    const struct valet_placement *row;
    struct slice location;
    struct slice plan_uuid; /* of its plan; only if the placement is shown alone */
};

/* A plan is written in three steps. */
void plan_json_begin(struct buf *out, const struct valet_plan *plan);
void plan_json_placement(struct buf *out, const struct placement_view *view, bool is_first);
void plan_json_end(struct buf *out);

void placement_json(struct buf *out, const struct placement_view *view);

#endif
