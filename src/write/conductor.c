/* Turns: collect what is due from a version, submit one request for each, wait for all, look again.
 *
 * What is to be done is read from the rows (busy nodes with the time they are due, allocations in
 * state allocating), so that after a crash there is nothing to be restored: the rows of the dead
 * process are due at once, or, where nobody can see that it is dead, a minute after their time.
 * Whoever acts on a row does so at its time, so a row that is a minute late has nobody. A job may
 * find its work done already: then it changes nothing.
 *
 * Only the tries of allocations that met locked nodes are in memory alone; a restart begins them
 * anew, as it should. One thread, beside those who submit and the writer who calls back. */
#include "write/conductor.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "log/log.h"
#include "write/conductor_internal.h"

enum {
    LOOK_EVERY_US = 5000000,  /* at what other processes may have left behind */
    DEAD_AFTER_US = 60000000, /* rows of a process that cannot be seen */
    RETRY_AFTER_US = 1000000, /* the database was away */
    PATIENCE_US = 2000000,    /* of requests that wait for a locked node */
    WAITING_LOOK_US = 50000,
    JOBS_MAX = 512 /* of one turn: what comes meanwhile is not kept waiting long */
};

struct conductor *conductor_create(struct pipeline *pipeline, struct replica *replica,
                                   const struct metal *metal)
{
    struct conductor *conductor = calloc(1, sizeof(*conductor));
    check(conductor != NULL);
    conductor->pipeline = pipeline;
    conductor->metal = metal;
    conductor->reader = replica_reader_open(replica);
    conductor->arena = arena_create();
    conductor->jobs = calloc(JOBS_MAX, sizeof(struct conductor_job));
    check(conductor->jobs != NULL);
    conductor->last_waiting = &conductor->waiting;
    pthread_mutex_init(&conductor->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&conductor->changed, &attr);
    pthread_condattr_destroy(&attr);
    return conductor;
}

void conductor_destroy(struct conductor *conductor)
{
    for (size_t i = 0; i < conductor->try_count; i++)
        node_choice_free(&conductor->tries[i].choice);
    free(conductor->tries);
    free(conductor->jobs);
    arena_destroy(conductor->arena);
    replica_reader_close(conductor->reader);
    pthread_cond_destroy(&conductor->changed);
    pthread_mutex_destroy(&conductor->lock);
    free(conductor);
}

static void job_done(struct pipeline_request *request)
{
    struct conductor_job *job = (struct conductor_job *)request;
    struct conductor *conductor = job->conductor;
    pthread_mutex_lock(&conductor->lock);
    conductor->pending--;
    if (conductor->pending == 0)
        pthread_cond_signal(&conductor->changed);
    pthread_mutex_unlock(&conductor->lock);
}

static bool add_job(struct conductor *conductor, enum conductor_work work, int64_t id)
{
    if (conductor->job_count == JOBS_MAX)
        return false;
    conductor->jobs[conductor->job_count++] = (struct conductor_job){
        .request = {.plan = conductor_plan, .done = job_done, .err = {.arena = conductor->arena}},
        .conductor = conductor,
        .work = work,
        .id = id,
    };
    return true;
}

static void note_due(struct conductor *conductor, int64_t due_us)
{
    if (due_us < conductor->next_us)
        conductor->next_us = due_us;
}

/* Whether to act on a row now, and if it is our own. */
static bool is_due(struct conductor *conductor, struct slice owner, int64_t due_us, int64_t now_us,
                   bool *is_ours)
{
    const struct metal *metal = conductor->metal;
    *is_ours = slice_equal(owner, metal->instance);
    if (!*is_ours && !instance_is_gone(owner, metal->host))
        due_us += DEAD_AFTER_US;
    else if (!*is_ours)
        due_us = 0;
    if (due_us <= now_us)
        return true;
    note_due(conductor, due_us);
    return false;
}

