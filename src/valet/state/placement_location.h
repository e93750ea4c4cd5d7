/* The location of a placement (Valet spec, 8.2): the consumer that keeps its capacity, and on which
 * host. Any thread, on a pinned version; the writer also on the version that it is creating.
 * Returned pointers are the version's. */
#ifndef BERTH_VALET_STATE_PLACEMENT_LOCATION_H
#define BERTH_VALET_STATE_PLACEMENT_LOCATION_H

#include "replica/valet.h"

/* Whether a consumer of that project counts as a server of the plan (NULL: no). Counting other
 * projects' servers would reveal their actions to the plan's project. Therefore only its own
 * servers count, except in a plan whose ids all come from callers that see all projects. */
bool placement_takes_server(const struct valet_plan *plan, struct slice project);

/* The consumer of that id (valet_id_equal) that holds anything and belongs to the project (data ==
 * NULL: to any); NULL: there is none, or id.data is NULL. Holds do not count as servers. */
const struct consumer *placement_server_of(const struct version *version, struct slice project,
                                           struct slice id);

/* The same for a consumer that counts as a server of the plan. */
const struct consumer *placement_server_by(const struct version *version,
                                           const struct valet_plan *plan, struct slice id);

/* The placement's plan; NULL: it does not exist, which happens only in a damaged file. */
const struct valet_plan *placement_plan(const struct version *version,
                                        const struct valet_placement *placement);

/* The consumer that keeps the placement's capacity; NULL: there is none, or it holds nothing. */
const struct consumer *placement_hold(const struct version *version,
                                      const struct valet_placement *placement);

/* The real server: that of the placement's resource_id, else of its orchestration_id; NULL: there
 * is none. The plan is the placement's, before or after the change. */
const struct consumer *placement_server(const struct version *version,
                                        const struct valet_placement *placement,
                                        const struct valet_plan *plan);

/* Whether the consumer keeps capacity for a placement, by its type. */
bool consumer_is_hold(const struct version *version, const struct consumer *consumer);

/* The host of a consumer that holds anything: the root of the provider of its VCPU or, without
 * VCPU, of its first provider by name. */
const struct provider *placement_host_of(const struct version *version,
                                         const struct consumer *consumer);

/* Whether the consumer holds anything in the tree of the host. */
bool placement_is_on(const struct version *version, const struct consumer *consumer,
                     const struct provider *host);

/* The host of the hold, else of the server; NULL: neither exists. */
const struct provider *placement_host(const struct version *version,
                                      const struct valet_placement *placement);

/* The value of `location`: that host's name, else the last known location. */
struct slice placement_location(const struct version *version,
                                const struct valet_placement *placement);

#endif
