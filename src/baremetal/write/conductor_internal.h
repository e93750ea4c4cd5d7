/* Shared by the files of the conductor: its thread (conductor.c), its passes (conductor_pass.c),
 * what is due (conductor_due.c), their requests (conductor_work.c), allocations that are tried
 * again (conductor_tries.c), rows that the database refuses (conductor_refused.c) and requests that
 * wait (conductor_wait.c). */
#ifndef BERTH_BAREMETAL_WRITE_CONDUCTOR_INTERNAL_H
#define BERTH_BAREMETAL_WRITE_CONDUCTOR_INTERNAL_H

#include <pthread.h>

#include "baremetal/write/conductor.h"
#include "baremetal/write/instance.h"
#include "baremetal/write/node_choice.h"
#include "baremetal/write/node_provider.h"
#include "base/arena.h"

enum {
    CONDUCTOR_JOBS_MAX = 512,          /* of one pass, so that new work does not wait long */
    CONDUCTOR_LOOK_EVERY_US = 5000000, /* for rows that other processes may have left */
    CONDUCTOR_RETRY_AFTER_US = 1000000 /* the database was unavailable */
};

enum conductor_work {
    WORK_ADVANCE, /* a node's transient state or power operation has ended */
    WORK_RECOVER, /* the same for a process that has ended */
    WORK_DECIDE,  /* find a node for an allocation */
    WORK_MIRROR,  /* Placement does not match a node's row */
    WORK_PROVE,   /* tests whether the database takes writes */
};

struct conductor_job {
    struct pipeline_request request; /* must be first: done casts it back */
    struct conductor *conductor;
    enum conductor_work work;
    int64_t id;     /* of the node or the allocation */
    int64_t due_us; /* copied from its row, to recognize the row: ids are reused, and rows change */
    struct node_choice choice;
    bool tries_again; /* only locked nodes were left */
};

/* An allocation that found only locked nodes, or could not be decided because the database was
 * unavailable. */
struct conductor_try {
    int64_t id;
    int64_t due_us; /* its row's */
    int64_t next_us;
    struct node_choice choice;
};

struct conductor_tries {
    struct conductor_try *at; /* [0, sorted) by id; the others were added in this pass */
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

/* A walk over all nodes that makes Placement match their rows. */
struct conductor_walk {
    bool is_wanted;
    bool is_begun;
    bool is_walked;      /* all nodes have been examined */
    int64_t after;       /* the last node examined */
    uint64_t loads_seen; /* of the pipeline */
    struct conductor_ids {
        int64_t *at; /* sorted */
        size_t count, capacity;
    } conflicts,
        conflicts_before; /* nodes that cannot be mirrored; those of the last complete walk */
};

/* Rows whose owner cannot be seen from here, ascending by id (conductor_due.c). */
struct conductor_seen_rows {
    struct conductor_seen {
        int64_t id;
        int64_t due_us;    /* its row's */
        uint64_t since_us; /* when the row was first seen with that time; monotonic */
    } * at;
    size_t count, capacity;
    size_t passed; /* of those of the last pass: as far as this pass has come */
};

struct conductor {
    struct pipeline *pipeline;
    const struct metal *metal;
    struct replica_reader *reader; /* the thread's own, as is everything above the lock */
    struct arena *arena;           /* of the pass */
    struct conductor_job *jobs;
    unsigned job_count;
    struct conductor_tries tries;
    struct conductor_walk walk;
    struct conductor_refused refused;
    bool is_alone;             /* this pass tries one refused row alone */
    bool has_failed;           /* the last pass with other rows did */
    struct conductor_time now; /* of the pass */
    struct conductor_seen_rows nodes_seen[2], allocations_seen[2]; /* by the last pass, and so far
                                                                      by this one */
    int64_t next_us;         /* when something is due; wall clock, as the next one */
    int64_t rests_until_us;  /* after a failure */
    uint64_t proven_us;      /* the database took one of our writes; monotonic; 0: not recently */
    bool wants_proof;        /* another process's row is late */
    struct slice owner_seen; /* the owner last looked up in this pass */
    bool owner_is_gone;

