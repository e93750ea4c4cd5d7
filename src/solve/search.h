/* The search for a host for each unit (Valet spec, 9.2): what its files share. One thread at a
 * time; everything is in the arena. */
#ifndef BERTH_SOLVE_SEARCH_H
#define BERTH_SOLVE_SEARCH_H

#include "solve/solve_internal.h"

/* What a change was, to be undone. */
enum trail_kind {
    TRAIL_DOMAIN,  /* host left the unit's domain */
    TRAIL_ROOM,    /* room had `before` left */
    TRAIL_HOLDER,  /* host's holder was nobody */
    TRAIL_CLAIM,   /* a rack joined the list of the claimed ones */
    TRAIL_FOREIGN, /* a unit of no exclusivity group came to host */
    TRAIL_CHANGED, /* host joined the list of the changed ones */
    TRAIL_PLACE,   /* the unit got a host */
    TRAIL_RACK,    /* the block, in place of a unit, got a rack */
};

struct trail {
    enum trail_kind kind;
    uint32_t unit;
    uint32_t host;
    int64_t before;
    struct room *room;
};

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

struct decision {
    enum decision_kind kind;
    uint32_t at; /* block, unit, server */
    uint32_t value;
    uint32_t mark; /* how long the trail was */
    bool is_applied;
    /* the values that are left */
    uint32_t present;     /* how many of the unit's servers' present hosts were tried */
    uint32_t cursor;      /* in the kind's order of classes; of a candidate: the next one */
    uint32_t end;         /* of a candidate: behind the last one */
    struct ranked *fresh; /* values whose state is the search's own */
    uint32_t fresh_at;
    uint32_t fresh_count;
    size_t fresh_capacity;
    uint64_t *tried; /* classes of hosts that were */
};

/* The classes of hosts in the order in which a kind of unit prefers them, as they are before the
 * search: a heap, and behind it, backwards, what has been taken off it. */
struct kind_order {
    struct ranked *ranked; /* `at`: the class's first host */
    uint32_t count;
    uint32_t ready;
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
};

struct search {
    struct solver *solver;
    uint32_t words;
    uint32_t unit_count;
    /* of each unit */
    uint64_t **domains;       /* NULL: nothing of it is to be placed */
    uint64_t **first_domains; /* as they were before the search */
    uint32_t *counts;         /* of the domains */
    uint32_t *hosts;          /* or BITS_NONE: not placed yet */
    uint32_t **by_rack;    /* of the domain's hosts, how many are in each rack; NULL: needs none */
    uint32_t *racks_left;  /* how many of those are not 0 */
    uint32_t *block_racks; /* of each block; HOSTS_NO_RACK: not known yet */
    uint32_t *candidates;  /* of each server: the chosen one, or BITS_NONE: the host's root */
    uint32_t placed;       /* how many units have a host */
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
    struct trail *trail;
    uint32_t trail_count;
    size_t trail_capacity;
    struct decision *decisions;
    uint32_t decision_count;
    struct kind_order *orders;
    struct stuck stuck;
    int64_t steps;
    /* of the check of a change */
    uint64_t *dirty_units;
    uint64_t *dirty_aparts;
    struct matching *matching;
};

enum search_result { SEARCH_FOUND, SEARCH_NONE, SEARCH_LIMIT, SEARCH_EXPENSIVE };

/* Needs a prepared solver, in which every unit has a host in its domain: domains[u] of those that
 * are to be placed. */
enum search_result search_run(struct search *search, struct solver *solver, uint64_t **domains);

/* claims.c: the claims that the solution makes. */
void claims_put(struct search *search, struct solve_outcome *outcome);

/* stays.c: which units are kept where they are. */
struct stays {
    uint32_t *hosts; /* of each unit; BITS_NONE: it may go anywhere */
    bool *has;       /* a server that stays */
    bool *changes;   /* one that asks for something else */
    bool any;        /* any unit has one */
};
struct stays stays_find(struct solver *solver, uint64_t *const *domains);
bool stays_keep_any(const struct solver *solver, const struct stays *stays);
/* The domains, less what they leave; NULL: copies. */
uint64_t **stays_domains(const struct solver *solver, uint64_t *const *domains,
                         const struct stays *stays);
/* Lets some go, after a search that got stuck at that unit. False: nobody that could help. */
bool stays_let_go(const struct solver *solver, uint64_t *const *domains, uint32_t stuck,
                  struct stays *stays);

/* alike.c: classes of interchangeable hosts. */
void alike_find(struct search *search);

/* state.c: the changes of state, each with what undoes it on the trail. */
void state_init(struct search *search, uint64_t **domains);
void state_undo(struct search *search, uint32_t mark);
/* False: it does not fit. `at`: of the need's candidates, BITS_NONE: the host's root. */
bool state_take(struct search *search, uint32_t server, uint32_t host, uint32_t at);
void state_place(struct search *search, uint32_t unit, uint32_t host);
void state_put_rack(struct search *search, uint32_t block, uint32_t rack);
/* Takes the host out of the domains of those that do not fit there any more. */
void state_squeeze(struct search *search, uint32_t host);

/* holds.c: whether those that have no host yet may still get one, after what the trail has from the
 * mark on. False: the search is stuck, which it keeps. */
bool state_holds(struct search *search, uint32_t mark);
/* Whether the unit fits on the host by what is left, as far as can be told at once. */
bool state_fits(struct search *search, uint32_t unit, uint32_t host);
/* How many hosts are left to the unit, in the rack that its block has if it has one. */
uint32_t state_left(const struct search *search, uint32_t unit);
/* Whether the rack has a host for each unit of the block that has none yet. */
bool state_rack_serves(const struct search *search, uint32_t block, uint32_t rack);
/* Keeps where the search is stuck, if it is deeper than before. */
void state_stuck(struct search *search, uint32_t unit, uint32_t apart);

/* matching.c: whether those of the members that have no place yet can all get different ones; else
 * *unit is one that cannot. */
bool matching_exists(struct search *search, const struct apart *apart, uint32_t *unit);
void matching_init(struct search *search);

/* decisions.c: the decisions in their order. */
void order_decisions(struct search *search);

/* order.c: the values of a decision in their order. */
void order_classes(struct search *search, uint32_t unit); /* before the search, for its kind */
void order_begin(struct search *search, struct decision *decision);
/* The next value; false: there is none. */
bool order_next(struct search *search, struct decision *decision);

#endif