/* Locks of the dead are dropped before allocations are taken up. */
static void collect_nodes(struct conductor *conductor, const struct version *version,
                          int64_t now_us, bool *recovers)
{
    for (const struct node *node = version_next_busy_node(version, 0); node != NULL;
         node = version_next_busy_node(version, node->record.id)) {
        bool is_ours;
        if (!is_due(conductor, node_text(node, NODE_OWNER_INSTANCE), node_time(node, NODE_DUE_AT),
                    now_us, &is_ours))
            continue;
        *recovers = *recovers || !is_ours;
        if (!add_job(conductor, is_ours ? WORK_ADVANCE : WORK_RECOVER, node->record.id))
            return;
    }
}

static struct conductor_try *find_try(struct conductor *conductor, int64_t id)
{
    for (size_t i = 0; i < conductor->try_count; i++)
        if (conductor->tries[i].id == id)
            return &conductor->tries[i];
    return NULL;
}

/* Those of allocations that were deleted meanwhile. */
static void drop_old_tries(struct conductor *conductor, const struct version *version)
{
    for (size_t i = 0; i < conductor->try_count;) {
        const struct node_allocation *at = version_node_allocation(version, conductor->tries[i].id);
        if (at != NULL && node_allocation_text_is(at, NODE_ALLOCATION_STATE, "allocating")) {
            i++;
            continue;
        }
        node_choice_free(&conductor->tries[i].choice);
        conductor->tries[i] = conductor->tries[--conductor->try_count];
    }
}

static void collect_allocations(struct conductor *conductor, const struct version *version,
                                int64_t now_us)
{
    drop_old_tries(conductor, version);
    for (const struct node_allocation *at = version_next_allocating(version, 0); at != NULL;
         at = version_next_allocating(version, at->record.id)) {
        const struct conductor_try *again = find_try(conductor, at->record.id);
        bool is_ours;
        if (again != NULL && again->next_us > now_us) {
            note_due(conductor, again->next_us);
            continue;
        }
        if (!is_due(conductor, node_allocation_text(at, NODE_ALLOCATION_OWNER_INSTANCE),
                    node_allocation_time(at, NODE_ALLOCATION_DUE_AT), now_us, &is_ours))
            continue;
        if (!add_job(conductor, WORK_DECIDE, at->record.id))
            return;
        struct conductor_job *job = &conductor->jobs[conductor->job_count - 1];
        if (again != NULL)
            job->choice = again->choice;
    }
}

/* Somebody else may have written Placement's tables, or the mirror is new. */
static void collect_unmirrored(struct conductor *conductor, const struct version *version)
{
    if (!conductor->metal->mirror || !conductor->looks_at_mirror)
        return;
    conductor->looks_at_mirror = false;
    for (const struct node *node = version_next_node(version, 0); node != NULL;
         node = version_next_node(version, node->record.id))
        if (!node_is_mirrored(version, node, conductor->arena) &&
            !add_job(conductor, WORK_MIRROR, node->record.id)) {
            conductor->looks_at_mirror = true;
            return;
        }
}

static void watch_loads(struct conductor *conductor)
{
    uint64_t loads = pipeline_figures(conductor->pipeline).reloads;
    if (loads != conductor->loads_seen)
        conductor->looks_at_mirror = true;
    conductor->loads_seen = loads;
}

unsigned conductor_begin_turn(struct conductor *conductor, int64_t now_us)
{
    bool recovers = false;
    conductor->job_count = 0;
    conductor->next_us = now_us + LOOK_EVERY_US;
    arena_reset(conductor->arena);
    watch_loads(conductor);
    const struct version *version = replica_pin(conductor->reader);
    collect_nodes(conductor, version, now_us, &recovers);
    if (!recovers)
        collect_allocations(conductor, version, now_us);
    collect_unmirrored(conductor, version);
    replica_unpin(conductor->reader);
    conductor->pending = conductor->job_count; /* nobody else counts before the first submit */
    for (unsigned i = 0; i < conductor->job_count; i++)
        pipeline_submit(conductor->pipeline, &conductor->jobs[i].request);
    return conductor->job_count;
}

static void drop_try(struct conductor *conductor, int64_t id)
{
    struct conductor_try *found = find_try(conductor, id);
    if (found != NULL)
        *found = conductor->tries[--conductor->try_count];
}