    pthread_t thread;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    unsigned pending;   /* requests of the pass */
    unsigned in_flight; /* unfinished requests of conductor_submit */
    bool is_stopping, is_woken;
    struct conductor_wait *waiting;
    struct conductor_wait **last_waiting;
    uint64_t waiting_look_us; /* when they are tried again; monotonic */
};

/* Whether the time is in the future. A time further away than any that is ever set comes from a
 * clock that has since been set back, and counts as now. */
static inline bool conductor_is_to_come(int64_t at_us, int64_t now_us, int64_t longest_us)
{
    return at_us > now_us && at_us - now_us <= longest_us + METAL_CLOCK_SLACK_US;
}

/* Whether the last failure is too recent for another pass. */
static inline bool conductor_rests(const struct conductor *conductor, int64_t now_us)
{
    return conductor_is_to_come(conductor->rests_until_us, now_us, CONDUCTOR_RETRY_AFTER_US);
}

static inline void conductor_note_due(struct conductor *conductor, int64_t due_us)
{
    if (due_us < conductor->next_us)
        conductor->next_us = due_us;
}

/* A row that is being worked on. */
struct conductor_row {
    struct conductor_seen_rows *seen; /* of its kind */
    int64_t id;
    struct slice owner;
    int64_t due_us;     /* by the owner's clock */
    int64_t longest_us; /* how long before that the owner may have set it */
};

/* conductor_due.c: whether to act now on a row, and whether it is this process's own. If not due,
 * notes when it will be. Between begin and end, the rows of a kind come in ascending order of
 * their ids; is_complete: all of them have come. */
bool conductor_is_due(struct conductor *conductor, const struct conductor_row *row, bool *is_ours);
void conductor_begin_seen(struct conductor_seen_rows seen[static 2]);
void conductor_end_seen(struct conductor_seen_rows seen[static 2], bool is_complete);
void conductor_free_seen(struct conductor_seen_rows seen[static 2]);

/* conductor_work.c: the plan of a job. On the writer's thread. */
pipeline_plan conductor_plan;

/* conductor_pass.c: called when the job has been decided. */
void conductor_job_done(struct pipeline_request *request);

/* conductor_tries.c. The try of that row, or NULL; due_us shows whether it is the same row. */
struct conductor_try *conductor_find_try(struct conductor *conductor, int64_t id, int64_t due_us);
/* Keeps what the job's choice remembers until then; takes it from the job. */
void conductor_keep_try(struct conductor *conductor, struct conductor_job *job, int64_t next_us);
/* At the beginning and end of a pass: drops the tries of allocations that are decided or deleted.
 */
void conductor_tidy_tries(struct conductor *conductor, const struct version *version);
void conductor_free_tries(struct conductor *conductor);

/* conductor_refused.c. Whether that row is set aside until it is tried alone. */
bool conductor_is_set_aside(const struct conductor *conductor, enum conductor_work work, int64_t id,
                            int64_t due_us);
/* Called when the database refused the job's changes; logged once for each row. */
void conductor_set_aside(struct conductor *conductor, const struct conductor_job *job,
                         int64_t now_us);
/* Called when it accepted them. */
void conductor_was_taken(struct conductor *conductor, const struct conductor_job *job);
/* At the beginning of a pass: the refused row to be tried now, or NULL; notes when others are due.
 */
const struct conductor_refusal *
conductor_next_refused(struct conductor *conductor, const struct version *version, int64_t now_us);

/* conductor_wait.c, under the lock: the requests that are to be tried now. */
struct conductor_wait *conductor_take_waiting(struct conductor *conductor);
void conductor_submit_waiting(struct conductor_wait *first);

#endif
