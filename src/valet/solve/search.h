/* The search for a host for each unit (Valet spec, 9.2), as its files share it. One thread at a
 * time; everything is in the arena. */
#ifndef BERTH_VALET_SOLVE_SEARCH_H
#define BERTH_VALET_SOLVE_SEARCH_H

#include "valet/solve/solve_internal.h"

/* A search takes one step for each value that it tries, and one more for each SEARCH_STEP_LOOKS
 * looks at single items (a unit, a host, a headroom, a word of a set). So the cost of a step is
 * bounded, and the same search always takes the same number. */
enum { SEARCH_STEP_LOOKS = 2048 };

/* The kind of a recorded change, for undoing it. */
enum trail_kind {
    TRAIL_DOMAIN,   /* host `at` left the unit's domain */
    TRAIL_CLOSED,   /* rack `at` left the unit's domain */
    TRAIL_HEADROOM, /* the headroom of a class, in place of a unit, at slot `at` had `before` left
                     */
    TRAIL_HOLDER,   /* host `at` had no holder */
    TRAIL_CLAIM,    /* a rack was added to the list of claimed ones */
    TRAIL_FOREIGN,  /* a unit of no exclusivity group was put on host `at` */
    TRAIL_CHANGED,  /* host `at` was added to the list of changed ones */
    TRAIL_PLACE,    /* the unit got a host */
    TRAIL_RACK,     /* the block, in place of a unit, got a rack */
};

struct trail {
    unsigned kind : 8;
    unsigned unit : 24;
    uint32_t at;
    int64_t before;
};

enum { TRAIL_CHUNK = 1024 };

/* The kinds of decisions, in this order for each block. */
enum decision_kind {
    DECIDE_RACK,      /* of a block of several units */
    DECIDE_HOST,      /* of a unit */
    DECIDE_CANDIDATE, /* of a server whose hosts may have several */
};

/* A value in the order of trying: smallest key, then smallest `at`. */
struct ranked {
    uint64_t key;
    uint32_t at; /* host or rack */
};

/* The first of the values ranked for a decision; once those have been tried, the next ones are
 * ranked. */
enum { WINDOW = 64 };
struct window {
    struct ranked values[WINDOW];
    uint32_t at;
    uint32_t count;
    bool has_more;      /* after these */
    struct ranked last; /* with has_before: only values after this one are ranked */
    bool has_before;
};

struct decision {
    enum decision_kind kind;
    uint32_t at; /* block, unit or server */
    uint32_t value;
    uint32_t mark; /* the length of the trail before the decision */
    uint32_t twin; /* for a candidate: the previous server of its unit and need, or UNITS_NONE */
    bool is_applied;
    /* the values that are left */
    uint32_t present;     /* how many of the current hosts of the unit's servers were tried */
    uint32_t cursor;      /* in the unit's order of classes; for a candidate: the next one */
    uint32_t end;         /* for a candidate: after the last one */
    struct window *fresh; /* values whose state has changed in the search */
    uint64_t *tried;      /* classes of hosts that were tried */
};

/* The classes of hosts in the order of preference of units of one kind and domain, by the state
 * before the search: as many of the first ones as were needed so far. */
struct class_order {
    uint32_t unit;             /* one of those units */
    struct ranked *chunks[32]; /* `at`: the class's first host; chunk n has WINDOW << n */
    uint32_t count;
    bool is_whole;
};

/* Where the search got stuck deepest, for the report. */
struct stuck {
    bool is_set;
    uint32_t depth; /* how many units had a host */
    uint32_t unit;
    uint32_t
        apart; /* of units.apart, if that set was too large for the values left; or UNITS_NONE */
    uint32_t counts[FILTER_COUNT]; /* of the unit's first hosts: why they were not usable */
    uint32_t *held;                /* of counts[FILTER_HELD]: by exclusive */
    uint32_t left;                 /* of the unit's first hosts: usable */
    uint64_t *spoilt;              /* racks, while counting */
};