static void keep_try(struct conductor *conductor, struct conductor_job *job, int64_t next_us)
{
    struct conductor_try *found = find_try(conductor, job->id);
    if (found == NULL) {
        if (conductor->try_count == conductor->try_capacity) {
            conductor->try_capacity =
                conductor->try_capacity == 0 ? 16 : 2 * conductor->try_capacity;
            conductor->tries = reallocarray(conductor->tries, conductor->try_capacity,
                                            sizeof(struct conductor_try));
            check(conductor->tries != NULL);
        }
        found = &conductor->tries[conductor->try_count++];
    }
    *found = (struct conductor_try){job->id, next_us, job->choice};
}

static void end_decision(struct conductor *conductor, struct conductor_job *job, int64_t now_us)
{
    if (job->tries_again) {
        keep_try(conductor, job, now_us + conductor->metal->locked_retry_interval_us);
        note_due(conductor, now_us + conductor->metal->locked_retry_interval_us);
        return;
    }
    drop_try(conductor, job->id);
    node_choice_free(&job->choice);
}

void conductor_end_turn(struct conductor *conductor, int64_t now_us)
{
    check(conductor->pending == 0);
    for (unsigned i = 0; i < conductor->job_count; i++) {
        struct conductor_job *job = &conductor->jobs[i];
        if (err_is_set(&job->request.err)) {
            if (job->work == WORK_MIRROR)
                log_write(LOG_LEVEL_WARNING, "berth.baremetal", LOG_NO_CONTEXT, "%.*s",
                          SLICE_ARG(job->request.err.message));
            else if (job->work == WORK_DECIDE)
                keep_try(conductor, job, now_us + RETRY_AFTER_US);
            conductor->rests_until_us = now_us + RETRY_AFTER_US;
        } else if (job->work == WORK_DECIDE) {
            end_decision(conductor, job, now_us);
        }
    }
    if (conductor->job_count > 0)
        conductor->next_us = now_us; /* what was done may have made something else due */
    if (conductor->next_us < conductor->rests_until_us)
        conductor->next_us = conductor->rests_until_us;
}

/* Under the lock. All, when locks may have ended or it is time to look. */
static struct conductor_wait *take_waiting(struct conductor *conductor)
{
    bool is_time = conductor->job_count > 0 || conductor->is_stopping ||
                   clock_monotonic_us() >= conductor->waiting_look_us;
    if (!is_time)
        return NULL;
    struct conductor_wait *first = conductor->waiting;
    conductor->waiting = NULL;
    conductor->last_waiting = &conductor->waiting;
    return first;
}

static void submit_waiting(struct conductor_wait *first)
{
    while (first != NULL) {
        struct conductor_wait *wait = first;
        first = wait->next;
        struct pipeline_request *request = wait->request;
        request->err = (struct err){.arena = request->err.arena};
        pipeline_submit(wait->conductor->pipeline, request);
    }
}

/* Under the lock. */
static void sleep_until(struct conductor *conductor, int64_t wall_us)
{
    int64_t left_us = wall_us - clock_wall_us();
    if (left_us > LOOK_EVERY_US) /* the clock was set back */
        left_us = LOOK_EVERY_US;
    if (left_us <= 0)
        return;
    uint64_t at_us = clock_monotonic_us() + (uint64_t)left_us;
    if (conductor->waiting != NULL && at_us > conductor->waiting_look_us)
        at_us = conductor->waiting_look_us;
    struct timespec at = {.tv_sec = (time_t)(at_us / 1000000),
                          .tv_nsec = (long)(at_us % 1000000) * 1000};
    pthread_cond_timedwait(&conductor->changed, &conductor->lock, &at);
}

static void wait_for_pending(struct conductor *conductor)
{
    pthread_mutex_lock(&conductor->lock);
    while (conductor->pending > 0)
        pthread_cond_wait(&conductor->changed, &conductor->lock);
    pthread_mutex_unlock(&conductor->lock);
}

