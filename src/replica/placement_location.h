/* Where a placement is (Valet spec, 8.2): who keeps its capacity, and on which host. Any thread, on
 * a pinned version; the writer also on the one it makes. What is returned is the version's. */
#ifndef BERTH_REPLICA_PLACEMENT_LOCATION_H
#define BERTH_REPLICA_PLACEMENT_LOCATION_H

#include "replica/valet.h"

/* The consumer of that uuid that holds anything; NULL: there is none, or uuid.data is NULL. */
const struct consumer *placement_consumer(const struct version *version, struct slice uuid);

/* The consumer that keeps the placement's capacity; NULL: none does, or it holds nothing. */
const struct consumer *placement_hold(const struct version *version,
                                      const struct valet_placement *placement);

/* The real server: the consumer of the placement's resource_id, else of its orchestration_id, that
 * holds anything; NULL: there is none. */
const struct consumer *placement_server(const struct version *version,
                                        const struct valet_placement *placement);

/* The host of a consumer that holds anything: the root of the provider that it has its VCPU of, if
 * it has none of its first provider by name. */
const struct provider *placement_host_of(const struct version *version,
                                         const struct consumer *consumer);

/* Whether the consumer holds anything in the tree of the host. */
bool placement_is_on(const struct version *version, const struct consumer *consumer,
                     const struct provider *host);

/* The host that the hold tells, else the server; NULL: nobody does. */
const struct provider *placement_host(const struct version *version,
                                      const struct valet_placement *placement);

/* What `location` shows: that host's name, else the last that is known. */
struct slice placement_location(const struct version *version,
                                const struct valet_placement *placement);

#endif
