/* Negotiation of the microversion (placement spec, Microversions). */
#ifndef BERTH_PLACEMENT_API_MICROVERSION_H
#define BERTH_PLACEMENT_API_MICROVERSION_H

#include "base/err.h"

enum { PLACEMENT_MINOR_MAX = 39 };

/* Reads the OpenStack-API-Version header (data == NULL: absent). Sets *minor and returns true; or
 * sets err: 406 for an unknown version, 400 for a malformed one. */
bool microversion_negotiate(struct slice header, unsigned *minor, struct err *err);

#endif
