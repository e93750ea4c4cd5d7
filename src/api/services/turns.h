/* The order in which jobs of several owners share a few turns. Only the order; slow_lane.c adds
 * threads, a lock and a clock.
 *
 * A job waits until it has a permit, is then ready, and has turns until it ends. Owners take turns,
 * however many jobs they have, and so do the jobs of one owner. Slots limit how many jobs have
 * begun and use memory; one owner never takes all of them. Any thread, one at a time. */
#ifndef BERTH_API_SERVICES_TURNS_H
#define BERTH_API_SERVICES_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"

enum turns_state { TURNS_WAITING, TURNS_READY, TURNS_RUNNING };

struct turns_owner;

/* One job, a member of the caller's struct for it. All fields except `deadline_us` are used only by
 * this module. */
struct turns_job {
    uint64_t deadline_us; /* on the caller's clock; after it, a waiting job need not begin any
                           * more */
    struct turns_owner *owner;
    struct turns_job *next; /* in its owner's queue */
    struct turns_job *previous;
    enum turns_state state;
};

struct turns;

/* The maximum number of jobs that have a turn, that have a permit, and that wait; each at least 1.
 * The caller frees it, empty, with turns_destroy(). */
struct turns *turns_create(unsigned running_max, unsigned permits_max, unsigned waiting_max);
void turns_destroy(struct turns *turns);

/* Adds a new job of this owner. Returns the job that must be refused because too many wait: the
 * newest of the owner with the most, which may be this job; it is removed. NULL: there is room. */
struct turns_job *turns_add(struct turns *turns, struct turns_job *job,
                            uint64_t owner) BERTH_MUST_CHECK;

/* Gives a free turn to the next job: of the owners with the fewest turns at present, the one whose
 * last turn was longest ago. NULL: no turn is free, or no job is ready. */
struct turns_job *turns_give(struct turns *turns);

/* Ends the job's turn: it is ready again, after its owner's other jobs. */
void turns_yield(struct turns *turns, struct turns_job *job);

/* Ends and removes the job, which has a turn. */
void turns_end(struct turns *turns, struct turns_job *job);

/* Removes and returns a waiting job whose deadline has passed. NULL: none. */
struct turns_job *turns_take_late(struct turns *turns, uint64_t now_us);

/* Changes the number of permits, for a caller that cannot start more threads. Jobs that have a
 * permit keep it. */
void turns_limit_permits(struct turns *turns, unsigned permits_max);

struct turns_counts {
    unsigned waiting;
    unsigned permits; /* with a permit, including those with a turn */
    unsigned running;
};

struct turns_counts turns_counts(const struct turns *turns);

#endif
