/* Exclusivity, as a rule of every write (Valet spec, 8.3). The writer only. */
#ifndef BERTH_VALET_WRITE_EXCLUSIVITY_H
#define BERTH_VALET_WRITE_EXCLUSIVITY_H

#include "engine/effects.h"

/* Refuses (409) if, after the request, a project holds more of a class than before in a tree
 * claimed by a group of which it is not a member: because consumers get more or change hands, or
 * because providers with allocations move into the tree. Without groups it costs one comparison. */
bool exclusivity_check(const struct effects *effects, struct err *err) BERTH_MUST_CHECK;

#endif
