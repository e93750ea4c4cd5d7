/* The simulation: berths without threads, files and time on one database in memory, and a world of
 * clients, operators and foreign writers. Everything that happens is drawn from a seed.
 *
 * The driver (sim.c) owns seeds, options, time, faults, the report and the digest. A world is a
 * table of functions (struct world). berth.h has the processes that a world starts and kills. */
#ifndef BERTH_SIM_SIM_H
#define BERTH_SIM_SIM_H

#include "berth.h"

enum { SIM_BERTHS_MAX = 3, SIM_KINDS_MAX = 32, SIM_LEVELS = 5, SIM_HISTORY = 8 };

/* The events of all seeds. */
struct sim_tally {
    uint64_t sent[SIM_KINDS_MAX];
    uint64_t accepted[SIM_KINDS_MAX];
    uint64_t failed;     /* 503 */
    uint64_t unanswered; /* the process was killed, or died in the commit */
    uint64_t batches, commits, taken, follows, reloads, unknowns;
    uint64_t deaths;          /* in a commit */
    uint64_t kills;           /* anywhere else */
    uint64_t conducted;       /* requests of conductors */
    uint64_t queries, waited; /* for the newest state; requests that then waited for the writer */
    uint64_t reads;           /* whose version was compared with the states while they waited */
};

struct sim {
    const struct world *world;
    uint64_t seed;
    uint64_t seeds; /* in this run of the program */
    int steps;      /* maximum for a seed */
    int step;
    unsigned without; /* faults that never strike: bits by enum memory_fault */
    int64_t now_us;
    bool steps_back; /* the wall clock sometimes does */
    struct rng time; /* of the clock */
    struct rng rng;  /* of everything else */
    struct memory_database database;
    struct tables history[SIM_HISTORY]; /* the state after commit N is at N % SIM_HISTORY */
    struct berth berth[SIM_BERTHS_MAX];
    int berth_count;
    uint64_t digest; /* of this seed */
    struct sim_tally tally;
    int *failed_at; /* NULL, or where to store the step of a failure */
};

/* A seed's fault level is drawn from the first that many of the world's levels. */
struct fault_choice {
    enum memory_fault fault; /* MEMORY_BEGIN_READ_FAILS: the same for locks and for the
                                begin of a commit */
    int levels;
};

/* The functions marked "may be NULL" are optional. */
struct world {
    const char *name;
    const char *const *kinds; /* the names of requests, which are numbered from 0 */
    int kind_count;
    int news_kind; /* the request that waits until memory is as new as the database */
    int steps;     /* of a seed */
    uint64_t salt; /* so that worlds draw different numbers from the same seed */
    int clock_least_us, clock_spread_us; /* how far the clock moves each time it is read */
    int audit_every; /* batches, on average, after which the newest version is audited */
    bool has_metal;  /* with the Bare Metal API and its conductor */
    int fault_levels[SIM_LEVELS];                   /* thousandths */
    struct fault_choice faults[MEMORY_FAULT_COUNT]; /* in the order in which they are drawn */
    uint64_t seeds_to_check_by; /* from this many seeds on, enough must have happened */

    /* Fills the database, draws faults and starts berths. */
    void (*set_up)(struct sim *sim);
    /* False: the world has ended. */
    bool (*step)(struct sim *sim);
    /* The final checks, after the last step, without faults. May be NULL. */
    void (*check_at_end)(struct sim *sim);
    void (*tear_down)(struct sim *sim); /* before the berths are killed; may be NULL */

    bool (*plan)(struct sent *sent, const struct plan *plan, struct err *err);
    /* status 0: accepted; SIM_UNANSWERED: the process ended first. May be NULL. */
    void (*answered)(struct sent *sent, int status);
    /* A commit by berth, before it is visible. May be NULL. */
    void (*check_commit)(struct sim *sim, const struct tables *before, const struct tables *after);
    void (*foreign_write)(struct sim *sim); /* MEMORY_FOREIGN_WRITE; may be NULL */

    /* May be NULL. */
    void (*started)(struct berth *berth);
    void (*ending)(struct berth *berth); /* it is killed, or has died */
    void (*before_batch)(struct berth *berth);
    void (*while_locked)(struct berth *berth);  /* the batch waits for the lock */
    void (*while_pending)(struct berth *berth); /* the batch is on its way to the database */

    /* Prints what else has happened; false if it is too little to prove anything. */
    bool (*report)(const struct sim *sim);
};

extern const struct world world_placement, world_nodes, world_valet;

enum { SIM_UNANSWERED = -1 };

/* Reports an error and ends the run of this seed. */
_Noreturn void sim_fail(const char *format, ...) BERTH_PRINTF(1, 2);

/* Draws the faults of this seed, except for those in the set, which never strike. */
void sim_draw_faults(struct sim *sim, unsigned none);

/* Adds to the digest a number that must follow from the seed. */
void sim_digest(struct sim *sim, uint64_t value);

/* Makes the tables the committed state, like a program that writes no log. */
void sim_commit_foreign(struct sim *sim, const struct tables *tables);

/* ---- capacity.c ---- */

/* Executes a change, which must violate no constraint. */
void sim_execute(struct tables *tables, const struct change *change);

/* Allocations exceed a capacity after the commit only if they did before, or if the inventory
 * changed. */
void sim_check_capacity(const struct tables *before, const struct tables *after);

/* memory_database.on_broken: planners do not rely on the database to refuse a change. */
void sim_constraint_broken(void *cls, const struct change *change, const char *constraint);

#endif
