/* Determines the place of each provider in a load.
 *
 * A provider's root is derived from its chain of parents, so that trees are consistent whatever
 * root_provider_id contains (NULL in databases from before 2019); a broken chain ends in a root. */
#ifndef BERTH_STORE_SQLITE_TREE_ORDER_H
#define BERTH_STORE_SQLITE_TREE_ORDER_H

#include "store/sqlite/internal.h"

struct tree_node;

/* Initialised with zeros: nothing read yet. */
struct tree_order {
    struct tree_node *nodes; /* by id */
    size_t count;
    size_t capacity;
};

/* Reads all providers that are visible. */
bool tree_order_read(struct tree_order *forest, struct store *store,
                     struct err *err) BERTH_MUST_CHECK;
void tree_order_free(struct tree_order *forest);

/* Sets parent and root of a provider that was read. */
void tree_order_place(const struct tree_order *forest, struct change_provider *provider);

/* The number of its ancestors. */
uint32_t tree_order_depth(const struct tree_order *forest, int64_t id);

/* load.c: streams all rows, with each provider in its place; next_ids are then those of the
 * database. */
bool store_stream(struct store *store, struct tree_order *forest, store_sink *sink, void *cls,
                  struct err *err) BERTH_MUST_CHECK;

#endif
