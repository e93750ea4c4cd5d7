/* What the groups of a stack may list, wherever the stack comes from (Valet spec, 6.4): the rules
 * that need neither a cloud nor a project. Pure; any thread. */
#ifndef BERTH_VALET_API_STACK_STACK_SHAPE_H
#define BERTH_VALET_API_STACK_STACK_SHAPE_H

#include "base/arena.h"
#include "base/err.h"
#include "model/stack.h"

/* No cycles, no diversity or exclusivity group inside another one, no group inside one of a lower
 * level, no server in two exclusivity groups by their names, directly or through other groups.
 * False: 400 "Valet error: …". Every element must be within the stack. Linear in its size. */
bool stack_shape_check(const struct stack *stack, struct arena *arena,
                       struct err *err) BERTH_MUST_CHECK;

/* For a stack that passed: whether affinity of any level binds each server to that one, which is
 * bound to itself. One for each server, in the arena. */
const bool *stack_shape_bound(const struct stack *stack, uint32_t server, struct arena *arena);

#endif
