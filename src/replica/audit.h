/* Checks that a version is consistent: everything derived is computed again and compared. */
#ifndef BERTH_REPLICA_AUDIT_H
#define BERTH_REPLICA_AUDIT_H

#include "base/buf.h"
#include "replica/version.h"

/* True if the version is consistent; otherwise `why` gets one line on the first inconsistency. For
 * tests: it visits everything and uses 8 bytes for each slot and class. Any thread, on a pinned
 * version. */
bool audit_version(const struct version *version, struct buf *why);

#endif
