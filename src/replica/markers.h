/* Which providers are in version.markers, the index of those that mark something for the hosts with
 * which they share an aggregate. Any thread. */
#ifndef BERTH_REPLICA_MARKERS_H
#define BERTH_REPLICA_MARKERS_H

#include "replica/version.h"

/* Whether who has these traits is one of them: marks a rack or a zone. */
bool marker_has_traits(const struct version *version, const struct name_set *traits);

#endif
