/* Whether planning works: a plan of one unit is searched. */
#ifndef BERTH_API_VALET_PLANNER_CHECK_H
#define BERTH_API_VALET_PLANNER_CHECK_H

#include "base/arena.h"
#include "conf/valet.h"
#include "replica/version.h"

/* Whether the search has ended, with a host or without; *message tells which. On a pinned version.
 * Any thread. */
bool planner_check(const struct version *version, const struct conf_valet *valet,
                   struct arena *arena, struct slice *message);

#endif
