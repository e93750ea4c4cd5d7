/* What a node is in Placement (baremetal-allocations spec, 13). These functions change nothing. The
 * arena is for temporary memory. */
#ifndef BERTH_BAREMETAL_WRITE_NODE_PROVIDER_H
#define BERTH_BAREMETAL_WRITE_NODE_PROVIDER_H

#include "baremetal/write/metal.h"
#include "base/arena.h"
#include "base/err.h"
#include "engine/rules.h"
#include "model/capacity.h"
#include "model/node.h"
#include "replica/nodes.h"
#include "replica/version.h"

/* The name of the resource class for a node's, derived as nova does: CUSTOM_ and the text in upper
 * case, with one underscore for each run of characters that are not ASCII letters or digits. In the
 * arena; data == NULL: the node has none. */
struct slice node_class_name(struct slice resource_class, struct arena *arena);

/* Whether two of these names are equal, or both missing. */
bool node_class_same(struct slice a, struct slice b);

/* The node's one inventory according to its row (C2). */
struct inventory_figures node_figures(const struct node *node);

bool node_figures_equal(const struct inventory_figures *a, const struct inventory_figures *b);

/* The node that owns the provider (C7), or NULL. */
const struct node *node_of_provider(const struct version *version, const struct provider *provider);

/* Its provider, or NULL. */
const struct provider *node_provider(const struct version *version, const struct node *node);

/* The name that the node's provider has or gets: the node's name if that option is on and the name
 * is valid and free, else its uuid; the current name, if the wanted one is in use. data == NULL:
 * there is no provider yet, and no name for it. */
struct slice node_provider_name(const struct version *version, const struct node *node,
                                const struct metal *metal);

/* Whether the provider of the node's uuid can be the node's: not if it has a parent and never was
 * the node's, or if its name would be in use (C1). Otherwise the node's row continues without a
 * mirror, and no allocation gets the node. False: err is set (409). */
bool node_can_be_provider(const struct version *version, const struct node *node,
                          const struct metal *metal, struct err *err) BERTH_MUST_CHECK;

/* Who is to have a node: the consumer of that uuid (data == NULL: none), which is to belong to that
 * project (data == NULL: no claim is made for it now). */
struct node_taker {
    struct slice uuid;
    struct slice project;
};

/* A consumer that holds anything in the provider's tree, except the taker, those that give way to
 * it by the rules of other products, and `nor` (NULL: none); NULL: there is none. */
const struct consumer *node_holder(const struct version *version, const struct rules *rules,
                                   const struct provider *provider, struct node_taker taker,
                                   const struct consumer *nor);

/* For an allocation: its own consumer. */
struct node_taker node_taker_of(const struct node_allocation *allocation,
                                const struct metal *metal);

/* Whether the consumer holds one of the node's class on the node, and nothing else. */
bool node_is_held_by(const struct version *version, const struct node *node,
                     const struct consumer *consumer, struct arena *arena);

/* Whether the allocation has been mirrored in Placement, and berth created its consumer. */
bool node_consumer_is_ours(const struct node_allocation *allocation);

/* The consumer that berth created for the active allocation, if it still holds the node; NULL:
 * there is none, or it existed before the allocation. */
const struct consumer *node_consumer_of(const struct version *version, const struct node *node,
                                        const struct node_allocation *allocation,
                                        struct arena *arena);

/* Whether the active allocation's consumer is missing and can be written. It is missing while the
 * node has no class, when the mirror is turned on, and after others have deleted it. It can be
 * written if no consumer but `leaves` (NULL: none), which is to be deleted, holds anything of the
 * node's class, or anything at all under that uuid. */
bool node_lacks_consumer(const struct version *version, const struct node *node,
                         const struct node_allocation *allocation, const struct consumer *leaves,
                         struct arena *arena);

/* Whether the active allocation, which was not mirrored because the mirror was off, finds its node
 * held by exactly its consumer, which it then adopts (C4). */
bool node_finds_consumer(const struct version *version, const struct node *node,
                         const struct node_allocation *allocation, struct arena *arena);

/* The node as it was last written to Placement: the row itself, unless the mirror was off since. In
 * the arena. */
const struct node *node_as_mirrored(const struct node *node, struct arena *arena);

/* The consumer that berth wrote for an allocation that was released while the mirror was off, if it
 * is still as berth wrote it; NULL: there is none. */
const struct consumer *node_consumer_left(const struct version *version, const struct node *node,
                                          struct arena *arena);

/* A consumer, other than `ours` (NULL: none) and the one left behind, with an allocation of the old
 * class of the node, as last written to Placement, or of the new class. NULL: there is none, or the
 * class stays. */
const struct consumer *node_class_other_consumer(const struct version *version,
                                                 const struct node *mirrored,
                                                 const struct node *node,
                                                 const struct consumer *ours, struct arena *arena);

/* 409: the node is held. Always false. */
bool node_refuse_associated(const struct node *node, struct slice instance, struct err *err);

/* 409: another row has this name or uuid. `what` is the beginning of the sentence, such as "A node
 * with name ". Always false. */
bool node_refuse_existing(struct slice what, struct slice text, struct err *err);

/* Whether Placement can be made to match the row. False: err is set (409). */
bool node_can_be_mirrored(const struct version *version, const struct node *node,
                          const struct metal *metal, struct arena *arena,
                          struct err *err) BERTH_MUST_CHECK;

/* Whether Placement matches the node's row: provider, inventory, traits, and the consumer of its
 * allocation; and nothing else that berth once wrote remains. */
bool node_is_mirrored(const struct version *version, const struct node *node, struct arena *arena);

#endif
