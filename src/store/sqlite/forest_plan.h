/* Where each provider belongs, in a load.
 *
 * A provider's root is taken from its chain of parents, so that trees are whole whatever
 * root_provider_id says (NULL in databases from before 2019); a broken chain ends in a root. */
#ifndef BERTH_STORE_SQLITE_FOREST_PLAN_H
#define BERTH_STORE_SQLITE_FOREST_PLAN_H

#include "store/sqlite/internal.h"

struct tree_node;

/* All zero: nothing read yet. */
struct forest_plan {
    struct tree_node *nodes; /* by id */
    size_t count;
    size_t capacity;
};

/* Reads all providers that are visible. */
bool forest_plan_read(struct forest_plan *forest, struct store *store,
                      struct err *err) BERTH_MUST_CHECK;
void forest_plan_free(struct forest_plan *forest);

/* Sets parent and root of a provider that was read. */
void forest_plan_place(const struct forest_plan *forest, struct change_provider *provider);

/* How many are above it. */
uint32_t forest_plan_depth(const struct forest_plan *forest, int64_t id);

/* load.c: streams all rows, and places their providers; next_ids are then those of the database. */
bool store_stream(struct store *store, struct forest_plan *forest, store_sink *sink, void *cls,
                  struct err *err) BERTH_MUST_CHECK;

#endif
