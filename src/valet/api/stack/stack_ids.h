/* Ids of the servers of one stack. Pure; any thread. */
#ifndef BERTH_VALET_API_STACK_STACK_IDS_H
#define BERTH_VALET_API_STACK_STACK_IDS_H

#include "base/arena.h"
#include "base/err.h"
#include "model/stack.h"

/* Whether no two servers have the same orchestration id in different forms (valet_id_equal). False:
 * 400 "Valet error: …". Linear in the number of servers. */
bool stack_ids_differ(const struct stack *stack, struct arena *arena,
                      struct err *err) BERTH_MUST_CHECK;

#endif
