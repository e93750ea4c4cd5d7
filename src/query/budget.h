/* The amount of work that a query may do. A worker gives a query a budget; if the query exceeds it,
 * it runs again on the slow lane, where there is no limit but where it checks at intervals whether
 * its client is still connected.
 *
 * A step takes several times as long if its memory is not in the processor's caches. Therefore the
 * steps of a worker assume the worst case, and are refilled while the clock shows that little time
 * has passed. */
#ifndef BERTH_QUERY_BUDGET_H
#define BERTH_QUERY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
    int64_t left;                 /* steps; a step is about five nanoseconds */
    int64_t refill;               /* 0: none; otherwise `cancelled` is called and left starts
                                   * again */
    bool (*cancelled)(void *cls); /* used with refill; NULL: never */
    void *cls;
    bool exhausted;
    bool is_short;        /* on a worker: work that needs more steps than are left is not begun */
    int64_t spare;        /* on a worker, and of a part: the steps available for refills */
    struct budget *whole; /* of a part: what its refills are taken from */
};

/* Out of line: handles a budget with nothing left. */
bool budget_renew(struct budget *budget);

/* Ends the budget, whatever is left. */
static inline void budget_exhaust(struct budget *budget)
{
    budget->left = 0;
    budget->exhausted = true;
}

/* Whether work of that many steps may begin. On a worker they must be left, if necessary after a
 * refill; otherwise the budget is exhausted at once, which avoids work that would be discarded. The
 * steps are taken as the work is done. */
static inline bool budget_allows(struct budget *budget, int64_t steps)
{
    if (steps <= budget->left || (budget->refill > 0 && !budget->is_short))
        return true;
    budget->left -= steps;
    bool is_renewed = budget_renew(budget);
    budget->left += is_renewed ? steps : 0;
    return is_renewed;
}

/* Takes steps; false: the query must stop. */
static inline bool budget_take(struct budget *budget, int64_t steps)
{
    budget->left -= steps;
    return budget->left >= 0 || budget_renew(budget);
}

/* A part of a budget, for work that its request can do without: at most `most` steps. They are
 * taken from `whole` a few at a time, so that a request on the slow lane has its turns meanwhile.
 * If they are not available, only the part is exhausted: on a worker, `whole` keeps what it has
 * left. `whole` must not be used until budget_end_part(). */
struct budget budget_begin_part(struct budget *whole, int64_t most);

/* Returns what is left to `whole`, and charges it the work done beyond; a worker's request, or one
 * without refills, is not ended by that. */
void budget_end_part(struct budget *part);

#endif
