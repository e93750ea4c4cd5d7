/* Is a version consistent with itself? Everything that is derived is computed anew and compared. */
#ifndef BERTH_REPLICA_AUDIT_H
#define BERTH_REPLICA_AUDIT_H

#include "base/buf.h"
#include "replica/version.h"

/* True if all holds; else `why` gets one line for the first thing found wrong. For tests: it walks
 * everything and takes 8 bytes for each slot and class. Any thread, on a pinned version. */
bool audit_version(const struct version *version, struct buf *why);

#endif
