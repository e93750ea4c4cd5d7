/* How much work a query may do. A worker gives a query a budget; one that exceeds it is run again
 * on the slow lane, without a limit but asking now and then whether its client is still there. */
#ifndef BERTH_QUERY_BUDGET_H
#define BERTH_QUERY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
    int64_t left;                 /* steps; a step is five nanoseconds or so */
    int64_t refill;               /* 0: none; else `cancelled` is asked, and left starts again */
    bool (*cancelled)(void *cls); /* used with refill; NULL: never */
    void *cls;
    bool exhausted;
};

/* Out of line: what happens when nothing is left. */
bool budget_renew(struct budget *budget);

/* Ends it, whatever is left. */
static inline void budget_exhaust(struct budget *budget)
{
    budget->left = 0;
    budget->exhausted = true;
}

/* Whether work of so many steps may be begun: on a worker they have to be left, or it is exhausted
 * at once, which spares what would be thrown away. They are taken as the work is done. */
static inline bool budget_allows(struct budget *budget, int64_t steps)
{
    if (budget->refill > 0 || steps <= budget->left)
        return true;
    budget_exhaust(budget);
    return false;
}

/* Takes steps; false when the query is to stop. */
static inline bool budget_take(struct budget *budget, int64_t steps)
{
    budget->left -= steps;
    return budget->left >= 0 || budget_renew(budget);
}

#endif