enum search_result { SEARCH_FOUND, SEARCH_NONE, SEARCH_LIMIT, SEARCH_EXPENSIVE };

struct search {
    struct solver *solver;
    uint32_t words;
    uint32_t unit_count;
    /* for each unit */
    uint64_t **domains; /* hosts, including those in racks that are closed to it; NULL: nothing of
                           it is to be placed */
    uint64_t **first_domains; /* as they were before the search */
    uint32_t *domain_numbers; /* of the distinct ones among those */
    uint32_t domain_count;
    uint32_t *counts;     /* of the hosts that are left */
    uint32_t *hosts;      /* or BITS_NONE: not placed yet */
    uint32_t **by_rack;   /* number of the domain's hosts in each rack; NULL: not needed */
    uint64_t **racks;     /* those that have hosts for it and are not closed; NULL with by_rack */
    uint32_t *racks_left; /* their number */
    uint32_t *orders;     /* of class_orders */
    uint32_t *candidates; /* for each server: the chosen one, or BITS_NONE: the host's root */
    uint32_t placed;      /* how many units have a host */
    uint32_t *kind_first; /* units by kind: those of k begin at kind_units[kind_first[k]] */
    uint32_t *kind_units;
    uint32_t *exclusive_units; /* those of any exclusivity group, then the others */
    uint32_t exclusive_count;
    uint32_t plain_count;
    /* for each block */
    uint32_t *block_racks; /* HOSTS_NO_RACK: not known yet */
    uint32_t *first_units; /* one that is to be placed, or UNITS_NONE */
    uint32_t **lacking;    /* for each rack, how many of its units have no host there; NULL: at most
                              one unit is to be placed */
    uint64_t **serving;    /* racks in which each of them has a host; NULL with lacking */
    uint32_t *serving_left;
    /* for each host */
    uint32_t *foreign; /* how many units of no exclusivity group the plan has put there */
    uint32_t *holders; /* as solver.holders, with the plan's claims */
    uint64_t *changed; /* a unit has been put there */
    uint32_t *changed_list;
    uint32_t changed_count;
    uint32_t *claimed_racks; /* by the plan */
    uint32_t claimed_count;
    uint32_t *classes; /* of interchangeable hosts; BITS_NONE: in no domain */
    uint32_t class_count;
    uint32_t *class_first; /* hosts by class: those of c begin at members[class_first[c]] */
    uint32_t *members;
    struct trail **trail; /* in chunks */
    uint32_t trail_count;
    uint32_t trail_chunks;
    size_t trail_capacity;
    struct decision *decisions;
    uint32_t decision_count;
    struct class_order *class_orders;
    /* for a rack that is being chosen for a block */
    double *requested; /* of each class */
    uint64_t *present_racks;
    struct stuck stuck;
    int64_t steps; /* so far; see search_goes_on */
    int64_t tries;
    int64_t looks;
    int64_t looks_paid;     /* from the budget */
    enum search_result end; /* SEARCH_LIMIT or SEARCH_EXPENSIVE: it must end; else SEARCH_FOUND */
    /* for the check of a change */
    uint64_t *dirty_units;
    uint64_t *dirty_anti_affinity;
    struct matching *matching;
};

static inline void search_look(struct search *search, int64_t looks)
{
    search->looks += looks;
}

/* Counts steps. False: the search must end for the reason in search.end, and the result of the
 * current computation is invalid. To be called at least once in the looks of a thousand steps. */
bool search_goes_on(struct search *search);

/* Needs a prepared solver in which each unit to be placed has at least one host in its domain,
 * domains[u]. */
enum search_result search_run(struct search *search, struct solver *solver, uint64_t **domains);

/* claims.c: the claims that the solution requires. */
void claims_put(struct search *search, struct solve_outcome *outcome);

