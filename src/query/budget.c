/* Refills or ends a budget that is used up. Any thread, one budget at a time, and its parts. */
#include "query/budget.h"

#include <stddef.h>

enum { PART_REFILL = 1000 };

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

static bool goes_on(struct budget *budget);

/* Takes steps for a part. False: they are not available; a worker's budget is not exhausted by
 * that. */
static bool lend(struct budget *whole, int64_t steps)
{
    if (whole->exhausted)
        return false;
    if (whole->refill > 0 && !whole->is_short)
        return budget_take(whole, steps);
    if (steps > whole->left && !goes_on(whole))
        return false;
    if (steps > whole->left)
        return false;
    whole->left -= steps;
    return true;
}

/* Refills a part, and pays for steps taken beyond its limit. */
static bool draw(struct budget *part)
{
    int64_t steps = part->refill - part->left;
    if (steps > part->spare)
        steps = part->spare;
    if (part->left + steps <= 0 || !lend(part->whole, steps))
        return false;
    part->spare -= steps;
    part->left += steps;
    return true;
}

static bool goes_on(struct budget *budget)
{
    if (budget->whole != NULL)
        return draw(budget);
    return budget->refill > 0 && (budget->cancelled == NULL || !budget->cancelled(budget->cls)) &&
           refill(budget);
}

bool budget_renew(struct budget *budget)
{
    if (budget->exhausted)
        return false;
    budget->exhausted = !goes_on(budget);
    return !budget->exhausted;
}

struct budget budget_begin_part(struct budget *whole, int64_t most)
{
    return (struct budget){.refill = PART_REFILL, .is_short = true, .spare = most, .whole = whole};
}

void budget_end_part(struct budget *part)
{
    struct budget *whole = part->whole;
    whole->left += part->left;
    part->left = 0;
    if (whole->left < 0 && !whole->exhausted && (whole->is_short || whole->refill == 0))
        whole->left = 0;
}
