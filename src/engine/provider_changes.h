/* Changes of providers that several products append. Nothing is checked here. The writer only.
 */
#ifndef BERTH_ENGINE_PROVIDER_CHANGES_H
#define BERTH_ENGINE_PROVIDER_CHANGES_H

#include "engine/plan.h"
#include "model/capacity.h"

/* Gives the provider an inventory of the class, or (if not `is_new`) replaces the figures of the
 * existing one. */
void provider_put_inventory(const struct plan *plan, bool is_new, int64_t provider_id,
                            int64_t class_id, const struct inventory_figures *figures);

/* Deletes the provider with its inventories, traits and aggregates. */
void provider_append_delete(const struct provider *provider, const struct plan *plan);

#endif
