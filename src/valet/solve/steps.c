/* The cost of a search: steps, which are counted, and looks, of which a fixed number make one step
 * and are taken from the budget. Any thread. */
#include "valet/solve/search.h"

bool search_goes_on(struct search *search)
{
    struct solver *solver = search->solver;
    int64_t limit = solver->request->step_limit;
    int64_t looks = search->looks - search->looks_paid;
    if (search->end != SEARCH_FOUND)
        return false;
    search->looks_paid = search->looks;
    search->steps = search->tries + search->looks / SEARCH_STEP_LOOKS;
    if (search->steps > limit)
        search->end = SEARCH_LIMIT;
    else if (!budget_take(solver->budget, looks))
        search->end = SEARCH_EXPENSIVE;
    search->steps = search->steps > limit ? limit : search->steps;
    return search->end == SEARCH_FOUND;
}
