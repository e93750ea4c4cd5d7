/* Where a placement is (Valet spec, 8.2): who keeps its capacity, and on which host. Any thread, on
 * a pinned version; the writer also on the one it makes. What is returned is the version's. */
#ifndef BERTH_VALET_STATE_PLACEMENT_LOCATION_H
#define BERTH_VALET_STATE_PLACEMENT_LOCATION_H

#include "replica/valet.h"

/* Whether a consumer of that project counts as a server of the plan (NULL: none does). What
 * somebody else's server does would tell the plan's project of it, so that its own count only, and
 * any project's in a plan that knows ids from those alone who see all projects. */
bool placement_takes_server(const struct valet_plan *plan, struct slice project);

/* The consumer of that id (valet_id_equal) that holds anything and is of the project (data == NULL:
 * of any); NULL: there is none, or id.data is NULL. Holds are no servers. */
const struct consumer *placement_server_of(const struct version *version, struct slice project,
                                           struct slice id);

/* The same of what counts as a server of the plan. */
const struct consumer *placement_server_by(const struct version *version,
                                           const struct valet_plan *plan, struct slice id);

/* The placement's plan; NULL: it is gone, as only a damaged file has it. */
const struct valet_plan *placement_plan(const struct version *version,
                                        const struct valet_placement *placement);

/* The consumer that keeps the placement's capacity; NULL: none does, or it holds nothing. */
const struct consumer *placement_hold(const struct version *version,
                                      const struct valet_placement *placement);

/* The real server: that of the placement's resource_id, else of its orchestration_id; NULL: there
 * is none. The plan is the placement's, as it is or as it is to be. */
const struct consumer *placement_server(const struct version *version,
                                        const struct valet_placement *placement,
                                        const struct valet_plan *plan);

/* Whether the consumer keeps capacity for a placement, by its type. */
bool consumer_is_hold(const struct version *version, const struct consumer *consumer);

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
