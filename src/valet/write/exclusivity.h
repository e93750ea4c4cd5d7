/* Exclusivity, as writes of allocations meet it (Valet spec, 8.3). Writer thread only. */
#ifndef BERTH_VALET_WRITE_EXCLUSIVITY_H
#define BERTH_VALET_WRITE_EXCLUSIVITY_H

#include "engine/claim.h"

/* Refuses (409) if afterwards a project holds more of some class in a tree that a group claims of
 * which it is no member. After claim_check_amounts; without groups it costs one comparison. */
bool exclusivity_check(const struct claim_set *set) BERTH_MUST_CHECK;

#endif
