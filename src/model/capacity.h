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

/* The whole part of (total - reserved) * allocation_ratio, towards zero, held within +-2^62: what
 * summaries show and what a write is checked against (candidates spec, item 15). */
int64_t capacity_of(const struct inventory_figures *figures);

/* Whether one request of `amount` obeys min_unit, max_unit and step_size. */
bool capacity_unit_fits(const struct inventory_figures *figures, int64_t amount);

/* The largest single amount that still fits, 0 if none: min(capacity - used, max_unit), as 32 bits;
 * `used` is within +-2^62.
 * min_unit and step_size are not in it: see capacity_is_odd. */
int32_t capacity_headroom(const struct inventory_figures *figures, int64_t used);

/* Whether min_unit or step_size are not 1, so that headroom alone does not decide. */
static inline bool capacity_is_odd(const struct inventory_figures *figures)
{
    return figures->min_unit != 1 || figures->step_size != 1;
}

#endif
