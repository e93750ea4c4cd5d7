/* Whether the classes, traits and exclusivity groups that a stack names exist in a version (Valet
 * spec, 6.3 and 6.4). Any thread, on a pinned version. */
#ifndef BERTH_VALET_API_STACK_STACK_RESOLVE_H
#define BERTH_VALET_API_STACK_STACK_RESOLVE_H

#include "base/arena.h"
#include "base/err.h"
#include "model/stack.h"
#include "replica/version.h"

/* Fills in the uuids of groups, which the arena and the version own. False: a class or a trait is
 * unknown (`status_of_unknown`: 400 for a body, 409 for an accepted plan), or 409: no exclusivity
 * group has a name, or the project is not a member. */
bool stack_resolve(struct stack *stack, const struct version *version, struct slice project,
                   int status_of_unknown, struct arena *arena, struct err *err) BERTH_MUST_CHECK;

/* Fills in the uuids of the groups that still exist; those of the others are empty. */
void stack_resolve_known(struct stack *stack, const struct version *version, struct arena *arena);

#endif
