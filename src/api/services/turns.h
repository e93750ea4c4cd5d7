/* Who is next: jobs of several owners that share a few turns. Only the order; slow_lane.c adds
 * threads, a lock and a clock.
 *
 * A job waits until it has a slot, is then ready, and has a turn now and then until it is over.
 * Owners take turns whatever number of jobs they have, and so do the jobs of one owner. Slots bound
 * how many jobs are begun and keep memory; one owner never takes all of them. Any one thread at a
 * time. */
#ifndef BERTH_API_SERVICES_TURNS_H
#define BERTH_API_SERVICES_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"

enum turns_state { TURNS_WAITING, TURNS_READY, TURNS_RUNNING };

struct turns_owner;

/* One job, a member of what the caller keeps about it. All but `deadline_us` is the module's own.
 */
struct turns_job {
    uint64_t deadline_us; /* of the caller's clock; a waiting job is not worth beginning later */
    struct turns_owner *owner;
    struct turns_job *next; /* in its owner's queue */
    struct turns_job *previous;
    enum turns_state state;
};

struct turns;

/* So many jobs with a turn at a time, so many with a slot, and so many that wait, each at least 1.
 * The caller frees it, empty, with turns_destroy(). */
struct turns *turns_create(unsigned running_max, unsigned slots_max, unsigned waiting_max);
void turns_destroy(struct turns *turns);

/* A new job of this owner. Returns the job that has to go because too many wait: the newest of the
 * owner with most, which may be this one; it is forgotten. NULL: there is room. */
struct turns_job *turns_add(struct turns *turns, struct turns_job *job,
                            uint64_t owner) BERTH_MUST_CHECK;

/* Gives a free turn to the next job: of the owners with the fewest turns now, the one whose last
 * turn is longest ago. NULL: no turn is free, or nobody is ready. */
struct turns_job *turns_give(struct turns *turns);

/* The job's turn is over: it is ready again, behind the others of its owner. */
void turns_yield(struct turns *turns, struct turns_job *job);

/* The job, which has a turn, is over: forgotten. */
void turns_end(struct turns *turns, struct turns_job *job);

/* Forgets and returns a waiting job whose deadline has passed. NULL: none. */
struct turns_job *turns_take_late(struct turns *turns, uint64_t now_us);

/* More slots, or fewer: for a caller that gets no more threads. Jobs that have one keep it. */
void turns_limit_slots(struct turns *turns, unsigned slots_max);

struct turns_counts {
    unsigned waiting;
    unsigned slots; /* with a slot, those with a turn among them */
    unsigned running;
};

struct turns_counts turns_counts(const struct turns *turns);

#endif
