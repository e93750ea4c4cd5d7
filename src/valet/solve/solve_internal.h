/* What the files of the planner share: the stack over dense numbers (hosts, racks, units, classes),
 * and what is known before the search. One thread at a time; everything is in the arena. */
#ifndef BERTH_VALET_SOLVE_SOLVE_INTERNAL_H
#define BERTH_VALET_SOLVE_SOLVE_INTERNAL_H

#include "valet/solve/headrooms.h"
#include "valet/solve/hosts.h"
#include "valet/solve/needs.h"
#include "valet/solve/solve.h"
#include "valet/solve/stack_units.h"

/* What may keep a unit from a host, in the order in which it is told (9.5); the first that applies
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

/* Who has a host for exclusivity: an index of units.exclusives, or one of these. */
#define HOLDER_NOBODY  0xffffffffu
#define HOLDER_ANOTHER 0xfffffffeu /* another group, several, or a group with non-members there */

struct unit_demand {
    uint32_t class_index;
    int64_t amount;
};

/* What a unit is, beside its groups. */
struct unit_facts {
    struct unit_demand *demands; /* of its servers that are to be placed, together */
    uint32_t demand_count;
    uint32_t *fixed; /* hosts of those that stay; BITS_NONE: on no host */
    bool is_simple;  /* none of its servers can use more of a host than its root */
    uint32_t kind;   /* equal for units of the same needs and exclusivity group */
};

/* The hosts of a list of names; lists that are asked for by turns do not drive out each other. */
struct named_hosts {
    struct stack_names names;
    uint64_t *hosts; /* NULL: none was asked for yet */
};
enum named_kind { NAMED_BY_STACK, NAMED_BY_SERVER, NAMED_BY_PIN, NAMED_EXCLUDED, NAMED_COUNT };

/* A claim that servers take that stay where they are. */
struct made_claim {
    uint32_t exclusive;
    uint32_t at; /* host, or rack */
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
    uint32_t *holders;                 /* of each host */
    uint64_t *racked;                  /* hosts that are in exactly one rack */
    uint64_t *claimed;                 /* hosts that a group claims */
    uint64_t **free;                   /* by exclusive: for its units (8.3) */
    uint64_t *claimable;               /* those that are free for any */
    struct made_claim *made;           /* with their hosts held already; each once */
    uint32_t made_count;
    const bool *keeps_place; /* of each unit: it has a server that stays; all others are decided
                            after those; NULL: it does not matter */
    double *weights;         /* of each class, for the fit */
    struct named_hosts named[NAMED_COUNT]; /* the last list that was asked for */
    uint64_t *scratch;                     /* hosts, of one filter at a time; NULL at first */
    uint64_t *scratch_racks;
};

static inline bool unit_is_placed(const struct solver *solver, uint32_t unit)
{
    return solver->units.unit[unit].placed_count > 0;
}

/* Fills in all but weights. False: the budget is exhausted. */
bool solver_prepare(struct solver *solver);

/* Takes the hosts out of the set that this filter keeps from the unit. FILTER_TRAITS takes out
 * none: those are among the ones of FILTER_CAPACITY. */
void domain_filter(struct solver *solver, uint32_t unit, enum filter filter, uint64_t *hosts);

/* Takes out the hosts that are not in the server's zone. */
void domain_keep_zone(struct solver *solver, uint32_t server, uint64_t *hosts);

/* The hosts that all filters leave to the unit. */
void domain_of(struct solver *solver, uint32_t unit, uint64_t *hosts);

/* 8.3: every host of the rack is free for the group or its alone. */
bool solver_rack_is_free(const struct solver *solver, uint32_t rack, uint32_t exclusive);

/* claims.c: whether the group claims the rack as one. */
bool claims_has_rack(const struct solver *solver, uint32_t rack, uint32_t exclusive);

/* The racks that host is in, one after the other: *at begins as 0. HOSTS_NO_RACK: no more. */
uint32_t solver_next_rack(const struct solver *solver, uint32_t host, uint32_t *at);

#endif
