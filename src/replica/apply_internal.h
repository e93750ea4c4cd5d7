/* Shared by apply.c and the other apply_ files. */
#ifndef BERTH_REPLICA_APPLY_INTERNAL_H
#define BERTH_REPLICA_APPLY_INTERNAL_H

#include "model/change.h"
#include "replica/edit.h"

/* The number of the row with that database id, which must exist. */
struct provider_no apply_provider_no(const struct edit *edit, int64_t id);
struct class_no apply_class_no(const struct edit *edit, int64_t id);

/* updated_at, or created_at where that is NULL. Last-Modified is derived from it (placement spec,
 * Cache headers). */
int64_t apply_modified_at(const struct change *change);

/* Gives an owned provider a new set of traits or aggregates, by their catalog numbers (sorted in
 * place). The slot sets are not changed. */
void apply_links_set(struct edit *edit, struct provider *provider, bool is_traits,
                     uint32_t *numbers, uint32_t count);

/* The kinds of change that each file handles; any other kind is a programmer error. */
void apply_links_flush(struct edit *edit); /* does the work of apply_flush */
void apply_link_change(struct edit *edit, const struct change *change);
void apply_consumer_change(struct edit *edit, const struct change *change);
void apply_node_change(struct edit *edit, const struct change *change);
void apply_valet_change(struct edit *edit, const struct change *change);

#endif
