/* What the conductor's turns (conductor.c) and their requests (conductor_work.c) share. */
#ifndef BERTH_WRITE_CONDUCTOR_INTERNAL_H
#define BERTH_WRITE_CONDUCTOR_INTERNAL_H

#include <pthread.h>

#include "base/arena.h"
#include "write/conductor.h"
#include "write/instance.h"
#include "write/node_choice.h"
#include "write/node_provider.h"

enum conductor_work {
    WORK_ADVANCE, /* a node's passing state or power operation is over */
    WORK_RECOVER, /* the same of a process that is gone */
    WORK_DECIDE,  /* an allocation looks for a node */
    WORK_MIRROR,  /* Placement does not see what a node's row says */
};

struct conductor_job {
    struct pipeline_request request; /* first: done gets it back */
    struct conductor *conductor;
    enum conductor_work work;
    int64_t id; /* of the node or the allocation */
    struct node_choice choice;
    bool tries_again; /* only locked nodes were left */
};

struct conductor_try {
    int64_t id; /* the allocation's */
    int64_t next_us;
    struct node_choice choice;
};

struct conductor {
    struct pipeline *pipeline;
    const struct metal *metal;
    struct replica_reader *reader; /* the thread's, as all up to the lock */
    struct arena *arena;           /* the turn's */
    struct conductor_job *jobs;
    unsigned job_count;
    struct conductor_try *tries;
    size_t try_count, try_capacity;
    int64_t next_us;        /* when something is due; wall clock */
    int64_t rests_until_us; /* after a failure */
    uint64_t loads_seen;
    bool looks_at_mirror;

    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    unsigned pending; /* requests of the turn */
    bool is_stopping, is_woken;
    struct conductor_wait *waiting;
    struct conductor_wait **last_waiting;
    uint64_t waiting_look_us; /* when they are tried again; monotonic */
};

/* conductor_work.c: the plan of a job. On the writer's thread. */
pipeline_plan conductor_plan;

#endif
