/* A version: the exact image of one committed state of the database. Immutable once published;
 * readers pin one (replica/replica.h) and read it with the functions here. */
#ifndef BERTH_REPLICA_VERSION_H
#define BERTH_REPLICA_VERSION_H

#include <stdbool.h>

#include "base/ptree.h"
#include "model/valet.h"
#include "replica/catalog.h"
#include "replica/column.h"
#include "replica/consumer.h"
#include "replica/provider.h"

/* A slot of the forest: trees are contiguous ranges in pre-order, so that the subtree of slot s is
 * [s, end). A dead slot has provider == NULL. */
struct place {
    const struct provider *provider;
    uint32_t end;
    uint32_t root; /* the slot of the tree's root */
};

/* The maximum number of slots, providers and classes with inventory: 16.7 million, 16.7 million,
 * one million (COW_LEAVES_MAX leaves of 1 << shift). More end the process (cow_array_own). */
static const struct cow_shape PLACE_SHAPE = {sizeof(struct place), 8};
static const struct cow_shape SLOT_OF_SHAPE = {sizeof(uint32_t), 8};
static const struct cow_shape COLUMN_SHAPE = {sizeof(struct column), 4};

/* Identifies a state of the database; opaque in this folder (store/store.h). */
struct version_stamp {
    unsigned char bytes[48];
};

/* The rows of one table of model/valet.h, and the trees in which their ids are found
 * (replica/valet_keys.h). */
enum { VALET_KEYS_MAX = 4 };
struct valet_rows {
    struct ptree rows;               /* (id, 0) -> struct record_row * */
    struct ptree by[VALET_KEYS_MAX]; /* (key, id) -> 0 */
};

struct version {
    struct cow_node node; /* birth: the version's number */
    uint64_t load;        /* number of the version, made from nothing, from which this one descends;
                           * all its nodes were born since then */
    struct version_stamp stamp;

    /* the forest */
    struct cow_array places;   /* slot -> struct place */
    struct cow_array slot_of;  /* provider number -> slot + 1, 0: none */
    uint32_t slot_limit;       /* all slots in use are below this */
    uint32_t provider_limit;   /* all provider numbers are below this */
    uint32_t nested_count;     /* providers that have a parent */
    struct ptree free_ranges;  /* (log2 size, first slot) -> 0 */
    struct ptree free_numbers; /* (provider number, 0) -> 0 */

    struct ptree provider_by_id;   /* (id, 0) -> number: the order of the rows */
    struct ptree provider_by_uuid; /* (hash, number) -> 0 */
    struct ptree provider_by_name; /* (hash, number) -> 0 */
    struct row_sums provider_sums;

    struct catalog classes;
    struct catalog traits;
    struct catalog aggregates;
    struct catalog projects;
    struct catalog users;
    struct catalog types;
    struct cow_array columns; /* class number -> struct column */
    struct name_sets trait_sets;
    struct name_sets aggregate_sets;

    struct ptree consumers; /* (hash of uuid, id) -> struct consumer * */
    struct row_sums consumer_sums;
    struct ptree provider_consumers; /* (provider number, consumer id) -> hash of uuid */
    struct ptree usages;             /* see replica/usage.h */
    struct ptree stray_uses;         /* the same */
    uint64_t allocation_count;       /* of all consumers; updated with the usages */

    struct ptree over_capacity;       /* see replica/over_capacity.h */
    struct ptree over_capacity_since; /* the same */
    uint64_t over_capacity_providers; /* the number of different providers in it */

    /* bare metal, see replica/nodes.h: rows by id, then the trees in which their ids are found; ids
     * are above 0 */
    struct ptree nodes;                   /* (id, 0) -> struct record_row * */
    struct ptree node_by_uuid;            /* (hash, id) -> 0 */
    struct ptree node_by_name;            /* (hash, id) -> 0 */
    struct ptree node_by_instance;        /* (hash of instance_uuid, id) -> 0 */
    struct ptree nodes_of_class;          /* (hash of resource_class, id) -> 0: the free nodes */
    struct ptree node_classes;            /* (hash of resource_class, id) -> 0: of nodes that have a
                                           * provider */
    struct ptree busy_nodes;              /* (id, 0) -> 0: nodes with a reservation */
    struct ptree node_allocations;        /* (id, 0) -> struct record_row * */
    struct ptree node_allocation_by_uuid; /* (hash, id) -> 0 */
    struct ptree node_allocation_by_name; /* (hash, id) -> 0 */
    struct ptree node_allocation_of_node; /* (node id, id) -> 0 */
    struct ptree allocating;              /* (id, 0) -> 0: those in state allocating */

    struct valet_rows valet[VALET_TABLE_COUNT]; /* see replica/valet.h */
    struct ptree markers; /* (aggregate number, provider number) -> 0: of providers with a trait
                           * that marks racks or zones, see valet/state/hosts.h */
};

/* Whether nothing has been loaded yet: true for the first version of a replica. */
static inline bool version_is_empty(const struct version *version)
{
    return version->load == 0;
}

static inline const struct place *version_place(const struct version *version, struct slot_no slot)
{
    return cow_array_at(&version->places, PLACE_SHAPE, slot.v);
}

/* The slot of a live provider. */
static inline struct slot_no version_slot(const struct version *version, struct provider_no no)
{
    const uint32_t *slot = cow_array_at(&version->slot_of, SLOT_OF_SHAPE, no.v);
    check(slot != NULL && *slot != 0);
    return (struct slot_no){*slot - 1};
}

static inline const struct provider *version_provider(const struct version *version,
                                                      struct provider_no no)
{
    return version_place(version, version_slot(version, no))->provider;
}

/* NULL: there is none. Texts compare byte by byte (candidates spec, item 14). */
const struct provider *version_provider_by_uuid(const struct version *version, struct slice uuid);
const struct provider *version_provider_by_name(const struct version *version, struct slice name);
const struct provider *version_provider_by_id(const struct version *version, int64_t id);

const struct consumer *version_consumer(const struct version *version, struct slice uuid);

/* The class's column; an all-zero one if no provider has ever had inventory of the class. */
const struct column *version_column(const struct version *version, struct class_no class_no);

#endif
