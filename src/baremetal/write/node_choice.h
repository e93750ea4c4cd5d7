/* Chooses the node of an allocation (baremetal-allocations spec, 4 and C3). */
#ifndef BERTH_BAREMETAL_WRITE_NODE_CHOICE_H
#define BERTH_BAREMETAL_WRITE_NODE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/plan.h"
#include "model/node.h"
#include "model/node_allocation.h"

/* What an allocation remembers between its tries. Zeroed for the first try, which examines all
 * nodes; later ones examine the locked ones again or, if those were too many to remember, all
 * nodes. */
enum { NODE_CHOICE_LOCKED_MAX = 1024 };

struct node_choice {
    unsigned rounds;     /* tries so far */
    size_t locked_count; /* suitable nodes that were locked at the last try */
    int64_t *locked_ids; /* the first of them, in the order of the search; malloc'ed */
    size_t locked_capacity;
};

void node_choice_free(struct node_choice *choice);

/* The node to take; NULL: none now. Then the choice has those that are only locked, or *reason (in
 * the plan's arena) says why there is none. The writer only. */
const struct node *node_choose(const struct node_allocation *allocation, struct node_choice *choice,
                               const struct plan *plan, struct slice *reason);

#endif
