/* Fleets of hosts with devices, and requests for one device per group: what a flavor with many
 * accelerators needs. */
#ifndef BERTH_TESTS_UNIT_QUERY_DEVICES_H
#define BERTH_TESTS_UNIT_QUERY_DEVICES_H

#include "query/ac_search.h"
#include "replica/replica.h"

/* How the groups differ from each other. */
enum devices_traits {
    DEVICES_ALIKE,      /* in nothing */
    DEVICES_TRAIT_EACH, /* by a trait that all devices have: as many kinds of groups as groups */
    DEVICES_TRAIT_MOD,  /* by one of four traits, of which device d has number d % 4 */
};

struct devices_fleet {
    struct arena *arena;
    struct replica *replica;
    const struct version *version;
};

struct devices_shape {
    unsigned hosts;
    unsigned devices; /* of a host; each is a provider below it */
    int32_t units;    /* of a device, and as many ports */
    bool one_used;    /* all of one device of each host */
    unsigned traits;  /* each device has that many, for DEVICES_TRAIT_EACH */
    unsigned better; /* this host, from 1, has one device more, and all are free; 0: no such host */
};

struct devices_fleet devices_create(const struct devices_shape *shape);
void devices_destroy(struct devices_fleet *fleet);

/* `groups` groups of `amount` devices each. In the arena; without a limit. */
struct ac_request devices_ask(struct arena *arena, unsigned groups, int64_t amount, bool isolate,
                              enum devices_traits traits);

#endif
