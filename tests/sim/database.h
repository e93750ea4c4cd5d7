/* The simulated database: committed tables that several stores share, and the faults they meet. */
#ifndef BERTH_SIM_DATABASE_H
#define BERTH_SIM_DATABASE_H

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
    int foreign_writes;  /* between two of our steps */
    int log_trimmed;
    int merge_given_up; /* a merge says that it is to be a load */
    bool ids_used_again;
};

struct database {
    struct tables tables;    /* committed */
    uint64_t commit;         /* counts everybody's */
    uint64_t foreign_commit; /* the last one that is in no log */
    int64_t highest_id[STORE_TABLE_COUNT];
    struct rng *rng;
    struct faults faults;
    bool quiet; /* no faults now */
    /* NULL, or asked about each commit of ours: ends the run if it must not be. */
    void (*compare)(const struct tables *before, const struct tables *after);
};

_Noreturn void sim_fail(const char *format, ...) BERTH_PRINTF(1, 2);

/* Some rows with which clients can begin. */
void database_fill(struct database *database);

/* Somebody who writes no log changes something. */
void database_foreign_write(struct database *database);

enum { FIRST_CUSTOM_ID = 10000 }; /* of a resource class */

extern const enum table database_table_of[STORE_TABLE_COUNT];

/* The tables become what is committed. */
void database_commit(struct database *database, const struct tables *tables);

/* Executes a change that no constraint may refuse: sim_fail if one does. */
void database_execute(struct tables *tables, const struct change *change);

/* As a foreign writer does it: some consumer lets go of what it holds. */
void foreign_release(struct tables *tables, struct rng *rng);

/* An id above all that are there, and at least that one. */
int64_t database_free_id(const struct tables *tables, enum table table, int64_t least);

#endif
