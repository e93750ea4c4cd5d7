/* The claims' part of consequences_next. Writer thread only. */
#ifndef BERTH_VALET_WRITE_CONSEQUENCES_CLAIMS_H
#define BERTH_VALET_WRITE_CONSEQUENCES_CLAIMS_H

#include "engine/plan.h"
#include "valet/write/consequences_internal.h"

/* After the changes were applied: appends what follows for claims next. False: nothing more. */
bool consequences_claims(struct consequences *consequences, const struct plan *plan);

#endif
