/* A store of the simulation's own: tables in memory, shared by several stores, and faults drawn
 * from the seed. What a store answers while nothing is broken is exact; what it checks of its
 * caller (order of calls, constraints, capacity) ends the run with sim_fail. */
#ifndef BERTH_SIM_SIMSTORE_H
#define BERTH_SIM_SIMSTORE_H

#include "database.h"

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
    bool is_in_memory;
    bool has_failed;
    int64_t next_id[STORE_TABLE_COUNT];
    enum outcome outcome; /* of the last transaction */
    bool is_dead;         /* died in a commit: its answers reach nobody */
    void (*before_commit)(void *cls);
    void (*while_locked)(void *cls); /* somebody else has the lock */
    void *cls;                       /* of both */
};

/* A store on the database, as a process that starts has it. */
struct store *simstore_open(struct database *database);

#endif
