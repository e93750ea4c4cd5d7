/* Whether planning works: searches for a plan of one unit. */
#ifndef BERTH_VALET_API_PLANNER_CHECK_H
#define BERTH_VALET_API_PLANNER_CHECK_H

#include "base/arena.h"
#include "conf/valet.h"
#include "query/budget.h"
#include "replica/version.h"

enum planner_state {
    PLANNER_WORKS,     /* the search ended, with or without a host */
    PLANNER_FAILS,     /* it did not end */
    PLANNER_EXPENSIVE, /* the budget is exhausted */
};

/* *message has the details, unless it is expensive. On a pinned version. Any thread. */
enum planner_state planner_check(const struct version *version, const struct conf_valet *valet,
                                 struct arena *arena, struct budget *budget, struct slice *message);

#endif
