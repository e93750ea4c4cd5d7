/* A queue and its threads, scheduled idle: whatever a pathological query costs, others are served
 * first. The queue is in the order of turns: of each owner there is at most one job in a turn, and
 * what comes now gets none that has begun, so that no job waits for more than those of its turn
 * and of the turns before. */
#include "api/services/slow_lane.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/check.h"

enum { SLOW_THREADS_MAX = 16 };

struct slow_lane {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct slow_job *first;
    uint64_t turn; /* of the job that has begun last */
    bool stopping;
    struct slow_lane_figures figures;
    unsigned threads;
    pthread_t thread[SLOW_THREADS_MAX];
};

static void *work(void *cls)
{
    struct slow_lane *lane = cls;
    struct sched_param param = {0};
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &param);
    pthread_mutex_lock(&lane->lock);
    for (;;) {
        while (lane->first == NULL && !lane->stopping)
            pthread_cond_wait(&lane->wake, &lane->lock);
        struct slow_job *job = lane->first;
        if (job == NULL)
            break;
        lane->first = job->next;
        lane->turn = job->turn;
        lane->figures.queued--;
        lane->figures.running++;
        lane->figures.begun++;
        pthread_mutex_unlock(&lane->lock);
        job->run(job->cls);
        pthread_mutex_lock(&lane->lock);
        lane->figures.running--;
    }
    pthread_mutex_unlock(&lane->lock);
    return NULL;
}

struct slow_lane *slow_lane_start(unsigned threads)
{
    check(threads > 0 && threads <= SLOW_THREADS_MAX);
    struct slow_lane *lane = calloc(1, sizeof(*lane));
    check(lane != NULL);
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->wake, NULL);
    while (lane->threads < threads &&
           pthread_create(&lane->thread[lane->threads], NULL, work, lane) == 0)
        lane->threads++;
    if (lane->threads == threads)
        return lane;
    slow_lane_stop(lane);
    return NULL;
}

static void put(struct slow_lane *lane, struct slow_job *job)
{
    struct slow_job **at = &lane->first;
    job->turn = lane->turn + 1;
    for (const struct slow_job *other = lane->first; other != NULL; other = other->next)
        if (other->owner == job->owner)
            job->turn = other->turn + 1;
    while (*at != NULL && (*at)->turn <= job->turn)
        at = &(*at)->next;
    job->next = *at;
    *at = job;
}

void slow_lane_submit(struct slow_lane *lane, struct slow_job *job)
{
    pthread_mutex_lock(&lane->lock);
    put(lane, job);
    lane->figures.queued++;
    pthread_mutex_unlock(&lane->lock);
    pthread_cond_signal(&lane->wake);
}

struct slow_lane_figures slow_lane_figures(struct slow_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    struct slow_lane_figures figures = lane->figures;
    pthread_mutex_unlock(&lane->lock);
    return figures;
}

void slow_lane_stop(struct slow_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->stopping = true;
    pthread_mutex_unlock(&lane->lock);
    pthread_cond_broadcast(&lane->wake);
    for (unsigned i = 0; i < lane->threads; i++)
        pthread_join(lane->thread[i], NULL);
    pthread_cond_destroy(&lane->wake);
    pthread_mutex_destroy(&lane->lock);
    free(lane);
}
