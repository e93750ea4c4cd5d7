/* Inconsistencies among Valet's holds and placements (Valet spec, 8.2), for operators; the other
 * data is not affected. Any thread, on a pinned version. */
#ifndef BERTH_VALET_STATE_PLACEMENT_FINDINGS_H
#define BERTH_VALET_STATE_PLACEMENT_FINDINGS_H

#include "replica/valet.h"

struct placement_finding {
    const struct consumer *hold;             /* whose placement does not exist; or NULL */
    const struct valet_placement *placement; /* whose hold and server do not exist; or NULL */
};

/* Calls the sink for each of them, holds first. */
typedef void placement_finding_sink(void *cls, const struct placement_finding *finding);
void placement_findings(const struct version *version, placement_finding_sink *sink, void *cls);

#endif
