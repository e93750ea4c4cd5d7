/* What several products append of a provider. Nothing is checked here. Writer thread only. */
#ifndef BERTH_ENGINE_PROVIDER_CHANGES_H
#define BERTH_ENGINE_PROVIDER_CHANGES_H

#include "engine/plan.h"
#include "model/capacity.h"

/* The provider gets an inventory of the class, or (not `is_new`) other figures of the one it has.
 */
void provider_put_inventory(const struct plan *plan, bool is_new, int64_t provider_id,
                            int64_t class_id, const struct inventory_figures *figures);

/* It goes, with its inventories, traits and aggregates. */
void provider_append_delete(const struct provider *provider, const struct plan *plan);

#endif
