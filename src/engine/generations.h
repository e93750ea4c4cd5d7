/* Providers' generations: the engine raises that of each provider that a request changes, by one,
 * once, whatever planner wrote it and whatever follows from it. Writer thread only. */
#ifndef BERTH_ENGINE_GENERATIONS_H
#define BERTH_ENGINE_GENERATIONS_H

#include "engine/effects.h"
#include "engine/plan.h"

/* A planner's word about one provider, for where the Placement API wants something else than "by
 * one if inventories, traits, aggregates or allocations of it change". */
struct generation_word {
    const struct provider *provider;
    unsigned steps; /* 0: not raised */
    struct generation_word *next;
};

/* The request raises the provider's generation by so many, whatever it changes (0: not at all; then
 * only what follows from the request raises it). A later word takes the place of an earlier one. */
void generation_set_steps(const struct plan *plan, const struct provider *provider, unsigned steps);

/* Appends the changes that raise the generations of the providers that the planned changes touch.
 */
void generations_append(struct effects *effects, const struct plan *plan);

/* The same for those that what follows touches, whose providers have been added to the effects, and
 * whose generations the request has not raised yet. */
void generations_append_following(struct effects *effects, const struct plan *plan);

#endif
