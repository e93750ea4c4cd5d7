/* Selects the providers in version.markers, an index of providers that mark something for the hosts
 * that share an aggregate with them. Any thread. */
#ifndef BERTH_REPLICA_MARKERS_H
#define BERTH_REPLICA_MARKERS_H

#include "replica/version.h"

/* Whether a provider with these traits is a marker of a rack or a zone. */
bool marker_has_traits(const struct version *version, const struct name_set *traits);

#endif
