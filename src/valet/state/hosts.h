/* Providers as hosts, racks and zones, and the exclusivity groups that claim them (Valet spec, 8).
 * A host is the root of a tree of providers. These functions are about one host at a time; the
 * planner of stacks reads all at once (valet/solve/hosts.h). Any thread, on a pinned version; the
 * writer also on the version that it is creating. */
#ifndef BERTH_VALET_STATE_HOSTS_H
#define BERTH_VALET_STATE_HOSTS_H

#include "replica/valet.h"

/* The traits that mark providers: numbers in the catalog of traits; NUMBER_NONE: unknown, so no
 * provider has it. */
struct host_marks {
    uint32_t disabled; /* COMPUTE_STATUS_DISABLED */
    uint32_t shares;   /* MISC_SHARES_VIA_AGGREGATE */
    uint32_t rack;     /* CUSTOM_VALET_RACK */
    uint32_t zone;     /* CUSTOM_VALET_ZONE */
};

struct host_marks host_marks_of(const struct version *version);

/* Whether the provider shares its inventory with others, via aggregates. */
static inline bool host_shares(const struct host_marks *marks, const struct provider *provider)
{
    return marks->shares != NUMBER_NONE && name_set_has(provider->traits, marks->shares);
}

/* Whether the provider is a host: a root that neither shares nor marks a rack or zone. */
bool host_is(const struct host_marks *marks, const struct provider *provider);

/* Whether the provider represents a rack (mark: marks->rack) or a zone: it has the trait, no
 * inventory, and at least one aggregate that does not belong to a group. */
bool host_mark_stands(const struct version *version, const struct provider *provider,
                      uint32_t mark);

/* The group whose hosts are in the aggregate of that number, or NULL. */
const struct valet_group *host_group_of_aggregate(const struct version *version,
                                                  uint32_t aggregate);

/* The aggregate of the group's hosts; NULL: no provider has ever been in it. */
const struct catalog_row *host_aggregate_of(const struct version *version,
                                            const struct valet_group *group);

/* Whether the host is in the rack (mark: marks->rack) or zone: they share an aggregate that does
 * not belong to a group, and the provider represents a rack or zone. A host may be in several. */
bool host_is_under(const struct version *version, const struct host_marks *marks,
                   const struct provider *host, const struct provider *marker, uint32_t mark);

/* Steps through the racks (or zones) of a provider, each once; a provider that is not a host is in
 * none. It costs a lookup for each of its aggregates, however many hosts and racks there are. */
struct host_markers {
    const struct version *version;
    const struct host_marks *marks;
    const struct provider *host;
    uint32_t mark;
    uint32_t aggregate; /* which of the host's */
    uint32_t from;      /* number of a provider in it */
};
struct host_markers host_markers_of(const struct version *version, const struct host_marks *marks,
                                    const struct provider *host, uint32_t mark);
/* NULL: no more. */
const struct provider *host_markers_next(struct host_markers *markers);

/* The rack that the host is in; NULL: it is in none or, if *several, in more than one. */
const struct provider *host_rack(const struct version *version, const struct host_marks *marks,
                                 const struct provider *host, bool *several);

/* Steps through the hosts of a rack (or zone), each once, including those that are also in others.
 * A provider that does not represent a rack or zone has none. */
struct marker_hosts {
    const struct version *version;
    const struct host_marks *marks;
    const struct provider *marker;
    uint32_t aggregate; /* which of the marker's */
    uint32_t slot;
};
struct marker_hosts marker_hosts_of(const struct version *version, const struct host_marks *marks,
                                    const struct provider *marker, uint32_t mark);
/* NULL: no more. */
const struct provider *marker_hosts_next(struct marker_hosts *hosts);

/* Whether the group has claimed the rack of that uuid as a rack (8.3). */
bool host_rack_is_claimed(const struct version *version, struct slice rack, int64_t group_id);

/* The group that claims the host: by its aggregates, or through a claim of a rack that it is in
 * (8.3). A provider that is not a host is unclaimed. */
struct host_claim {
    const struct valet_group *group; /* NULL: none; else the first of them */
    bool several;
};
struct host_claim host_claim_of(const struct version *version, const struct provider *host);

/* The group that claims the host and of which the project is not a member, so that the project may
 * not hold more on it; NULL: it may. If `marks` is NULL, they are looked up when needed. */
const struct valet_group *host_refuses(const struct version *version,
                                       const struct host_marks *marks, const struct provider *host,
                                       struct slice project);

/* Whether nothing is allocated on the tree of the host. */
bool host_is_empty(const struct version *version, const struct provider *host);

/* Whether a consumer of a project that is not a member of the group holds anything on it (8.3). */
bool host_has_non_member(const struct version *version, const struct provider *host,
                         const struct valet_group *group);

/* Visits the consumers that hold anything on the host's tree, once for each provider, until a visit
 * returns false; then it returns false too. */
typedef bool host_visit_consumer(void *cls, const struct consumer *consumer);
bool host_visit_consumers(const struct version *version, const struct provider *host,
                          host_visit_consumer *visit, void *cls);

#endif
