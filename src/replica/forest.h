/* Where providers stand: trees as contiguous slot ranges in pre-order, and everything that repeats
 * a provider by slot (columns, slot sets of traits and aggregates), kept in step. Writer only. */
#ifndef BERTH_REPLICA_FOREST_H
#define BERTH_REPLICA_FOREST_H

#include "replica/edit.h"

/* Puts a new provider (its row owned by the edit, parent and no set) below its parent, as the last
 * child, or as a new tree. Its root is set. */
void forest_insert(struct edit *edit, struct provider *provider);

/* Takes a provider without children out; its row is dropped by the caller. */
void forest_remove(struct edit *edit, struct provider_no no);

/* Moves a provider with its subtree below another parent (NUMBER_NONE: makes it a root); the roots
 * and the provider's parent in the rows are set. The new parent is not in the subtree. */
void forest_move(struct edit *edit, struct provider_no no, struct provider_no parent);

/* How much an insert, a removal and a move rewrite: for each provider that gets another place
 * FOREST_WORK_OF_PLACE, plus one for each of its inventories, traits and aggregates. Any thread, on
 * a pinned version. */
enum { FOREST_WORK_OF_PLACE = 8 };
uint64_t forest_insert_work(const struct version *version, struct provider_no parent);
uint64_t forest_remove_work(const struct version *version, struct provider_no no);
uint64_t forest_move_work(const struct version *version, struct provider_no no,
                          struct provider_no parent);

/* Lays out a whole database at once: rows in any order, parents known by number, roots set here. A
 * ring of parents, which another program may have left, is cut. */
void forest_layout(struct edit *edit, struct provider **providers, uint32_t count);

/* Puts one inventory's headroom into its column after its figures or use changed. */
void forest_refresh(struct edit *edit, const struct provider *provider,
                    const struct provider_inventory *inventory);

/* Takes the provider out of every column and slot set that its row names; the row stays. */
void forest_clear_contents(struct edit *edit, struct provider_no no);

/* Takes the provider out of the column of a class it has no inventory of any more. */
void forest_clear_class(struct edit *edit, struct provider_no no, struct class_no class_no);

#endif
