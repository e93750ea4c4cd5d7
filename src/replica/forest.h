/* The positions of providers: trees are contiguous slot ranges in pre-order. Everything indexed by
 * slot (columns, slot sets of traits and aggregates) is kept consistent with them. Writer only. */
#ifndef BERTH_REPLICA_FOREST_H
#define BERTH_REPLICA_FOREST_H

#include "replica/edit.h"

/* Inserts a new provider (the edit owns its row, in which parent and no are set) as its parent's
 * last child, or as a new tree. Sets its root. */
void forest_insert(struct edit *edit, struct provider *provider);

/* Removes a provider without children; the caller drops its row. */
void forest_remove(struct edit *edit, struct provider_no no);

/* Moves a provider with its subtree below another parent (NUMBER_NONE: makes it a root), and sets
 * the roots and the provider's parent in the rows. The new parent must not be in the subtree. */
void forest_move(struct edit *edit, struct provider_no no, struct provider_no parent);

/* The work of an insert, a removal and a move: FOREST_WORK_OF_PLACE for each provider whose slot
 * changes, plus one for each of its inventories, traits and aggregates. Any thread, on a pinned
 * version. */
enum { FOREST_WORK_OF_PLACE = 8 };
uint64_t forest_insert_work(const struct version *version, struct provider_no parent);
uint64_t forest_remove_work(const struct version *version, struct provider_no no);
uint64_t forest_move_work(const struct version *version, struct provider_no no,
                          struct provider_no parent);

/* Lays out a whole database at once: rows may be in any order; parents are given by number; roots
 * are set here. A cycle of parents, which another program may have left, is broken. */
void forest_layout(struct edit *edit, struct provider **providers, uint32_t count);

/* Writes one inventory's headroom to its column after its figures or its used amount have
 * changed, and notes whether it is over its capacity. */
void forest_refresh(struct edit *edit, const struct provider *provider,
                    const struct provider_inventory *inventory);

/* Removes the provider from every column and slot set that its row refers to, and from those that
 * are over their capacity; the row stays. */
void forest_clear_contents(struct edit *edit, struct provider_no no);

/* The same, for the column of a class of which it has no inventory any more. */
void forest_clear_class(struct edit *edit, struct provider_no no, struct class_no class_no);

#endif
