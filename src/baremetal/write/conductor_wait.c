/* Requests that found a node locked. They are tried again after each pass that changed something,
 * and twenty times a second if anything has been written since, until their time is over
 * (baremetal-allocations spec, 8.6). A request's plan runs once for each try, each time on the
 * newest version. Any thread submits, the writer's thread calls back, the conductor's thread
 * submits again. */
#include "baremetal/write/conductor_internal.h"
#include "base/clock.h"

enum {
    PATIENCE_US = 2000000,
    WAITING_LOOK_US = 50000,
};

/* Whether the database is, or may be, newer than the version in memory. If only the database knows,
 * the batches of the requests that are tried again find out. */
static bool has_news(struct conductor *conductor)
{
    bool is_current = pipeline_is_current(conductor->pipeline, replica_pin(conductor->reader));
    replica_unpin(conductor->reader);
    return !is_current;
}

static void put_last(struct conductor *conductor, struct conductor_wait *wait)
{
    wait->next = NULL;
    *conductor->last_waiting = wait;
    conductor->last_waiting = &wait->next;
}

struct conductor_wait *conductor_take_waiting(struct conductor *conductor)
{
    uint64_t now_us = clock_monotonic_us();
    if (conductor->waiting == NULL || (conductor->job_count == 0 && !conductor->is_stopping &&
                                       now_us < conductor->waiting_look_us))
        return NULL;
    bool all = conductor->is_stopping || has_news(conductor);
    uint64_t changes = pipeline_changes(conductor->pipeline);
    struct conductor_wait *taken = NULL;
    struct conductor_wait **last = &taken;
    struct conductor_wait *next = conductor->waiting;
    conductor->waiting = NULL;
    conductor->last_waiting = &conductor->waiting;
    conductor->waiting_look_us = now_us + WAITING_LOOK_US;
    while (next != NULL) {
        struct conductor_wait *wait = next;
        next = wait->next;
        if (all || changes != wait->seen || now_us >= wait->give_up_us) {
            wait->next = NULL;
            *last = wait;
            last = &wait->next;
        } else {
            put_last(conductor, wait);
        }
    }
    return taken;
}

void conductor_submit_waiting(struct conductor_wait *first)
{
    while (first != NULL) {
        struct conductor_wait *wait = first;
        first = wait->next;
        struct pipeline_request *request = wait->request;
        request->err = (struct err){.arena = request->err.arena};
        wait->seen = pipeline_changes(wait->conductor->pipeline);
        pipeline_submit(wait->conductor->pipeline, request);
    }
}

/* Under the lock: whether the request waits again. */
static bool wait_more(struct conductor *conductor, struct conductor_wait *wait)
{
    if (conductor->is_stopping || clock_monotonic_us() >= wait->give_up_us)
        return false;
    if (conductor->waiting == NULL)
        conductor->waiting_look_us = clock_monotonic_us() + WAITING_LOOK_US;
    put_last(conductor, wait);
    return true;
}

/* On the writer's thread, or on the thread that submitted if the pipeline is stopping. */
static void waited(struct pipeline_request *request)
{
    struct conductor_wait *wait = request->submitter;
    struct conductor *conductor = wait->conductor;
    bool is_locked = err_is_set(&request->err) && request->err.kind == (int)REFUSED_LOCKED;
    pthread_mutex_lock(&conductor->lock);
    bool waits = is_locked && wait_more(conductor, wait);
    if (!waits)
        conductor->in_flight--;
    if (waits || conductor->is_stopping)
        pthread_cond_signal(&conductor->changed);
    pthread_mutex_unlock(&conductor->lock);
    if (!waits)
        wait->done(request); /* the conductor may be freed from here on */
}

void conductor_submit(struct conductor *conductor, struct conductor_wait *wait,
                      struct pipeline_request *request)
{
    *wait = (struct conductor_wait){
        .request = request,
        .done = request->done,
        .conductor = conductor,
        .give_up_us = clock_monotonic_us() + PATIENCE_US,
        /* taken before submitting: the batch that finds the lock may also remove it */
        .seen = pipeline_changes(conductor->pipeline),
    };
    request->submitter = wait;
    request->done = waited;
    pthread_mutex_lock(&conductor->lock);
    conductor->in_flight++;
    pthread_mutex_unlock(&conductor->lock);
    pipeline_submit(conductor->pipeline, request);
}