/* Without clients nobody would notice what other processes commit. */
static void follow(struct conductor *conductor)
{
    const struct version *version = replica_pin(conductor->reader);
    bool is_current = pipeline_is_current(conductor->pipeline, version);
    replica_unpin(conductor->reader);
    if (is_current)
        return;
    arena_reset(conductor->arena);
    conductor->jobs[0] = (struct conductor_job){
        .request = {.done = job_done, .err = {.arena = conductor->arena}},
        .conductor = conductor,
    };
    conductor->pending = 1;
    pipeline_submit(conductor->pipeline, &conductor->jobs[0].request);
    wait_for_pending(conductor);
}

static void make_turn(struct conductor *conductor)
{
    int64_t now_us = clock_wall_us();
    conductor->job_count = 0;
    if (now_us < conductor->rests_until_us) {
        conductor->next_us = conductor->rests_until_us;
        return;
    }
    if (conductor_begin_turn(conductor, now_us) > 0)
        wait_for_pending(conductor);
    conductor_end_turn(conductor, clock_wall_us());
}

static void *run(void *cls)
{
    struct conductor *conductor = cls;
    uint64_t followed_us = 0;
    pthread_mutex_lock(&conductor->lock);
    while (!conductor->is_stopping) {
        conductor->is_woken = false;
        pthread_mutex_unlock(&conductor->lock);
        if (clock_monotonic_us() - followed_us >= LOOK_EVERY_US) {
            follow(conductor);
            followed_us = clock_monotonic_us();
        }
        make_turn(conductor);
        pthread_mutex_lock(&conductor->lock);
        if (!conductor->is_woken && !conductor->is_stopping)
            sleep_until(conductor, conductor->next_us);
        struct conductor_wait *waiting = take_waiting(conductor);
        pthread_mutex_unlock(&conductor->lock);
        submit_waiting(waiting);
        pthread_mutex_lock(&conductor->lock);
    }
    struct conductor_wait *waiting = take_waiting(conductor);
    pthread_mutex_unlock(&conductor->lock);
    submit_waiting(waiting); /* a last time: from here on none comes back */
    return NULL;
}

struct conductor *conductor_start(struct pipeline *pipeline, struct replica *replica,
                                  const struct metal *metal, struct err *err)
{
    struct conductor *conductor = conductor_create(pipeline, replica, metal);
    if (pthread_create(&conductor->thread, NULL, run, conductor) == 0)
        return conductor;
    err_set(err, 503, NULL, "cannot start the thread of bare metal nodes");
    conductor_destroy(conductor);
    return NULL;
}

void conductor_stop(struct conductor *conductor)
{
    pthread_mutex_lock(&conductor->lock);
    conductor->is_stopping = true;
    pthread_cond_signal(&conductor->changed);
    pthread_mutex_unlock(&conductor->lock);
    pthread_join(conductor->thread, NULL);
    conductor_destroy(conductor);
}

void conductor_wake(struct conductor *conductor)
{
    pthread_mutex_lock(&conductor->lock);
    conductor->is_woken = true;
    pthread_cond_signal(&conductor->changed);
    pthread_mutex_unlock(&conductor->lock);
}

/* On the writer's thread. */
static void waited(struct pipeline_request *request)
{
    struct conductor_wait *wait = request->wait;
    struct conductor *conductor = wait->conductor;
    bool is_locked = err_is_set(&request->err) && request->err.kind == (int)REFUSED_LOCKED;
    if (is_locked && clock_wall_us() < wait->give_up_us) {
        pthread_mutex_lock(&conductor->lock);
        bool waits = !conductor->is_stopping;
        if (waits) {
            if (conductor->waiting == NULL)
                conductor->waiting_look_us = clock_monotonic_us() + WAITING_LOOK_US;
            wait->next = NULL;
            *conductor->last_waiting = wait;
            conductor->last_waiting = &wait->next;
            pthread_cond_signal(&conductor->changed);
        }
        pthread_mutex_unlock(&conductor->lock);
        if (waits)
            return;
    }
    wait->done(request);
}

void conductor_submit(struct conductor *conductor, struct conductor_wait *wait,
                      struct pipeline_request *request)
{
    *wait = (struct conductor_wait){
        .request = request,
        .done = request->done,
        .conductor = conductor,
        .give_up_us = clock_wall_us() + PATIENCE_US,
    };
    request->wait = wait;
    request->done = waited;
    pipeline_submit(conductor->pipeline, request);
}
