/* What the conductor's thread (conductor.c), its turns (conductor_turn.c), what is due
 * (conductor_due.c), their requests (conductor_work.c), the allocations that are tried again
 * (conductor_tries.c), rows that the database refuses (conductor_refused.c) and the requests that
 * wait (conductor_wait.c) share. */
#ifndef BERTH_BAREMETAL_WRITE_CONDUCTOR_INTERNAL_H
#define BERTH_BAREMETAL_WRITE_CONDUCTOR_INTERNAL_H

#include <pthread.h>

#include "baremetal/write/conductor.h"
#include "baremetal/write/instance.h"
#include "baremetal/write/node_choice.h"
#include "baremetal/write/node_provider.h"
#include "base/arena.h"

enum {
    CONDUCTOR_JOBS_MAX = 512, /* of one turn: what comes meanwhile is not kept waiting long */
    CONDUCTOR_LOOK_EVERY_US = 5000000, /* at what other processes may have left behind */
    CONDUCTOR_RETRY_AFTER_US = 1000000 /* the database was away */
};

enum conductor_work {
    WORK_ADVANCE, /* a node's passing state or power operation is over */
    WORK_RECOVER, /* the same of a process that is gone */
    WORK_DECIDE,  /* an allocation looks for a node */
    WORK_MIRROR,  /* Placement does not see what a node's row says */
    WORK_PROVE,   /* nothing: the database takes writes */
};

struct conductor_job {
    struct pipeline_request request; /* first: done gets it back */
    struct conductor *conductor;
    enum conductor_work work;
    int64_t id;     /* of the node or the allocation */
    int64_t due_us; /* what its row said; an id may come again, and a row go on */
    struct node_choice choice;
    bool tries_again; /* only locked nodes were left */
};

/* An allocation that met locked nodes only, or the database away. */
struct conductor_try {
    int64_t id;
    int64_t due_us; /* its row's */
    int64_t next_us;
    struct node_choice choice;
};

struct conductor_tries {
    struct conductor_try *at; /* [0, sorted) by id, the others are of this turn */
    size_t count, sorted, capacity;
};

/* A row that the database refuses (conductor_refused.c). */
struct conductor_refusal {
    enum conductor_work work;
    int64_t id;
    int64_t due_us; /* its row's */
    int64_t delay_us;
    int64_t next_us;
};

struct conductor_refused {
    struct conductor_refusal *at;
    size_t count, capacity;
};

/* The walk over all nodes after which Placement sees what their rows say. */
struct conductor_pass {
    bool is_wanted;
    bool is_begun;
    bool is_walked;      /* all nodes have been looked at */
    int64_t after;       /* the last node that was */
    uint64_t loads_seen; /* of the pipeline */
    struct conductor_ids {
        int64_t *at; /* sorted */
        size_t count, capacity;
    } conflicts, conflicts_before; /* nodes that cannot be mirrored; the last whole pass's */
};

struct conductor {
    struct pipeline *pipeline;
    const struct metal *metal;
    struct replica_reader *reader; /* the thread's, as all up to the lock */
    struct arena *arena;           /* the turn's */
    struct conductor_job *jobs;
    unsigned job_count;
    struct conductor_tries tries;
    struct conductor_pass pass;
    struct conductor_refused refused;
    bool is_alone;           /* the turn is one refused row's */
    bool has_failed;         /* the last turn of others did */
    int64_t next_us;         /* when something is due; wall clock, as the next two */
    int64_t rests_until_us;  /* after a failure */
    int64_t proven_us;       /* the database took a write of ours; 0: not lately */
    bool wants_proof;        /* somebody else's row is late */
    struct slice owner_seen; /* this turn: whose end was looked up last */
    bool owner_is_gone;

    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    unsigned pending;   /* requests of the turn */
    unsigned in_flight; /* requests of conductor_submit that are not done */
    bool is_stopping, is_woken;
    struct conductor_wait *waiting;
    struct conductor_wait **last_waiting;
    uint64_t waiting_look_us; /* when they are tried again; monotonic */
};

/* Whether the time is still to come. One that is further off than it was ever set is of a clock
 * that has been set back since: it is now. */
static inline bool conductor_is_to_come(int64_t at_us, int64_t now_us, int64_t longest_us)
{
    return at_us > now_us && at_us - now_us <= longest_us + METAL_CLOCK_SLACK_US;
}

/* Whether the last failure is too fresh for another turn. */
static inline bool conductor_rests(const struct conductor *conductor, int64_t now_us)
{
    return conductor_is_to_come(conductor->rests_until_us, now_us, CONDUCTOR_RETRY_AFTER_US);
}

static inline void conductor_note_due(struct conductor *conductor, int64_t due_us)
{
    if (due_us < conductor->next_us)
        conductor->next_us = due_us;
}

/* conductor_due.c: whether to act now on a row of that owner, and if it is our own. If not, notes
 * when. */
bool conductor_is_due(struct conductor *conductor, struct slice owner, int64_t due_us,
                      int64_t longest_us, int64_t now_us, bool *is_ours);

/* conductor_work.c: the plan of a job. On the writer's thread. */
pipeline_plan conductor_plan;

/* conductor_turn.c: the job is decided. */
void conductor_job_done(struct pipeline_request *request);

/* conductor_tries.c. The try of that row, or NULL; what is due says whether it is the same row. */
struct conductor_try *conductor_find_try(struct conductor *conductor, int64_t id, int64_t due_us);
/* Keeps what the job's choice remembers until then, which it gives away. */
void conductor_keep_try(struct conductor *conductor, struct conductor_job *job, int64_t next_us);
/* At a turn's begin and end: those of allocations that are decided or gone are dropped. */
void conductor_tidy_tries(struct conductor *conductor, const struct version *version);
void conductor_free_tries(struct conductor *conductor);

/* conductor_refused.c. Whether that row waits until it is tried alone. */
bool conductor_is_set_aside(const struct conductor *conductor, enum conductor_work work, int64_t id,
                            int64_t due_us);
/* The database refused the job's changes; told of once. */
void conductor_set_aside(struct conductor *conductor, const struct conductor_job *job,
                         int64_t now_us);
/* It did not. */
void conductor_was_taken(struct conductor *conductor, const struct conductor_job *job);
/* At a turn's begin: what is to be tried now, or NULL; notes when others are. */
const struct conductor_refusal *
conductor_next_refused(struct conductor *conductor, const struct version *version, int64_t now_us);

/* conductor_wait.c, under the lock: the requests that are to be tried now. */
struct conductor_wait *conductor_take_waiting(struct conductor *conductor);
void conductor_submit_waiting(struct conductor_wait *first);

#endif
