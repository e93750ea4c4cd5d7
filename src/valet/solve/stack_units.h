/* Derives units from a stack's groups and servers (units.h). Pure; any thread. */
#ifndef BERTH_VALET_SOLVE_STACK_UNITS_H
#define BERTH_VALET_SOLVE_STACK_UNITS_H

#include "valet/solve/solve.h"
#include "valet/solve/units.h"

/* In the arena. False: the groups contradict each other; *reason says how. */
bool units_of_stack(const struct stack *stack, const struct solve_pin *pins, struct arena *arena,
                    struct units *units, struct slice *reason);

#endif
