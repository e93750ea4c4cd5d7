/* What a node is in Placement (baremetal-allocations spec, 13): questions that change nothing. The
 * arena is for what they need meanwhile. */
#ifndef BERTH_WRITE_NODE_PROVIDER_H
#define BERTH_WRITE_NODE_PROVIDER_H

#include "base/arena.h"
#include "model/capacity.h"
#include "model/node.h"
#include "replica/nodes.h"
#include "replica/version.h"

/* The name of the resource class that stands for a node's, as nova makes it: CUSTOM_ and the text
 * in upper case, with one underscore for what is neither letter nor digit of ASCII. In the arena;
 * data == NULL: the node has none. */
struct slice node_class_name(struct slice resource_class, struct arena *arena);

/* Whether two of these names are the same, or both none. */
bool node_class_same(struct slice a, struct slice b);

/* The one inventory that a node's row says it has (C2). */
struct inventory_figures node_figures(const struct node *node);

bool node_figures_equal(const struct inventory_figures *a, const struct inventory_figures *b);

/* The node that owns the provider (C7), or NULL. */
const struct node *node_of_provider(const struct version *version, const struct provider *provider);

/* Its provider, or NULL. */
const struct provider *node_provider(const struct version *version, const struct node *node);

/* Whether the provider of the node's uuid cannot be the node's: it has a parent, and never was. The
 * node's row goes on without a mirror then, and nobody gets the node (C1). */
bool node_is_cut_off(const struct version *version, const struct node *node);

/* A consumer that holds anything in the provider's tree, but for the one of that uuid (data ==
 * NULL: but for none); NULL: nobody does. */
const struct consumer *node_holder(const struct version *version, const struct provider *provider,
                                   struct slice but_for);

/* Whether the consumer holds one of the node's class on the node, and nothing else. */
bool node_is_held_by(const struct version *version, const struct node *node,
                     const struct consumer *consumer, struct arena *arena);

/* The consumer that the active allocation brought, if it still holds the node; NULL: there is none,
 * or it was there before the allocation. */
const struct consumer *node_consumer_of(const struct version *version, const struct node *node,
                                        const struct node_allocation *allocation,
                                        struct arena *arena);

/* Whether the active allocation's consumer is missing, as it is while the node has no class and
 * when the mirror is turned on or others have deleted it, and can be written: nobody holds
 * anything of the node's class, or anything at all under that uuid. */
bool node_lacks_consumer(const struct version *version, const struct node *node,
                         const struct node_allocation *allocation, struct arena *arena);

/* Whether Placement already sees what the node's row says: provider, inventory, traits, and the
 * consumer of its allocation. */
bool node_is_mirrored(const struct version *version, const struct node *node, struct arena *arena);

#endif
