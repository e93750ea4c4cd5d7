/* Shared by the planner's files: the stack in dense numbers (hosts, racks, units, classes), and
 * what is known before the search. One thread at a time; everything is in the arena. */
#ifndef BERTH_VALET_SOLVE_SOLVE_INTERNAL_H
#define BERTH_VALET_SOLVE_SOLVE_INTERNAL_H

#include "valet/solve/headrooms.h"
#include "valet/solve/hosts.h"
#include "valet/solve/needs.h"
#include "valet/solve/solve.h"
#include "valet/solve/stack_units.h"

/* Reasons why a unit cannot use a host, in the order of the report (9.5); the first that applies
 * counts. */
enum filter {
    FILTER_LOCATIONS,
    FILTER_EXCLUDED,
    FILTER_DISABLED,
    FILTER_ZONE,
    FILTER_TRAITS,
    FILTER_RACK,
    FILTER_CAPACITY,
    FILTER_HELD,
    FILTER_NOT_FREE,
    FILTER_BESIDE, /* affinity: not with those that have a place already */
    FILTER_APART,  /* diversity: with those */
    FILTER_COUNT,
};

/* Which group holds a host exclusively: an index of units.exclusives, or one of these. */
#define HOLDER_NOBODY  0xffffffffu
#define HOLDER_ANOTHER 0xfffffffeu /* another group, several, or a group with non-members there */

struct unit_demand {
    uint32_t class_index;
    int64_t amount;
};

/* Facts about a unit, in addition to its groups. */
struct unit_facts {
    struct unit_demand *demands; /* of its servers that are to be placed, together */
    uint32_t demand_count;
    uint32_t *fixed; /* hosts of those that stay; BITS_NONE: not on a host */
    bool is_simple;  /* none of its servers can use more of a host than its root */
    uint32_t kind;   /* equal for units of the same needs and exclusivity group */
};

/* The hosts in a list of names. Each kind of list has its own entry, so that alternating lookups do
 * not evict each other. */
struct named_hosts {
    struct stack_names names;
    uint64_t *hosts; /* NULL: no lookup yet */
};
enum named_kind { NAMED_BY_STACK, NAMED_BY_SERVER, NAMED_BY_PIN, NAMED_EXCLUDED, NAMED_COUNT };

/* A claim for servers that stay on their hosts. */
struct made_claim {
    uint32_t exclusive;
    uint32_t at; /* host or rack */
    bool is_rack;
};

struct solver {
    const struct version *version;
    const struct solve_request *request;
    const struct stack *stack;
    struct arena *arena;
    struct budget *budget;
    struct hosts hosts;
    struct units units;
    struct needs needs;
    struct headrooms headrooms;
    struct unit_facts *facts;
    uint32_t kind_count;
    const struct valet_group **groups; /* of each of units.exclusives */
    uint32_t *holders;                 /* for each host */
    uint64_t *racked;                  /* hosts that are in exactly one rack */
    uint64_t *claimed;                 /* hosts that a group claims */
    uint64_t **free;                   /* by exclusive: for its units (8.3) */
    uint64_t *claimable;               /* those that are free for any group */
    struct made_claim *made;           /* their hosts count as held; each once */
    uint32_t made_count;
    const bool *keeps_place; /* for each unit: it has a server that stays; the others are decided
                                after those; NULL: irrelevant */
    double *weights;         /* for each class, for ranking */
    struct named_hosts named[NAMED_COUNT]; /* the last lists looked up */
    uint64_t *scratch;                     /* hosts, for one filter at a time; NULL at first */
    uint64_t *scratch_racks;
};

static inline bool unit_is_placed(const struct solver *solver, uint32_t unit)
{
    return solver->units.unit[unit].placed_count > 0;
}

/* Fills in all but weights. False: the budget is exhausted. */
bool solver_prepare(struct solver *solver);

/* Removes from the set the hosts that this filter forbids to the unit. FILTER_TRAITS removes none:
 * those are among the hosts of FILTER_CAPACITY. */
void domain_filter(struct solver *solver, uint32_t unit, enum filter filter, uint64_t *hosts);

/* Removes the hosts that are not in the server's zone. */
void domain_keep_zone(struct solver *solver, uint32_t server, uint64_t *hosts);

/* The hosts that pass all filters for the unit. */
void domain_of(struct solver *solver, uint32_t unit, uint64_t *hosts);

/* 8.3: every host of the rack is free for the group, or already held by it alone. */
bool solver_rack_is_free(const struct solver *solver, uint32_t rack, uint32_t exclusive);

/* claims.c: whether the group claims the rack as one. */
bool claims_has_rack(const struct solver *solver, uint32_t rack, uint32_t exclusive);

/* Steps through the racks of a host: *at is initially 0. HOSTS_NO_RACK: no more. */
uint32_t solver_next_rack(const struct solver *solver, uint32_t host, uint32_t *at);

#endif
