/* All hosts of a version at once: racks, zones, claims, and which are in use (Valet spec, 8). For a
 * single host, see valet/state/hosts.h. Any thread, on a pinned version. */
#ifndef BERTH_VALET_SOLVE_HOSTS_H
#define BERTH_VALET_SOLVE_HOSTS_H

#include "valet/solve/bits.h"
#include "valet/state/hosts.h"

/* In place of a rack's number. */
#define HOSTS_NO_RACK    0xffffffffu
#define HOSTS_MANY_RACKS 0xfffffffeu

/* A rack or a zone. */
struct hosts_mark {
    const struct provider *provider;
    uint32_t *hosts; /* ascending; including hosts that are also in others */
    uint32_t host_count;
};

/* Which groups claim a host. */
struct hosts_claim {
    const struct valet_group *group; /* NULL: none; else one of them */
    bool several;
};

/* Hosts are numbered in the order of their names, racks too. Sets have one bit for each host. */
struct hosts {
    uint32_t count;
    uint32_t words;      /* of a set */
    uint32_t tree_count; /* of hosts and others */
    const struct provider **providers;
    uint32_t *slots;   /* of the roots */
    uint32_t *of_slot; /* a root's slot -> host; BITS_NONE: not a host, or not a root */
    uint32_t *racks;   /* or HOSTS_NO_RACK, HOSTS_MANY_RACKS */
    struct hosts_mark *rack;
    uint32_t rack_count;
    struct hosts_mark *zone;
    uint32_t zone_count;
    uint64_t *zoned; /* in any zone */
    uint64_t *disabled;
    uint64_t *used;             /* something is allocated on its tree */
    struct hosts_claim *claims; /* NULL: there are none */
};

/* In the arena. */
struct hosts hosts_read(const struct version *version, struct arena *arena);

/* The host of that name, or BITS_NONE. */
uint32_t hosts_find(const struct hosts *hosts, struct slice name);

/* The number of the host that this provider is, or BITS_NONE. */
uint32_t hosts_index(const struct version *version, const struct hosts *hosts,
                     const struct provider *provider);

#endif
