/* Determines the place of each provider of a load, a merge or a follow.
 *
 * A provider's root is derived from its chain of parents, so that trees are consistent whatever
 * root_provider_id contains (NULL in databases from before 2019); a broken chain ends in a root,
 * and a cycle in its provider with the smallest id. */
#ifndef BERTH_STORE_TREE_ORDER_H
#define BERTH_STORE_TREE_ORDER_H

#include "model/change.h"

struct tree_node;

/* Initialised with zeros: nothing read yet. */
struct tree_order {
    struct tree_node *nodes; /* by id */
    size_t count;
    size_t capacity;
};

/* Adds a visible provider; ids ascend. parent_id 0: none. */
void tree_order_add(struct tree_order *forest, int64_t id, int64_t parent_id);
/* All have been added: determines the places. */
void tree_order_end(struct tree_order *forest);
void tree_order_free(struct tree_order *forest);

/* Sets parent and root of a provider that was added. */
void tree_order_place(const struct tree_order *forest, struct change_provider *provider);

/* The number of its ancestors. */
uint32_t tree_order_depth(const struct tree_order *forest, int64_t id);

#endif
