/* Walks over the consumers that hold allocations of a provider, or of any provider of a subtree.
 * Any thread, on a pinned version; the writer also on the one it makes, as long as nothing is
 * applied to it meanwhile. */
#ifndef BERTH_REPLICA_PROVIDER_CONSUMERS_H
#define BERTH_REPLICA_PROVIDER_CONSUMERS_H

#include "replica/version.h"

/* A walk may pause between two consumers as long as its version stays pinned. */
struct provider_consumers {
    const struct version *version;
    struct ptree_iter iter;
    uint32_t provider; /* number of the current one */
    uint32_t slot;     /* [slot, end): the slots that are still to come */
    uint32_t end;
};

/* The consumers of one provider, each once, in the order of their ids. */
void provider_consumers_of(struct provider_consumers *walk, const struct version *version,
                           struct provider_no provider);

/* The consumers of the provider and of everything below it, each once for each provider that it
 * holds something of. */
void provider_consumers_below(struct provider_consumers *walk, const struct version *version,
                              struct provider_no provider);

/* NULL: no more. */
const struct consumer *provider_consumers_next(struct provider_consumers *walk);

#endif
