/* Looks up the ids in a path (Valet spec, 2.1 and 2.5). */
#ifndef BERTH_VALET_API_IDS_H
#define BERTH_VALET_API_IDS_H

#include "api/request.h"
#include "replica/valet.h"

/* Whether the objects that the path's ids name exist, by flags of routes.h; false sets the 404. On
 * a pinned version. */
bool ids_are_known(struct api_request *request, unsigned flags) BERTH_MUST_CHECK;

/* The group with the first id, of which the second is a member; NULL: err has the 404. */
const struct valet_group *ids_group(struct api_request *request);
const struct valet_member *ids_member(struct api_request *request, const struct valet_group *group);

/* The plan or placement with the first id, if the caller sees it; NULL: err has the 404. */
const struct valet_plan *ids_plan(struct api_request *request);
const struct valet_placement *ids_placement(struct api_request *request);

#endif
