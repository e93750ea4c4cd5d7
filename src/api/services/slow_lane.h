/* Threads for requests that cost too much for a worker. Jobs run in slices: a few have a turn, the
 * others stand still on their own threads, and owners take turns, so that no job and no owner can
 * hold up others however much it has to do. */
#ifndef BERTH_API_SERVICES_SLOW_LANE_H
#define BERTH_API_SERVICES_SLOW_LANE_H

#include <stdint.h>

#include "api/services/turns.h"

struct slow_lane;
struct slow_thread;

enum slow_pass {
    SLOW_GO_ON,     /* within its slice */
    SLOW_NEW_SLICE, /* others had a turn meanwhile, if there are any */
    SLOW_LATE,      /* its deadline has passed: end it */
};

enum slow_refusal {
    SLOW_TOO_MANY,  /* too many jobs wait, most of them this owner's */
    SLOW_NOT_BEGUN, /* its deadline passed while it waited */
};

/* One job: either `run` is called once, on a thread of the lane, or `refuse` is, on any thread
 * (also within slow_lane_submit). If `refuse` is NULL, `run` is called in its place: for jobs that
 * must not be refused. Such a call has no turn: slice_began_us is 0, and it must not call
 * slow_lane_pass() or slow_lane_rest(). The caller owns it and keeps it until that call has
 * returned, or until the call has given it away: the lane does not touch it in between, except by
 * slow_lane_pass(), and not afterwards. */
struct slow_job {
    void (*run)(void *cls);
    void (*refuse)(void *cls, enum slow_refusal why); /* NULL: it runs all the same */
    void *cls;
    uint64_t owner;       /* whose it is, a hash; 0: nobody's, who is one owner, too */
    uint64_t deadline_us; /* on the lane's clock; UINT64_MAX: none */

    /* the lane's own */
    struct turns_job turn;
    struct slow_thread *thread; /* NULL: not begun */
    uint64_t slice_began_us;    /* 0: not begun */
};

struct slow_lane_settings {
    unsigned turns;    /* jobs that run at a time */
    unsigned slots;    /* jobs that have begun; each has a thread */
    unsigned waiting;  /* jobs that have not */
    uint64_t slice_us; /* how long a turn is while others wait */
    /* How long to sleep, with nothing held, after a slice of so long, for what others need of the
     * processors; less than a second. NULL: not at all. Any thread of the lane. */
    uint64_t (*rest_us)(void *cls, uint64_t slice_us);
    void *rest_cls;
    uint64_t (*now_us)(void); /* NULL: the monotonic clock */
};

/* Starts as many threads as there are turns, and further ones when jobs need them; the caller ends
 * them with slow_lane_stop. NULL: the system has no more. */
struct slow_lane *slow_lane_start(const struct slow_lane_settings *settings);

/* Any thread. */
void slow_lane_submit(struct slow_lane *lane, struct slow_job *job);

/* A running job asks, on its thread and now and then (some ten microseconds apart or more), whether
 * it may go on. When its slice is over, this lets others have the turn and returns when its own has
 * come again. The job holds no lock. */
enum slow_pass slow_lane_pass(struct slow_lane *lane, struct slow_job *job) BERTH_MUST_CHECK;

/* A job that is shorter than a slice has run for so long, and has nothing more to do: sleeps for
 * what others need of the processors. On its thread, at the end of `run`; the job may have been
 * given away. */
void slow_lane_rest(const struct slow_lane *lane, uint64_t slice_us);

/* For metrics. */
struct slow_lane_figures {
    unsigned queued;          /* jobs that wait to begin */
    unsigned running;         /* jobs that have begun */
    unsigned long begun;      /* ever */
    unsigned long refused[2]; /* by enum slow_refusal, ever */
};

/* Any thread, until slow_lane_stop() is called. */
struct slow_lane_figures slow_lane_figures(struct slow_lane *lane);

/* Returns when every submitted job has run; nobody submits any more. Frees the lane. */
void slow_lane_stop(struct slow_lane *lane);

#endif
