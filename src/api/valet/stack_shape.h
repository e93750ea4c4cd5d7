/* What the groups of a stack may list, whoever wrote it down (Valet spec, 6.4): the rules that need
 * neither a cloud nor a project. Pure; any thread. */
#ifndef BERTH_API_VALET_STACK_SHAPE_H
#define BERTH_API_VALET_STACK_SHAPE_H

#include "base/arena.h"
#include "base/err.h"
#include "model/stack.h"

/* No circles, no diversity or exclusivity group inside another one, none of a higher level inside
 * one of a lower, no server in two exclusivity groups by their names, however it gets into them.
 * False: 400 "Valet error: …". Every element is within the stack. Linear in its size. */
bool stack_shape_check(const struct stack *stack, struct arena *arena,
                       struct err *err) BERTH_MUST_CHECK;

/* The following are for stacks that passed. Answers are in the arena, one for each server. */

/* The exclusivity group that a server gets into, however that is; group NULL: none. */
struct stack_exclusivity {
    const struct stack_group *group; /* one of level rack, if there are some of both */
};
const struct stack_exclusivity *stack_shape_exclusivity(const struct stack *stack,
                                                        struct arena *arena);

/* Whether affinity of any level binds it to that server, which is bound to itself. */
const bool *stack_shape_bound(const struct stack *stack, uint32_t server, struct arena *arena);

#endif
