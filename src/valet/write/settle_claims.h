/* The claims' part of settle_next. Writer thread only. */
#ifndef BERTH_VALET_WRITE_SETTLE_CLAIMS_H
#define BERTH_VALET_WRITE_SETTLE_CLAIMS_H

#include "engine/plan.h"
#include "valet/write/settle_internal.h"

/* After the changes were applied: appends what follows for claims next. False: nothing more. */
bool settle_claims(struct settle *settle, const struct plan *plan);

#endif
