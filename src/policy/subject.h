/* The part of a generic check before the colon. */
#ifndef BERTH_POLICY_SUBJECT_H
#define BERTH_POLICY_SUBJECT_H

#include "base/arena.h"
#include "policy/policy.h"
#include "policy/tree.h"

/* Fills subject, below and literal of the node. oslo.policy evaluates it with Python: a literal is
 * its own value, an expression is looked up as a path of names among the credentials, and anything
 * that Python does not parse ends the request. Here literals are texts without escapes or prefix,
 * whole numbers, True, False and None; expressions are names, literals and binary operators, also
 * after `not`; anything else is POLICY_SUBJECT_FAULT. */
void policy_subject_parse(struct arena *arena, enum policy_service service, struct slice text,
                          struct policy_node *node);

#endif
