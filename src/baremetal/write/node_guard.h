/* What Placement's writers may not alter of a bare metal node (baremetal-allocations spec, C7).
 * Each answers false with err set: 409, a text that ends with "is managed by bare metal node N".
 * Equal values pass, and so does everything on a provider that is no node's. */
#ifndef BERTH_BAREMETAL_WRITE_NODE_GUARD_H
#define BERTH_BAREMETAL_WRITE_NODE_GUARD_H

#include "engine/claim.h"
#include "engine/pipeline.h"
#include "model/capacity.h"

/* Its name, its place as a root, and that it is there. */
bool node_guard_provider(const struct provider *provider, const struct plan *plan,
                         struct err *err) BERTH_MUST_CHECK;

/* The inventory of that class becomes those figures; NULL: it goes. */
bool node_guard_inventory(const struct provider *provider, uint32_t class_number,
                          const struct inventory_figures *figures, const struct plan *plan,
                          struct err *err) BERTH_MUST_CHECK;

/* The provider's traits become those; indexed by the traits' numbers. */
bool node_guard_traits(const struct provider *provider, const bool *wanted, const struct plan *plan,
                       struct err *err) BERTH_MUST_CHECK;

/* The consumer's allocations become the claim's. */
bool node_guard_claim(const struct claim *claim, const struct plan *plan,
                      struct err *err) BERTH_MUST_CHECK;

/* The consumer goes. */
bool node_guard_consumer(struct slice uuid, const struct plan *plan,
                         struct err *err) BERTH_MUST_CHECK;

/* The resource class gets another name. */
bool node_guard_class(const struct catalog_row *class_row, const struct plan *plan,
                      struct err *err) BERTH_MUST_CHECK;

#endif
