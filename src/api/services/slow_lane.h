/* Threads for requests that cost too much for a worker. Jobs run in slices: a few have a turn while
 * the others wait on their own threads, and owners take turns, so that no job and no owner can
 * delay others for long, however much it has to do. */
#ifndef BERTH_API_SERVICES_SLOW_LANE_H
#define BERTH_API_SERVICES_SLOW_LANE_H

#include <stdint.h>

#include "api/services/turns.h"

struct slow_lane;
struct slow_thread;

enum slow_pass {
    SLOW_GO_ON,     /* still within its slice */
    SLOW_NEW_SLICE, /* others had a turn in between, if there were any */
    SLOW_LATE,      /* its deadline has passed: the job must end */
};

enum slow_refusal {
    SLOW_TOO_MANY,  /* too many jobs are waiting, most of them this owner's */
    SLOW_NOT_BEGUN, /* its deadline passed while it was waiting */
};

/* One job: either `run` is called once, on a thread of the lane, or `refuse` is, on any thread
 * (possibly within slow_lane_submit). If `refuse` is NULL, `run` is called instead: for jobs that
 * must not be refused. Such a call has no turn: slice_began_us is 0, and it must not call
 * slow_lane_pass() or slow_lane_rest(). The caller owns the job and keeps it until the call
 * returns, or until the call gives it away. During the call the lane uses it only in
 * slow_lane_pass(), and after the call not at all. */
struct slow_job {
    void (*run)(void *cls);
    void (*refuse)(void *cls, enum slow_refusal why); /* NULL: `run` is called instead */
    void *cls;
    uint64_t owner;       /* a hash of the owner; 0: no owner, which counts as one owner, too */
    uint64_t deadline_us; /* on the lane's clock; UINT64_MAX: none */

    /* used by the lane */
    struct turns_job turn;
    struct slow_thread *thread; /* NULL: not begun */
    uint64_t slice_began_us;    /* 0: not begun */
};

struct slow_lane_settings {
    unsigned turns;    /* jobs that run at the same time */
    unsigned permits;  /* jobs that have begun; each has a thread */
    unsigned waiting;  /* jobs that have not begun */
    uint64_t slice_us; /* the length of a turn while others wait */
    /* The time to sleep, with nothing held, after a slice of that length, because other threads
     * need the processors; less than a second. NULL: none. Any thread of the lane. */
    uint64_t (*rest_us)(void *cls, uint64_t slice_us);
    void *rest_cls;
    uint64_t (*now_us)(void); /* NULL: the monotonic clock */
};

/* Starts as many threads as there are turns, and more when jobs need them. The caller ends them
 * with slow_lane_stop. NULL: the system cannot start more threads. */
struct slow_lane *slow_lane_start(const struct slow_lane_settings *settings);

/* Submits a job. Any thread. */
void slow_lane_submit(struct slow_lane *lane, struct slow_job *job);

/* Called by a running job on its own thread, at intervals of ten microseconds or more, to check
 * whether it may continue. If its slice is over, others get the turn, and the call returns when the
 * job has a turn again. The job must hold no lock. */
enum slow_pass slow_lane_pass(struct slow_lane *lane, struct slow_job *job) BERTH_MUST_CHECK;

/* Called by a job that is shorter than a slice, at the end of `run`, after running for that time:
 * sleeps while other threads need the processors. On its own thread; the job may have been given
 * away. */
void slow_lane_rest(const struct slow_lane *lane, uint64_t slice_us);

/* For metrics. */
struct slow_lane_figures {
    unsigned queued;          /* jobs waiting to begin */
    unsigned running;         /* jobs that have begun */
    unsigned long begun;      /* since the start */
    unsigned long refused[2]; /* by enum slow_refusal, since the start */
};

/* Any thread, until slow_lane_stop() is called. */
struct slow_lane_figures slow_lane_figures(struct slow_lane *lane);

/* Returns when every submitted job has run, and frees the lane. No job may be submitted any
 * more. */
void slow_lane_stop(struct slow_lane *lane);

#endif
