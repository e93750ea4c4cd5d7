/* Rows of nodes and of their allocations, and Placement's tables about them, as they are after a
 * request: its effects applied to the version before it. The writer only. */
#ifndef BERTH_BAREMETAL_WRITE_NODE_AFTER_H
#define BERTH_BAREMETAL_WRITE_NODE_AFTER_H

#include "engine/effects.h"
#include "model/node.h"
#include "model/node_allocation.h"

/* NULL: it does not exist any more. */
const struct node *node_after(const struct effects *effects, int64_t id);
const struct node_allocation *node_allocation_after(const struct effects *effects,
                                                    struct slice uuid);

/* The node that has that provider, or NULL. */
const struct node *node_owner_after(const struct effects *effects, const struct provider *provider);

/* The provider of that uuid, with the request's effects on it. False: there is none. */
bool node_provider_after(const struct effects *effects, struct slice uuid,
                         struct effect_provider *provider) BERTH_MUST_CHECK;

/* Its name. */
struct slice node_provider_name_after(const struct effect_provider *provider);

/* Its inventory of the class. False: it has none. */
bool node_stock_after(const struct effects *effects, const struct effect_provider *provider,
                      struct slice class_name, struct inventory_figures *figures) BERTH_MUST_CHECK;

/* Whether it has the trait. */
bool node_trait_after(const struct effects *effects, const struct effect_provider *provider,
                      struct slice trait);

/* NULL: the request does not affect the consumer of that uuid. */
const struct effect_consumer *node_consumer_effect(const struct effects *effects,
                                                   struct slice uuid);

/* Whether the consumer, which the request affects, holds one of the node's class on the node, and
 * nothing else. */
bool node_holds_after(const struct effects *effects, const struct effect_consumer *consumer,
                      const struct node *node);

#endif
