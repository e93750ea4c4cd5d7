/* Generations of providers. The engine raises the generation of each provider that a request
 * changes by one, and only once, whichever planner wrote the changes and whatever consequences
 * follow. The writer only. */
#ifndef BERTH_ENGINE_GENERATIONS_H
#define BERTH_ENGINE_GENERATIONS_H

#include "engine/effects.h"
#include "engine/plan.h"

/* A planner's instruction for one provider, where the Placement API requires something other than
 * "by one if inventories, traits, aggregates or allocations of it change". */
struct generation_word {
    const struct provider *provider;
    unsigned steps; /* 0: not raised */
    struct generation_word *next;
};

/* Makes the request raise the provider's generation by `steps`, whatever it changes (0: not at all;
 * then only consequences of the request raise it). A later call replaces an earlier one. */
void generation_set_steps(const struct plan *plan, const struct provider *provider, unsigned steps);

/* Appends the changes that raise the generations of the providers that the planned changes
 * affect. */
void generations_append(struct effects *effects, const struct plan *plan);

/* The same for the providers that consequences affect. They must have been added to the effects;
 * providers whose generation the request has already raised are skipped. */
void generations_append_following(struct effects *effects, const struct plan *plan);

#endif
