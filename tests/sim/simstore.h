/* A store of the simulation's own: tables in memory, shared by several stores, and faults drawn
 * from the seed. What a store answers while nothing is broken is exact; what it checks of its
 * caller (order of calls, constraints, capacity) ends the run with sim_fail. */
#ifndef BERTH_SIM_SIMSTORE_H
#define BERTH_SIM_SIMSTORE_H

#include "tables.h"

/* How often, in thousandths. */
struct faults {
    int begin_fails;
    int lock_held;  /* by somebody else, when a write begins */
    int read_fails; /* a load or a follow, in its middle */
    int apply_fails;
    int commit_fails;
    int commit_unknown;
    int commit_resolved; /* it failed, and was found done: OK, with nothing known but that */
    int dies;            /* the process ends in the commit */
    int stranger_writes; /* between two of our steps */
    int log_trimmed;
    bool ids_used_again;
};

struct database {
    struct tables tables;     /* committed */
    uint64_t commit;          /* counts everybody's */
    uint64_t stranger_commit; /* the last one that is in no log */
    int64_t highest_id[STORE_TABLE_COUNT];
    struct rng *rng;
    struct faults faults;
    bool quiet; /* no faults now */
};

enum outcome { OUTCOME_NONE, OUTCOME_OPEN, OUTCOME_DONE, OUTCOME_FAILED, OUTCOME_UNKNOWN };

struct store {
    struct database *database;
    struct tables seen; /* what memory was told last */
    uint64_t seen_commit;
    bool seen_valid;
    struct tables before; /* what `seen` was when the transaction began, if it followed or loaded */
    uint64_t before_commit_no;
    bool before_valid;
    bool followed_here;
    struct tables tables; /* the open transaction's */
    enum store_intent intent;
    enum store_begun begun;
    bool is_open;
    bool is_settled;
    bool has_failed;
    int64_t next_id[STORE_TABLE_COUNT];
    enum outcome outcome; /* of the last transaction */
    bool is_dead;         /* died in a commit: its answers reach nobody */
    void (*before_commit)(void *cls);
    void (*while_locked)(void *cls); /* somebody else has the lock */
    void *cls;                       /* of both */
};

_Noreturn void sim_fail(const char *format, ...) BERTH_PRINTF(1, 2);

/* Some rows with which clients can begin. */
void database_fill(struct database *database);

/* Somebody who writes no log changes something. */
void database_stranger(struct database *database);

/* A store on the database, as a process that starts has it. */
struct store *simstore_open(struct database *database);

#endif
