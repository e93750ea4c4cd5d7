/* What a node is in Placement (baremetal-allocations spec, 13): questions that change nothing. The
 * arena is for what they need meanwhile. */
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

/* The name that the node's provider has or gets: the node's own if that is wanted, fits and is
 * free, else its uuid; what it has, if that is another one's name. data == NULL: there is no
 * provider yet, and no name for it. */
struct slice node_provider_name(const struct version *version, const struct node *node,
                                const struct metal *metal);

/* Whether the provider of the node's uuid can be the node's: not if it has a parent and never was,
 * or if its name would be another one's (C1). Without that the node's row goes on without a mirror,
 * and nobody gets the node. False: err is set (409). */
bool node_can_be_provider(const struct version *version, const struct node *node,
                          const struct metal *metal, struct err *err) BERTH_MUST_CHECK;

/* Who is to have a node: the consumer of that uuid (data == NULL: nobody), which is to be of that
 * project (data == NULL: nothing is claimed for it now). */
struct node_taker {
    struct slice uuid;
    struct slice project;
};

/* A consumer that holds anything in the provider's tree, but for the taker, those that give way to
 * it by the rules of other products, and `nor` (NULL: none); NULL: nobody does. */
const struct consumer *node_holder(const struct version *version, const struct rules *rules,
                                   const struct provider *provider, struct node_taker taker,
                                   const struct consumer *nor);

/* Of an allocation: its own consumer. */
struct node_taker node_taker_of(const struct node_allocation *allocation,
                                const struct metal *metal);

/* Whether the consumer holds one of the node's class on the node, and nothing else. */
bool node_is_held_by(const struct version *version, const struct node *node,
                     const struct consumer *consumer, struct arena *arena);

/* Whether Placement was told of the allocation, and its consumer is berth's. */
bool node_consumer_is_ours(const struct node_allocation *allocation);

/* The consumer that the active allocation brought, if it still holds the node; NULL: there is none,
 * or it was there before the allocation. */
const struct consumer *node_consumer_of(const struct version *version, const struct node *node,
                                        const struct node_allocation *allocation,
                                        struct arena *arena);

/* Whether the active allocation's consumer is missing, as it is while the node has no class and
 * when the mirror is turned on or others have deleted it, and can be written: nobody but `leaves`
 * (NULL: none), which goes, holds anything of the node's class, or anything at all under that uuid.
 */
bool node_lacks_consumer(const struct version *version, const struct node *node,
                         const struct node_allocation *allocation, const struct consumer *leaves,
                         struct arena *arena);

/* Whether the active allocation, of which Placement was not told while the mirror was off, has
 * found its node's one consumer there: it is adopted then (C4). */
bool node_finds_consumer(const struct version *version, const struct node *node,
                         const struct node_allocation *allocation, struct arena *arena);

/* The node as Placement was told of it last: the row itself, unless the mirror was off since. In
 * the arena. */
const struct node *node_as_told(const struct node *node, struct arena *arena);

/* The consumer that berth wrote for an allocation that went while the mirror was off, if it still
 * is what berth wrote; NULL: there is none. */
const struct consumer *node_consumer_left(const struct version *version, const struct node *node,
                                          struct arena *arena);

/* Who of others than `ours` (NULL: nobody) and the one that is left has allocated of the class that
 * goes when the node, as Placement was told of it, becomes the other row, or of the class that
 * comes then; NULL: nobody, or the class stays. */
const struct consumer *node_class_other_consumer(const struct version *version,
                                                 const struct node *told, const struct node *node,
                                                 const struct consumer *ours, struct arena *arena);

/* 409: somebody holds the node. Always false. */
bool node_refuse_associated(const struct node *node, struct slice instance, struct err *err);

/* 409: another row has this name or uuid. `what` is the beginning of the sentence, such as "A node
 * with name ". Always false. */
bool node_refuse_existing(struct slice what, struct slice text, struct err *err);

/* Whether Placement can come to see the row as it is. False: err is set (409). */
bool node_can_be_mirrored(const struct version *version, const struct node *node,
                          const struct metal *metal, struct arena *arena,
                          struct err *err) BERTH_MUST_CHECK;

/* Whether Placement already sees what the node's row says: provider, inventory, traits, and the
 * consumer of its allocation; and nothing more that berth once wrote. */
bool node_is_mirrored(const struct version *version, const struct node *node, struct arena *arena);

#endif
