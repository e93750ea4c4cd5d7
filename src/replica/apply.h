/* Applies changes, which turns a version into the next one. */
#ifndef BERTH_REPLICA_APPLY_H
#define BERTH_REPLICA_APPLY_H

#include "model/change.h"
#include "replica/edit.h"

/* Sets is_new and keeps_names of a put of a planned row, by what the version has of it; other
 * changes stay as they are. */
void apply_describe_put(const struct version *version, struct change *change);

/* Applies one change, and updates everything derived from it (columns, slot sets, sums). The change
 * may refer only to rows that exist (or that come with a load); anything else is a programmer error
 * in the planner or the store. */
void apply_change(struct edit *edit, const struct change *change);

/* Ends a run of changes: applies what was held back to be applied together. Call it before reading
 * the edit's version and before publishing it. */
void apply_flush(struct edit *edit);

static inline void apply_changes(struct edit *edit, const struct change_list *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        apply_change(edit, &changes->items[i]);
    apply_flush(edit);
}

#endif
