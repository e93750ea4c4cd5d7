/* The end of a budget. Any thread, one budget at a time. */
#include "query/budget.h"

#include <stddef.h>

bool budget_renew(struct budget *budget)
{
    if (budget->exhausted)
        return false;
    if (budget->refill > 0 && (budget->cancelled == NULL || !budget->cancelled(budget->cls))) {
        budget->left = budget->refill;
        return true;
    }
    budget->exhausted = true;
    return false;
}
