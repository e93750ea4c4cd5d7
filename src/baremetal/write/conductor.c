/* The conductor's thread: its passes (conductor_pass.c), sleeping until the next one, the requests
 * that wait (conductor_wait.c), its start and end. Other threads submit requests, and the writer
 * calls back. */
#include "baremetal/write/conductor.h"

#include <stdlib.h>

#include "baremetal/write/conductor_internal.h"
#include "base/clock.h"
#include "base/wait.h"

struct conductor *conductor_create(struct pipeline *pipeline, struct replica *replica,
                                   const struct metal *metal)
{
    struct conductor *conductor = calloc(1, sizeof(*conductor));
    check(conductor != NULL);
    conductor->pipeline = pipeline;
    conductor->metal = metal;
    conductor->reader = replica_reader_open(replica);
    conductor->arena = arena_create();
    conductor->jobs = calloc(CONDUCTOR_JOBS_MAX, sizeof(struct conductor_job));
    check(conductor->jobs != NULL);
    conductor->last_waiting = &conductor->waiting;
    pthread_mutex_init(&conductor->lock, NULL);
    wait_init(&conductor->changed);
    return conductor;
}

void conductor_destroy(struct conductor *conductor)
{
    for (unsigned i = 0; i < conductor->job_count; i++) /* of a pass that was not ended */
        node_choice_free(&conductor->jobs[i].choice);
    conductor_free_tries(conductor);
    conductor_free_seen(conductor->nodes_seen);
    conductor_free_seen(conductor->allocations_seen);
    free(conductor->walk.conflicts.at);
    free(conductor->walk.conflicts_before.at);
    free(conductor->refused.at);
    free(conductor->jobs);
    arena_destroy(conductor->arena);
    replica_reader_close(conductor->reader);
    pthread_cond_destroy(&conductor->changed);
    pthread_mutex_destroy(&conductor->lock);
    free(conductor);
}

/* Under the lock. */
static void sleep_until(struct conductor *conductor, int64_t wall_us)
{
    int64_t left_us = wall_us - clock_wall_us();
    if (left_us > CONDUCTOR_LOOK_EVERY_US) /* the clock was set back */
        left_us = CONDUCTOR_LOOK_EVERY_US;
    if (left_us <= 0)
        return;
    uint64_t at_us = clock_monotonic_us() + (uint64_t)left_us;
    if (conductor->waiting != NULL && at_us > conductor->waiting_look_us)
        at_us = conductor->waiting_look_us;
    wait_until(&conductor->changed, &conductor->lock, at_us);
}

static void wait_for_pending(struct conductor *conductor)
{
    pthread_mutex_lock(&conductor->lock);
    while (conductor->pending > 0)
        pthread_cond_wait(&conductor->changed, &conductor->lock);
    pthread_mutex_unlock(&conductor->lock);
}

/* Without clients nothing else would read what other processes commit. */
static void follow(struct conductor *conductor)
{
    const struct version *version = replica_pin(conductor->reader);
    bool is_current = pipeline_is_current(conductor->pipeline, version);
    replica_unpin(conductor->reader);
    if (is_current)
        return;
    arena_reset(conductor->arena);
    conductor->jobs[0] = (struct conductor_job){
        .request = {.done = conductor_job_done, .err = {.arena = conductor->arena}},
        .conductor = conductor,
    };
    conductor->pending = 1;
    pipeline_await_current(conductor->pipeline, &conductor->jobs[0].request);
    wait_for_pending(conductor);
}

static struct conductor_time now(void)
{
    return (struct conductor_time){clock_wall_us(), clock_monotonic_us()};
}

static void make_pass(struct conductor *conductor)
{
    if (conductor_rests(conductor, clock_wall_us())) {
        conductor->job_count = 0;
        conductor->next_us = conductor->rests_until_us;
        return;
    }
    if (conductor_begin_pass(conductor, now()) > 0)
        wait_for_pending(conductor);
    conductor_end_pass(conductor, now());
}

static void *conductor_run(void *cls)
{
    struct conductor *conductor = cls;
    uint64_t followed_us = 0;
    pthread_mutex_lock(&conductor->lock);
    while (!conductor->is_stopping) {
        conductor->is_woken = false;
        pthread_mutex_unlock(&conductor->lock);
        if (clock_monotonic_us() - followed_us >= CONDUCTOR_LOOK_EVERY_US) {
            follow(conductor);
            followed_us = clock_monotonic_us();
        }
        make_pass(conductor);
        pthread_mutex_lock(&conductor->lock);
        if (!conductor->is_woken && !conductor->is_stopping)
            sleep_until(conductor, conductor->next_us);
        struct conductor_wait *waiting = conductor_take_waiting(conductor);
        pthread_mutex_unlock(&conductor->lock);
        conductor_submit_waiting(waiting);
        pthread_mutex_lock(&conductor->lock);
    }
    struct conductor_wait *waiting = conductor_take_waiting(conductor);
    pthread_mutex_unlock(&conductor->lock);
    conductor_submit_waiting(waiting); /* for the last time: from here on none waits again */
    return NULL;
}

struct conductor *conductor_start(struct pipeline *pipeline, struct replica *replica,
                                  const struct metal *metal, struct err *err)
{
    struct conductor *conductor = conductor_create(pipeline, replica, metal);
    if (pthread_create(&conductor->thread, NULL, conductor_run, conductor) == 0)
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
    pthread_mutex_lock(&conductor->lock);
    while (conductor->in_flight > 0) /* the writer still calls back for these */
        pthread_cond_wait(&conductor->changed, &conductor->lock);
    pthread_mutex_unlock(&conductor->lock);
    conductor_destroy(conductor);
}

void conductor_wake(struct conductor *conductor)
{
    pthread_mutex_lock(&conductor->lock);
    conductor->is_woken = true;
    pthread_cond_signal(&conductor->changed);
    pthread_mutex_unlock(&conductor->lock);
}
