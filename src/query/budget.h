/* How much work a query may do. A worker gives a query a budget; one that exceeds it is run again
 * on the slow lane, without a limit but asking now and then whether its client is still there.
 *
 * A step takes several times as long where memory is not in the processor's caches. So a worker's
 * steps are for the worst, and are refilled while the clock says that little time has passed. */
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
    bool is_short; /* a worker's: what is more than what is left is not begun */
    int64_t spare; /* a worker's: what refills may take */
};

/* Out of line: what happens when nothing is left. */
bool budget_renew(struct budget *budget);

/* Ends it, whatever is left. */
static inline void budget_exhaust(struct budget *budget)
{
    budget->left = 0;
    budget->exhausted = true;
}

/* Whether work of so many steps may be begun: on a worker they have to be left, if need be after a
 * refill, or it is exhausted at once. That spares what would be thrown away. They are taken as the
 * work is done. */
static inline bool budget_allows(struct budget *budget, int64_t steps)
{
    if (steps <= budget->left || (budget->refill > 0 && !budget->is_short))
        return true;
    budget->left -= steps;
    bool is_renewed = budget_renew(budget);
    budget->left += is_renewed ? steps : 0;
    return is_renewed;
}

/* Takes steps; false when the query is to stop. */
static inline bool budget_take(struct budget *budget, int64_t steps)
{
    budget->left -= steps;
    return budget->left >= 0 || budget_renew(budget);
}

#endif