/* keep_in_place.c: which units are kept in place. */
struct kept {
    uint32_t *hosts; /* for each unit; BITS_NONE: it may go anywhere */
    bool *has;       /* it has a server that stays */
    bool *changes;   /* it has one whose requirements have changed */
    bool any;        /* any unit has a server that stays */
};
struct kept keep_in_place_find(struct solver *solver, uint64_t *const *domains);
bool keep_in_place_keep_any(const struct solver *solver, const struct kept *kept);
/* The domains that remain if units are kept; NULL: copies. */
uint64_t **keep_in_place_domains(const struct solver *solver, uint64_t *const *domains,
                                 const struct kept *kept);
/* Releases some units after a search that got stuck at that unit. False: no further release could
 * help. */
bool keep_in_place_let_go(const struct solver *solver, uint64_t *const *domains, uint32_t stuck,
                          struct kept *kept);

/* symmetry.c: distinct domains, and classes of interchangeable hosts. */
void symmetry_find(struct search *search);

/* state.c: the changes of state, each recorded on the trail so that it can be undone. */
void state_init(struct search *search, uint64_t **domains);
void state_undo(struct search *search, uint32_t mark);
/* False: it does not fit. `at`: of the need's candidates, BITS_NONE: the host's root. */
bool state_take(struct search *search, uint32_t server, uint32_t host, uint32_t at);
void state_place(struct search *search, uint32_t unit, uint32_t host);
void state_put_rack(struct search *search, uint32_t block, uint32_t rack);
/* Removes the host from the domains of units that no longer fit there. */
void state_squeeze(struct search *search, uint32_t host);

static inline bool search_is_open(const struct search *search, uint32_t unit)
{
    return search->domains[unit] != NULL && search->hosts[unit] == BITS_NONE;
}

/* Whether the host is still in the unit's domain. */
static inline bool search_has(const struct search *search, uint32_t unit, uint32_t host)
{
    uint32_t rack = search->solver->hosts.racks[host];
    return bits_has(search->domains[unit], host) &&
           (search->racks[unit] == NULL || rack >= search->solver->hosts.rack_count ||
            bits_has(search->racks[unit], rack));
}

/* The racks that have a host for each unit of the block, which has no rack yet and has a unit to be
 * placed. */
static inline const uint64_t *search_racks(const struct search *search, uint32_t block)
{
    return search->lacking[block] != NULL ? search->serving[block]
                                          : search->racks[search->first_units[block]];
}

static inline uint32_t search_racks_left(const struct search *search, uint32_t block)
{
    return search->lacking[block] != NULL ? search->serving_left[block]
                                          : search->racks_left[search->first_units[block]];
}

/* holds.c: whether units without a host can still get one, after the changes on the trail since the
 * mark. False: the search is stuck, which is recorded. */
bool state_holds(struct search *search, uint32_t mark);
/* Whether the unit fits on the host with what is left, as far as a quick check shows. */
bool state_fits(struct search *search, uint32_t unit, uint32_t host);
/* The number of hosts left to the unit, in its block's rack if it has one. */
static inline uint32_t state_left(const struct search *search, uint32_t unit)
{
    uint32_t rack = search->block_racks[search->solver->units.unit[unit].block];
    if (rack == HOSTS_NO_RACK || search->by_rack[unit] == NULL)
        return search->counts[unit];
    return bits_has(search->racks[unit], rack) ? search->by_rack[unit][rack] : 0;
}

/* Records where the search is stuck, if that is deeper than before. */
void state_stuck(struct search *search, uint32_t unit, uint32_t apart);

/* matching.c: whether all of the set's members without a place can get different ones; else *unit
 * is one that cannot. Also true when the search must end. */
bool matching_exists(struct search *search, uint32_t apart, uint32_t *unit);
void matching_init(struct search *search);

/* decisions.c: the decisions in their order. */
void order_decisions(struct search *search);

/* order.c: the values of a decision in their order. */
void order_begin(struct search *search, struct decision *decision);
/* The next value; false: there is none. */
bool order_next(struct search *search, struct decision *decision);

#endif
