/* A list of owners, each with two queues: jobs that wait for a permit, and jobs that are ready.
 * There are at most as many owners as jobs, a thousand, so the list is short enough to be walked
 * for every turn.
 *
 * Slots are assigned so that no owner can take all: while more than half are free, to any owner;
 * after that to owners with fewer than two; the last quarter only to owners that have none. Turns:
 * see turns_give(). Invariants: a job is in exactly one queue of its owner unless it has a turn; an
 * owner without jobs does not exist; no job waits that could have a permit. */
#include "api/services/turns.h"

#include <stddef.h>
#include <stdlib.h>

struct queue {
    struct turns_job *first;
    struct turns_job *last;
    unsigned count;
};

struct turns_owner {
    uint64_t id;
    struct turns_owner *next;
    struct turns_owner *previous;
    struct queue waiting;
    struct queue ready;
    unsigned running;
    uint64_t served; /* the number of its last turn */
};

struct turns {
    struct turns_owner *owners; /* in the order of their arrival */
    struct turns_owner *newest;
    struct turns_counts counts;
    unsigned running_max;
    unsigned permits_max;
    unsigned waiting_max;
    uint64_t given; /* turns since the start */
};

struct turns *turns_create(unsigned running_max, unsigned permits_max, unsigned waiting_max)
{
    struct turns *turns = calloc(1, sizeof(*turns));
    check(turns != NULL && running_max > 0 && permits_max > 0 && waiting_max > 0);
    turns->running_max = running_max;
    turns->permits_max = permits_max;
    turns->waiting_max = waiting_max;
    return turns;
}

void turns_destroy(struct turns *turns)
{
    check(turns->owners == NULL);
    free(turns);
}

static void turns_put(struct queue *queue, struct turns_job *job)
{
    job->next = NULL;
    job->previous = queue->last;
    if (queue->last != NULL)
        queue->last->next = job;
    else
        queue->first = job;
    queue->last = job;
    queue->count++;
}

static void turns_take(struct queue *queue, struct turns_job *job)
{
    if (job->previous != NULL)
        job->previous->next = job->next;
    else
        queue->first = job->next;
    if (job->next != NULL)
        job->next->previous = job->previous;
    else
        queue->last = job->previous;
    queue->count--;
}

static struct turns_owner *owner_of(struct turns *turns, uint64_t id)
{
    for (struct turns_owner *at = turns->owners; at != NULL; at = at->next)
        if (at->id == id)
            return at;
    struct turns_owner *owner = calloc(1, sizeof(*owner));
    check(owner != NULL);
    owner->id = id;
    owner->served = turns->given; /* after all present owners */
    owner->previous = turns->newest;
    if (turns->newest != NULL)
        turns->newest->next = owner;
    else
        turns->owners = owner;
    turns->newest = owner;
    return owner;
}

static void forget_if_idle(struct turns *turns, struct turns_owner *owner)
{
    if (owner->waiting.count + owner->ready.count + owner->running > 0)
        return;
    if (owner->previous != NULL)
        owner->previous->next = owner->next;
    else
        turns->owners = owner->next;
    if (owner->next != NULL)
        owner->next->previous = owner->previous;
    else
        turns->newest = owner->previous;
    free(owner);
}

static unsigned permits_of(const struct turns_owner *owner)
{
    return owner->ready.count + owner->running;
}

static bool may_have_permit(const struct turns *turns, const struct turns_owner *owner)
{
    unsigned has = permits_of(owner);
    if (turns->counts.permits >= turns->permits_max)
        return false;
    unsigned left = turns->permits_max - turns->counts.permits;
    if (2 * left > turns->permits_max)
        return true;
    return has < (4 * left > turns->permits_max ? 2 : 1);
}

/* The owner that gets the next permit: the one with the fewest, of equals the earliest. */
static struct turns_owner *next_for_permit(const struct turns *turns)
{
    struct turns_owner *best = NULL;
    for (struct turns_owner *at = turns->owners; at != NULL; at = at->next)
        if (at->waiting.count > 0 && may_have_permit(turns, at) &&
            (best == NULL || permits_of(at) < permits_of(best)))
            best = at;
    return best;
}

static void give_permits(struct turns *turns)
{
    struct turns_owner *owner;
    while (turns->counts.waiting > 0 && (owner = next_for_permit(turns)) != NULL) {
        struct turns_job *job = owner->waiting.first;
        turns_take(&owner->waiting, job);
        turns_put(&owner->ready, job);
        job->state = TURNS_READY;
        turns->counts.waiting--;
        turns->counts.permits++;
    }
}

static void forget_waiting(struct turns *turns, struct turns_job *job)
{
    struct turns_owner *owner = job->owner;
    turns_take(&owner->waiting, job);
    turns->counts.waiting--;
    forget_if_idle(turns, owner);
}

/* The newest waiting job of the owner with the most waiting jobs. */
static struct turns_job *crowd_out(struct turns *turns)
{
    const struct turns_owner *most = turns->owners;
    for (const struct turns_owner *at = turns->owners; at != NULL; at = at->next)
        if (at->waiting.count > most->waiting.count)
            most = at;
    struct turns_job *job = most->waiting.last;
    forget_waiting(turns, job);
    return job;
}

struct turns_job *turns_add(struct turns *turns, struct turns_job *job, uint64_t owner)
{
    job->owner = owner_of(turns, owner);
    job->state = TURNS_WAITING;
    turns_put(&job->owner->waiting, job);
    turns->counts.waiting++;
    give_permits(turns);
    return turns->counts.waiting > turns->waiting_max ? crowd_out(turns) : NULL;
}

struct turns_job *turns_give(struct turns *turns)
{
    struct turns_owner *next = NULL;
    if (turns->counts.running >= turns->running_max)
        return NULL;
    for (struct turns_owner *at = turns->owners; at != NULL; at = at->next) {
        if (at->ready.count == 0)
            continue;
        if (next == NULL || at->running < next->running ||
            (at->running == next->running && at->served < next->served))
            next = at;
    }
    if (next == NULL)
        return NULL;
    struct turns_job *job = next->ready.first;
    turns_take(&next->ready, job);
    job->state = TURNS_RUNNING;
    next->running++;
    next->served = ++turns->given;
    turns->counts.running++;
    return job;
}

void turns_yield(struct turns *turns, struct turns_job *job)
{
    check(job->state == TURNS_RUNNING);
    job->owner->running--;
    turns->counts.running--;
    job->state = TURNS_READY;
    turns_put(&job->owner->ready, job);
}

void turns_end(struct turns *turns, struct turns_job *job)
{
    check(job->state == TURNS_RUNNING);
    job->owner->running--;
    turns->counts.running--;
    turns->counts.permits--;
    forget_if_idle(turns, job->owner);
    give_permits(turns);
}

struct turns_job *turns_take_late(struct turns *turns, uint64_t now_us)
{
    for (struct turns_owner *at = turns->owners; at != NULL; at = at->next) {
        struct turns_job *oldest = at->waiting.first;
        if (oldest == NULL || oldest->deadline_us > now_us)
            continue;
        forget_waiting(turns, oldest);
        return oldest;
    }
    return NULL;
}

void turns_limit_permits(struct turns *turns, unsigned permits_max)
{
    check(permits_max > 0);
    turns->permits_max = permits_max;
    give_permits(turns);
}

struct turns_counts turns_counts(const struct turns *turns)
{
    return turns->counts;
}
