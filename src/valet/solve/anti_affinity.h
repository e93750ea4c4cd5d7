/* Sets of units, or of blocks, that diversity keeps apart (Valet spec, 7.2 and 9.1). Pure; any
 * thread. */
#ifndef BERTH_VALET_SOLVE_ANTI_AFFINITY_H
#define BERTH_VALET_SOLVE_ANTI_AFFINITY_H

#include "model/stack.h"
#include "valet/solve/units.h"

/* Fills in units.apart, the largest first, with the lists and sets of their members. `first`: for
 * each group, a server below it that is not absent, or UNITS_NONE. False: a group keeps apart what
 * affinity binds; *reason says so. */
bool anti_affinity_make(const struct stack *stack, const uint32_t *first, struct arena *arena,
                        struct units *units, struct slice *reason);

#endif
