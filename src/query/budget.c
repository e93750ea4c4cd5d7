/* Refills or ends a budget that is used up. Any thread, one budget at a time. */
#include "query/budget.h"

#include <stddef.h>

/* On a worker, a refill also pays for steps taken beyond the limit: no work of any size is begun on
 * credit. */
static bool refill(struct budget *budget)
{
    if (!budget->is_short) {
        budget->left = budget->refill;
        return true;
    }
    if (budget->spare < budget->refill)
        return false;
    budget->spare -= budget->refill;
    budget->left += budget->refill;
    return budget->left >= 0;
}

bool budget_renew(struct budget *budget)
{
    if (budget->exhausted)
        return false;
    bool goes_on = budget->refill > 0 &&
                   (budget->cancelled == NULL || !budget->cancelled(budget->cls)) && refill(budget);
    budget->exhausted = !goes_on;
    return goes_on;
}
