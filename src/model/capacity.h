/* The capacity rule: how much of an inventory can be allocated. */
#ifndef BERTH_MODEL_CAPACITY_H
#define BERTH_MODEL_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>

/* The figures of one inventory (API reference, Resource provider inventories). */
struct inventory_figures {
    int32_t total;
    int32_t reserved;
    int32_t min_unit;
    int32_t max_unit;
    int32_t step_size;
    double allocation_ratio;
};

/* The whole part of (total - reserved) * allocation_ratio, rounded towards zero and limited to
 * +-2^62. Summaries show this value, and writes are checked against it (candidates spec, item
 * 15). */
int64_t capacity_of(const struct inventory_figures *figures);

/* Whether a single request for `amount` satisfies min_unit, max_unit and step_size. */
bool capacity_unit_fits(const struct inventory_figures *figures, int64_t amount);

/* The largest single amount that still fits, 0 if none: min(capacity - used, max_unit), as 32 bits.
 * `used` is within +-2^62. min_unit and step_size are not considered: see capacity_is_odd. */
int32_t capacity_headroom(const struct inventory_figures *figures, int64_t used);

/* Whether min_unit or step_size is not 1, so that the headroom alone does not decide. */
static inline bool capacity_is_odd(const struct inventory_figures *figures)
{
    return figures->min_unit != 1 || figures->step_size != 1;
}

#endif
