/* Requests that met a locked node: they are tried again after each turn that did something, and
 * twenty times a second, until their time is over (baremetal-allocations spec, 8.6). A request's
 * plan runs once for each try, each time on the newest version. Any thread submits, the writer's
 * calls back, the conductor's submits again. */
#include "base/clock.h"
#include "write/conductor_internal.h"

enum {
    PATIENCE_US = 2000000,
    WAITING_LOOK_US = 50000,
};

struct conductor_wait *conductor_take_waiting(struct conductor *conductor)
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

void conductor_submit_waiting(struct conductor_wait *first)
{
    while (first != NULL) {
        struct conductor_wait *wait = first;
        first = wait->next;
        struct pipeline_request *request = wait->request;
        request->err = (struct err){.arena = request->err.arena};
        pipeline_submit(wait->conductor->pipeline, request);
    }
}

/* Under the lock: whether it comes back. */
static bool wait_more(struct conductor *conductor, struct conductor_wait *wait)
{
    if (conductor->is_stopping || clock_monotonic_us() >= wait->give_up_us)
        return false;
    if (conductor->waiting == NULL)
        conductor->waiting_look_us = clock_monotonic_us() + WAITING_LOOK_US;
    wait->next = NULL;
    *conductor->last_waiting = wait;
    conductor->last_waiting = &wait->next;
    return true;
}

/* On the writer's thread, or on the one that submitted when the pipeline is stopping. */
static void waited(struct pipeline_request *request)
{
    struct conductor_wait *wait = request->wait;
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
        wait->done(request); /* the conductor may be gone from here on */
}

void conductor_submit(struct conductor *conductor, struct conductor_wait *wait,
                      struct pipeline_request *request)
{
    *wait = (struct conductor_wait){
        .request = request,
        .done = request->done,
        .conductor = conductor,
        .give_up_us = clock_monotonic_us() + PATIENCE_US,
    };
    request->wait = wait;
    request->done = waited;
    pthread_mutex_lock(&conductor->lock);
    conductor->in_flight++;
    pthread_mutex_unlock(&conductor->lock);
    pipeline_submit(conductor->pipeline, request);
}
