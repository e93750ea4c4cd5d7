/* The only implementation of the capacity rule. Pure; any thread. */
#include "model/capacity.h"

#include <math.h>

#define CAPACITY_BOUND ((int64_t)1 << 62)

int64_t capacity_of(const struct inventory_figures *figures)
{
    double whole = ((double)figures->total - (double)figures->reserved) * figures->allocation_ratio;
    if (whole >= (double)CAPACITY_BOUND)
        return CAPACITY_BOUND;
    if (whole <= (double)-CAPACITY_BOUND)
        return -CAPACITY_BOUND;
    if (isnan(whole)) /* zero times infinity, in a row that another program wrote */
        return 0;
    return (int64_t)whole;
}

bool capacity_unit_fits(const struct inventory_figures *figures, int64_t amount)
{
    return amount >= figures->min_unit && amount <= figures->max_unit &&
           (figures->step_size <= 1 || amount % figures->step_size == 0);
}

int32_t capacity_headroom(const struct inventory_figures *figures, int64_t used)
{
    int64_t room = capacity_of(figures) - used;
    if (room > figures->max_unit)
        room = figures->max_unit;
    return room > 0 ? (int32_t)room : 0;
}
