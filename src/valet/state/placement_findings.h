/* What of Valet's holds and placements does not fit together (Valet spec, 8.2): for an operator to
 * look at, nothing is wrong with the rest. Any thread, on a pinned version. */
#ifndef BERTH_VALET_STATE_PLACEMENT_FINDINGS_H
#define BERTH_VALET_STATE_PLACEMENT_FINDINGS_H

#include "replica/valet.h"

struct placement_finding {
    const struct consumer *hold;             /* of a placement that is gone; or NULL */
    const struct valet_placement *placement; /* whose hold and server are gone; or NULL */
};

/* Calls for each of them, holds first. */
typedef void placement_finding_sink(void *cls, const struct placement_finding *finding);
void placement_findings(const struct version *version, placement_finding_sink *sink, void *cls);

#endif
