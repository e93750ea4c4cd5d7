/* Iteration over the consumers that hold allocations of a provider, or of any provider of a
 * subtree. Any thread, on a pinned version; the writer also on the version it is making, as long as
 * it applies nothing to it meanwhile. */
#ifndef BERTH_REPLICA_PROVIDER_CONSUMERS_H
#define BERTH_REPLICA_PROVIDER_CONSUMERS_H

#include "replica/version.h"

/* A walk may pause between two consumers while its version stays pinned. */
struct provider_consumers {
    const struct version *version;
    struct ptree_iter iter;
    uint32_t provider; /* number of the current one */
    uint32_t slot;     /* [slot, end): the remaining slots */
    uint32_t end;
};

/* The consumers of one provider, each once, in the order of their ids. */
void provider_consumers_of(struct provider_consumers *walk, const struct version *version,
                           struct provider_no provider);

/* The consumers of the provider and of all its descendants. A consumer occurs once for each
 * provider of which it holds allocations. */
void provider_consumers_below(struct provider_consumers *walk, const struct version *version,
                              struct provider_no provider);

/* NULL: the end. */
const struct consumer *provider_consumers_next(struct provider_consumers *walk);

#endif
