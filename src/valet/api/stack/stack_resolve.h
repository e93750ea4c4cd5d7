/* Whether what a stack names exists in a version: classes, traits, exclusivity groups (Valet spec,
 * 6.3 and 6.4). Any thread, on a pinned version. */
#ifndef BERTH_VALET_API_STACK_STACK_RESOLVE_H
#define BERTH_VALET_API_STACK_STACK_RESOLVE_H

#include "base/arena.h"
#include "base/err.h"
#include "model/stack.h"
#include "replica/version.h"

/* Fills in the uuids of groups, which the arena and the version own. False: a class or a trait is
 * unknown (`status_of_unknown`: 400 in a body, 409 in a plan that has been accepted), or 409: there
 * is no exclusivity group of a name, or the project is no member. */
bool stack_resolve(struct stack *stack, const struct version *version, struct slice project,
                   int status_of_unknown, struct arena *arena, struct err *err) BERTH_MUST_CHECK;

/* Fills in the uuids of those groups that are still there; of the others they are empty. */
void stack_resolve_known(struct stack *stack, const struct version *version, struct arena *arena);

#endif
