/* Shared by forest.c (one tree at a time) and forest_layout.c (all at once). */
#ifndef BERTH_REPLICA_FOREST_INTERNAL_H
#define BERTH_REPLICA_FOREST_INTERNAL_H

#include "replica/forest.h"

/* One provider of a tree that is being written, in pre-order; the `end` of its subtree is relative
 * to the tree's first provider. */
struct branch {
    const struct provider *provider;
    uint32_t end;
};

/* Allocates a range for a tree of n providers without slots, and writes them to it. */
void forest_create_tree(struct edit *edit, const struct branch *branches, uint32_t n);

#endif
