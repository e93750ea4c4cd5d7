/* One berth of the simulation: a store, a replica, a pipeline without a thread, readers; and the
 * check of everything it answers. */
#ifndef BERTH_SIM_INSTANCE_H
#define BERTH_SIM_INSTANCE_H

#include "baremetal/write/conductor.h"
#include "baremetal/write/metal.h"
#include "clients.h"
#include "products/products.h"
#include "sim.h"

enum { READERS = 2 };

struct tally {
    uint64_t asked[OP_COUNT];
    uint64_t accepted[OP_COUNT];
    uint64_t failed;     /* 503 */
    uint64_t unanswered; /* the process died */
    uint64_t batches;
    uint64_t commits;
    uint64_t follows;
    uint64_t reloads;
    uint64_t unknowns;
    uint64_t deaths;
    uint64_t conducted; /* requests of conductors */
    uint64_t digest;
};

struct reader {
    struct replica_reader *pin;
    const struct version *version; /* NULL: nothing pinned */
    struct tables tables;          /* what it must stay equal to */
};

struct instance {
    struct memory_database *database;
    struct rng *rng;
    struct tally *tally;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    int host; /* as it was set before the start */
    struct metal metal;
    struct products products;
    struct conductor *conductor;
    bool is_turning;   /* the conductor has begun a turn */
    struct sent *sent; /* queued, not answered */
    struct reader reader[READERS];
    struct oracle expected; /* of this batch, after what was decided so far */
    bool is_planning;       /* expected is read */
    bool is_checked;        /* this batch's version is compared */
};

/* Starts, however often that fails first. */
void instance_start(struct instance *instance);

/* Ends without a trace: nothing that is queued is answered. */
void instance_kill(struct instance *instance);

/* A client sends a request that it draws from what `view` shows. */
void instance_ask(struct instance *instance, const struct oracle *view);

/* The conductor begins a turn, unless one is under way; the next batch has its requests. */
void instance_conduct(struct instance *instance);

/* One batch; starts anew if it died in it. */
void instance_run(struct instance *instance);

/* Whatever a version pretends to be, it is. */
void instance_check(struct instance *instance);

/* A reader pins the newest version, or lets go of one that must be as it was. */
void instance_read(struct instance *instance);

/* Memory catches up with the database, and is the same then. */
void instance_catch_up(struct instance *instance);

#endif
