/* The part of consequences_next for claims. The writer only. */
#ifndef BERTH_VALET_WRITE_CONSEQUENCES_CLAIMS_H
#define BERTH_VALET_WRITE_CONSEQUENCES_CLAIMS_H

#include "engine/plan.h"
#include "valet/write/consequences_internal.h"

/* After the changes were applied: appends the next consequences for claims. False: no more. */
bool consequences_claims(struct consequences *consequences, const struct plan *plan);

#endif
