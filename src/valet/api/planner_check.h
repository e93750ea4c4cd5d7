/* Whether planning works: a plan of one unit is searched. */
#ifndef BERTH_VALET_API_PLANNER_CHECK_H
#define BERTH_VALET_API_PLANNER_CHECK_H

#include "base/arena.h"
#include "conf/valet.h"
#include "query/budget.h"
#include "replica/version.h"

enum planner_state {
    PLANNER_WORKS,     /* the search has ended, with a host or without */
    PLANNER_FAILS,     /* it has not */
    PLANNER_EXPENSIVE, /* the budget is exhausted */
};

/* *message tells more, unless it is expensive. On a pinned version. Any thread. */
enum planner_state planner_check(const struct version *version, const struct conf_valet *valet,
                                 struct arena *arena, struct budget *budget, struct slice *message);

#endif
