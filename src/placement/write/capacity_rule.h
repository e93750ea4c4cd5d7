/* Placement's row in the table of rules (engine/rules.h): no request raises the use of a class
 * above its capacity (ARCHITECTURE.md, invariant 8), or uses a name that belongs to a row which
 * could not be loaded. What other programs have made exceed a capacity is logged. */
#ifndef BERTH_PLACEMENT_WRITE_CAPACITY_RULE_H
#define BERTH_PLACEMENT_WRITE_CAPACITY_RULE_H

#include "engine/rules.h"

/* Its context is a struct over_capacity_log. */
extern const struct rule capacity_rule;

#endif
