/* The search for a host for each unit (Valet spec, 9.2): what its files share. One thread at a
 * time; everything is in the arena. */
#ifndef BERTH_VALET_SOLVE_SEARCH_H
#define BERTH_VALET_SOLVE_SEARCH_H

#include "valet/solve/solve_internal.h"

/* A search takes a step for each value that it tries, and one more for each so many looks at single
 * things (a unit, a host, a headroom, a word of a set) that this took, so that what a step costs
 * has a bound and the same search always takes as many. */
enum { SEARCH_STEP_LOOKS = 2048 };

/* What a change was, to be undone. */
enum trail_kind {
    TRAIL_DOMAIN,   /* host `at` left the unit's domain */
    TRAIL_CLOSED,   /* rack `at` left it */
    TRAIL_HEADROOM, /* the headroom of a class, in place of a unit, at slot `at` had `before` left
                     */
    TRAIL_HOLDER,   /* the holder of host `at` was nobody */
    TRAIL_CLAIM,    /* a rack joined the list of the claimed ones */
    TRAIL_FOREIGN,  /* a unit of no exclusivity group came to host `at` */
    TRAIL_CHANGED,  /* host `at` joined the list of the changed ones */
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

/* What is to be decided, in this order for each block. */
enum decision_kind {
    DECIDE_RACK,      /* of a block of several units */
    DECIDE_HOST,      /* of a unit */
    DECIDE_CANDIDATE, /* of a server whose hosts may have several */
};

/* A value in the order in which values are tried: least key, then least `at`. */
struct ranked {
    uint64_t key;
    uint32_t at; /* host, rack */
};

/* The first of the values that are ranked for a decision, which are ranked again when those have
 * been tried. */
enum { WINDOW = 64 };
struct window {
    struct ranked values[WINDOW];
    uint32_t at;
    uint32_t count;
    bool has_more;      /* behind these */
    struct ranked last; /* with has_before: what is ranked is what is behind it */
    bool has_before;
};

struct decision {
    enum decision_kind kind;
    uint32_t at; /* block, unit, server */
    uint32_t value;
    uint32_t mark; /* how long the trail was */
    uint32_t twin; /* of a candidate: the server of its unit and need before it, or UNITS_NONE */
    bool is_applied;
    /* the values that are left */
    uint32_t present;     /* how many of the unit's servers' present hosts were tried */
    uint32_t cursor;      /* in the unit's order of classes; of a candidate: the next one */
    uint32_t end;         /* of a candidate: behind the last one */
    struct window *fresh; /* values whose state is the search's own */
    uint64_t *tried;      /* classes of hosts that were */
};

/* The classes of hosts in the order in which units of one kind and domain prefers them, as they are
 * before the search: as many of the first as anybody asked for. */
struct class_order {
    uint32_t unit;             /* one of them */
    struct ranked *chunks[32]; /* `at`: the class's first host; chunk n has WINDOW << n */
    uint32_t count;
    bool is_whole;
};

/* Where the search got stuck deepest, for the report. */
struct stuck {
    bool is_set;
    uint32_t depth; /* how many units had a host */
    uint32_t unit;
    uint32_t apart; /* of units.apart, if that one was too large for what is left; or UNITS_NONE */
    uint32_t counts[FILTER_COUNT]; /* of the unit's first hosts: what had taken them */
    uint32_t *held;                /* of counts[FILTER_HELD]: by exclusive */
    uint32_t left;                 /* of them: nothing had */
    uint64_t *spoilt;              /* racks, for the time of counting */
};

enum search_result { SEARCH_FOUND, SEARCH_NONE, SEARCH_LIMIT, SEARCH_EXPENSIVE };

struct search {
    struct solver *solver;
    uint32_t words;
    uint32_t unit_count;
    /* of each unit */
    uint64_t **domains;       /* hosts, also those in racks that are closed to it; NULL: nothing of
                                 it is to be placed */
    uint64_t **first_domains; /* as they were before the search */
    uint32_t *domain_numbers; /* of the distinct ones among those */
    uint32_t domain_count;
    uint32_t *counts;     /* of the hosts that are left */
    uint32_t *hosts;      /* or BITS_NONE: not placed yet */
    uint32_t **by_rack;   /* of the domain's hosts, how many are in each rack; NULL: nobody asks */
    uint64_t **racks;     /* those that have hosts for it and are not closed; NULL with by_rack */
    uint32_t *racks_left; /* how many */
    uint32_t *orders;     /* of class_orders */
    uint32_t *candidates; /* of each server: the chosen one, or BITS_NONE: the host's root */
    uint32_t placed;      /* how many units have a host */
    uint32_t *kind_first; /* units by kind: those of k are kind_units[kind_first[k]] and on */
    uint32_t *kind_units;
    uint32_t *exclusive_units; /* those of some exclusivity group, then the others */
    uint32_t exclusive_count;
    uint32_t plain_count;
    /* of each block */
    uint32_t *block_racks; /* HOSTS_NO_RACK: not known yet */
    uint32_t *first_units; /* one that is to be placed, or UNITS_NONE */
    uint32_t **lacking; /* for each rack, how many of its units have no host there; NULL: one unit
                           at most is to be placed */
    uint64_t **serving; /* racks that none of them lacks; NULL with lacking */
    uint32_t *serving_left;
    /* of each host */
    uint32_t *foreign; /* how many units of no exclusivity group the plan has put there */
    uint32_t *holders; /* as solver.holders, with the plan's claims */
    uint64_t *changed; /* a unit has been put there */
    uint32_t *changed_list;
    uint32_t changed_count;
    uint32_t *claimed_racks; /* by the plan */
    uint32_t claimed_count;
    uint32_t *classes; /* of interchangeable hosts; BITS_NONE: in no domain */
    uint32_t class_count;
    uint32_t *class_first; /* hosts by class: those of c are members[class_first[c]] and on */
    uint32_t *members;
    struct trail **trail; /* in chunks */
    uint32_t trail_count;
    uint32_t trail_chunks;
    size_t trail_capacity;
    struct decision *decisions;
    uint32_t decision_count;
    struct class_order *class_orders;
    /* of a rack that is to be chosen for a block */
    double *asked; /* of each class */
    uint64_t *present_racks;
    struct stuck stuck;
    int64_t steps; /* taken so far; see search_goes_on */
    int64_t tries;
    int64_t looks;
    int64_t looks_paid;     /* out of the budget */
    enum search_result end; /* SEARCH_LIMIT or SEARCH_EXPENSIVE: it is to end; else SEARCH_FOUND */
    /* of the check of a change */
    uint64_t *dirty_units;
    uint64_t *dirty_anti_affinity;
    struct matching *matching;
};

static inline void search_look(struct search *search, int64_t looks)
{
    search->looks += looks;
}

/* Counts the steps. False: the search is to end, as search.end says; what was being computed is
 * worth nothing then. To be asked within each thousand steps' looks. */
bool search_goes_on(struct search *search);

/* Needs a prepared solver, in which every unit has a host in its domain: domains[u] of those that
 * are to be placed. */
enum search_result search_run(struct search *search, struct solver *solver, uint64_t **domains);

/* claims.c: the claims that the solution makes. */
void claims_put(struct search *search, struct solve_outcome *outcome);

/* keep_in_place.c: which units are kept where they are. */
struct kept {
    uint32_t *hosts; /* of each unit; BITS_NONE: it may go anywhere */
    bool *has;       /* a server that stays */
    bool *changes;   /* one that asks for something else */
    bool any;        /* any unit has one */
};
struct kept keep_in_place_find(struct solver *solver, uint64_t *const *domains);
bool keep_in_place_keep_any(const struct solver *solver, const struct kept *kept);
/* The domains, less what they leave; NULL: copies. */
uint64_t **keep_in_place_domains(const struct solver *solver, uint64_t *const *domains,
                                 const struct kept *kept);
/* Lets some go, after a search that got stuck at that unit. False: nobody that could help. */
bool keep_in_place_let_go(const struct solver *solver, uint64_t *const *domains, uint32_t stuck,
                          struct kept *kept);

/* symmetry.c: distinct domains, and classes of interchangeable hosts. */
void symmetry_find(struct search *search);

/* state.c: the changes of state, each with what undoes it on the trail. */
void state_init(struct search *search, uint64_t **domains);
void state_undo(struct search *search, uint32_t mark);
/* False: it does not fit. `at`: of the need's candidates, BITS_NONE: the host's root. */
bool state_take(struct search *search, uint32_t server, uint32_t host, uint32_t at);
void state_place(struct search *search, uint32_t unit, uint32_t host);
void state_put_rack(struct search *search, uint32_t block, uint32_t rack);
/* Takes the host out of the domains of those that do not fit there any more. */
void state_squeeze(struct search *search, uint32_t host);

static inline bool search_is_open(const struct search *search, uint32_t unit)
{
    return search->domains[unit] != NULL && search->hosts[unit] == BITS_NONE;
}

/* Whether the host is left to the unit. */
static inline bool search_has(const struct search *search, uint32_t unit, uint32_t host)
{
    uint32_t rack = search->solver->hosts.racks[host];
    return bits_has(search->domains[unit], host) &&
           (search->racks[unit] == NULL || rack >= search->solver->hosts.rack_count ||
            bits_has(search->racks[unit], rack));
}

/* The racks that have a host for each unit of the block, which has no rack yet, and a unit to be
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

/* holds.c: whether those that have no host yet may still get one, after what the trail has from the
 * mark on. False: the search is stuck, which it keeps. */
bool state_holds(struct search *search, uint32_t mark);
/* Whether the unit fits on the host by what is left, as far as can be told at once. */
bool state_fits(struct search *search, uint32_t unit, uint32_t host);
/* How many hosts are left to the unit, in the rack that its block has if it has one. */
static inline uint32_t state_left(const struct search *search, uint32_t unit)
{
    uint32_t rack = search->block_racks[search->solver->units.unit[unit].block];
    if (rack == HOSTS_NO_RACK || search->by_rack[unit] == NULL)
        return search->counts[unit];
    return bits_has(search->racks[unit], rack) ? search->by_rack[unit][rack] : 0;
}

/* Keeps where the search is stuck, if it is deeper than before. */
void state_stuck(struct search *search, uint32_t unit, uint32_t apart);

/* matching.c: whether those of the set's members that have no place yet can all get different ones;
 * else *unit is one that cannot. Also true when the search is to end. */
bool matching_exists(struct search *search, uint32_t apart, uint32_t *unit);
void matching_init(struct search *search);

/* decisions.c: the decisions in their order. */
void order_decisions(struct search *search);

/* order.c: the values of a decision in their order. */
void order_begin(struct search *search, struct decision *decision);
/* The next value; false: there is none. */
bool order_next(struct search *search, struct decision *decision);

#endif
