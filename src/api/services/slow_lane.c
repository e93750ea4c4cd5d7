/* Adds threads to the order of turns.c. A job has a thread of its own from its first turn to its
 * end, and waits on it while others have the turn; therefore any handler can be suspended wherever
 * it charges its budget.
 *
 * These threads have the same priority as all others. Formerly they were SCHED_IDLE, which takes
 * nothing from other threads until such a thread is preempted while it holds a lock that a worker
 * needs (of malloc's arenas, the log, the library's list of connections, the kernel's memory map).
 * With a busy loop elsewhere on the machine, a worker then stopped for a second, because no
 * priority inheritance raises an idle thread, and an unprivileged thread cannot leave that class
 * again. Separate memory would not remove the kernel's own locks. Therefore a job is not given a
 * low priority but gives way itself: after each slice it sleeps for as long as other threads need
 * the processors, at a point where it holds nothing.
 *
 * Invariant: no thread of berth runs at a lower priority than a thread that may wait for it
 * (tests/tidy.py refuses the calls that would lower one). */
#include "api/services/slow_lane.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/wait.h"

enum { SLOW_THREADS_MAX = 64 };

struct slow_thread {
    struct slow_lane *lane;
    pthread_t thread;
    pthread_cond_t
        wake; /* its job has a turn; or, without a job: there is one, or the lane stops */
    struct slow_job *job;
    struct slow_thread *next_idle;
};

struct slow_lane {
    struct slow_lane_settings settings;
    pthread_mutex_t lock;
    struct turns *turns;
    struct slow_thread *idle; /* threads without a job */
    bool stopping;
    struct slow_lane_figures figures;
    unsigned thread_count;
    struct slow_thread threads[SLOW_THREADS_MAX];
};

static struct slow_job *job_of(struct turns_job *turn)
{
    return (struct slow_job *)((char *)turn - offsetof(struct slow_job, turn));
}

/* Under the lock: wakes every job that has a turn now, on its own thread. */
static void give_turns(struct slow_lane *lane)
{
    for (struct turns_job *turn; (turn = turns_give(lane->turns)) != NULL;) {
        struct slow_job *job = job_of(turn);
        if (job->thread == NULL) {
            struct slow_thread *thread = lane->idle;
            check(thread != NULL); /* there are as many threads as permits */
            lane->idle = thread->next_idle;
            thread->job = job;
            job->thread = thread;
            lane->figures.begun++;
        }
        pthread_cond_signal(&job->thread->wake);
    }
}

/* Under the lock: returns jobs that waited too long, as a list. */
static struct turns_job *take_late(struct slow_lane *lane, uint64_t now_us)
{
    struct turns_job *late = NULL;
    while (turns_counts(lane->turns).waiting > 0) {
        struct turns_job *turn = turns_take_late(lane->turns, now_us);
        if (turn == NULL)
            break;
        lane->figures.refused[SLOW_NOT_BEGUN]++;
        turn->next = late;
        late = turn;
    }
    return late;
}

/* Without the lock: the job has not begun and will not begin. */
static void slow_lane_refuse(struct slow_job *job, enum slow_refusal why)
{
    if (job->refuse != NULL)
        job->refuse(job->cls, why);
    else
        job->run(job->cls);
}

/* Without the lock. */
static void refuse_late(struct turns_job *late)
{
    while (late != NULL) {
        struct slow_job *job = job_of(late);
        late = late->next;
        slow_lane_refuse(job, SLOW_NOT_BEGUN);
    }
}

static void run_job(struct slow_lane *lane, struct slow_thread *thread)
{
    struct slow_job *job = thread->job;
    struct turns_job own = job->turn; /* when the job has run, it belongs to its caller again */
    job->slice_began_us = lane->settings.now_us();
    pthread_mutex_unlock(&lane->lock);
    job->run(job->cls);
    pthread_mutex_lock(&lane->lock);
    turns_end(lane->turns, &own);
    struct turns_job *late = take_late(lane, lane->settings.now_us());
    thread->job = NULL;
    thread->next_idle = lane->idle;
    lane->idle = thread;
    give_turns(lane);
    if (late == NULL)
        return;
    pthread_mutex_unlock(&lane->lock);
    refuse_late(late);
    pthread_mutex_lock(&lane->lock);
}

static bool is_over(const struct slow_lane *lane)
{
    struct turns_counts counts = turns_counts(lane->turns);
    return lane->stopping && counts.permits + counts.waiting == 0;
}

static void *work(void *cls)
{
    struct slow_thread *thread = cls;
    struct slow_lane *lane = thread->lane;
    pthread_mutex_lock(&lane->lock);
    for (;;) {
        while (thread->job == NULL && !is_over(lane))
            pthread_cond_wait(&thread->wake, &lane->lock);
        if (thread->job == NULL)
            break;
        run_job(lane, thread);
    }
    for (unsigned i = 0; i < lane->thread_count; i++)
        pthread_cond_signal(&lane->threads[i].wake);
    pthread_mutex_unlock(&lane->lock);
    return NULL;
}

/* Under the lock. */
static bool add_thread(struct slow_lane *lane)
{
    struct slow_thread *thread = &lane->threads[lane->thread_count];
    *thread = (struct slow_thread){.lane = lane, .next_idle = lane->idle};
    pthread_cond_init(&thread->wake, NULL);
    if (pthread_create(&thread->thread, NULL, work, thread) != 0) {
        pthread_cond_destroy(&thread->wake);
        return false;
    }
    lane->idle = thread;
    lane->thread_count++;
    return true;
}

struct slow_lane *slow_lane_start(const struct slow_lane_settings *settings)
{
    check(settings->turns > 0 && settings->turns <= settings->permits &&
          settings->permits <= SLOW_THREADS_MAX);
    struct slow_lane *lane = calloc(1, sizeof(*lane));
    check(lane != NULL);
    lane->settings = *settings;
    if (settings->now_us == NULL)
        lane->settings.now_us = clock_monotonic_us;
    pthread_mutex_init(&lane->lock, NULL);
    lane->turns = turns_create(settings->turns, settings->turns, settings->waiting);
    pthread_mutex_lock(&lane->lock);
    while (lane->thread_count < settings->turns && add_thread(lane))
        continue;
    bool is_complete = lane->thread_count == settings->turns;
    pthread_mutex_unlock(&lane->lock);
    if (is_complete)
        return lane;
    slow_lane_stop(lane);
    return NULL;
}

/* Under the lock: jobs are waiting, so permits are added as long as the system provides threads. */
static void add_permits(struct slow_lane *lane)
{
    while (turns_counts(lane->turns).waiting > 0 && lane->thread_count < lane->settings.permits &&
           add_thread(lane))
        turns_limit_permits(lane->turns, lane->thread_count);
}

void slow_lane_submit(struct slow_lane *lane, struct slow_job *job)
{
    job->thread = NULL;
    job->slice_began_us = 0;
    job->turn.deadline_us = job->deadline_us;
    pthread_mutex_lock(&lane->lock);
    check(!lane->stopping);
    struct turns_job *refused = turns_add(lane->turns, &job->turn, job->owner);
    if (refused != NULL)
        lane->figures.refused[SLOW_TOO_MANY]++;
    add_permits(lane);
    give_turns(lane);
    pthread_mutex_unlock(&lane->lock);
    if (refused != NULL)
        slow_lane_refuse(job_of(refused), SLOW_TOO_MANY);
}

void slow_lane_rest(const struct slow_lane *lane, uint64_t slice_us)
{
    if (lane->settings.rest_us == NULL)
        return;
    uint64_t us = lane->settings.rest_us(lane->settings.rest_cls, slice_us);
    if (us > 0)
        wait_sleep_us(us);
}

/* Gives others the turn, unless no job is ready. */
static void let_others(struct slow_lane *lane, struct slow_job *job, uint64_t now_us)
{
    pthread_mutex_lock(&lane->lock);
    struct turns_job *late = take_late(lane, now_us);
    struct turns_counts counts = turns_counts(lane->turns);
    if (counts.permits > counts.running) {
        turns_yield(lane->turns, &job->turn);
        give_turns(lane);
        while (job->turn.state != TURNS_RUNNING)
            pthread_cond_wait(&job->thread->wake, &lane->lock);
    }
    pthread_mutex_unlock(&lane->lock);
    refuse_late(late);
}

enum slow_pass slow_lane_pass(struct slow_lane *lane, struct slow_job *job)
{
    uint64_t now_us = lane->settings.now_us();
    uint64_t slice_us = now_us - job->slice_began_us;
    if (now_us >= job->deadline_us)
        return SLOW_LATE;
    if (slice_us < lane->settings.slice_us)
        return SLOW_GO_ON;
    slow_lane_rest(lane, slice_us);
    let_others(lane, job, now_us);
    job->slice_began_us = lane->settings.now_us();
    return job->slice_began_us >= job->deadline_us ? SLOW_LATE : SLOW_NEW_SLICE;
}

struct slow_lane_figures slow_lane_figures(struct slow_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    struct slow_lane_figures figures = lane->figures;
    struct turns_counts counts = turns_counts(lane->turns);
    pthread_mutex_unlock(&lane->lock);
    figures.queued = counts.waiting;
    figures.running = counts.permits;
    return figures;
}

void slow_lane_stop(struct slow_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->stopping = true;
    for (unsigned i = 0; i < lane->thread_count; i++)
        pthread_cond_signal(&lane->threads[i].wake);
    pthread_mutex_unlock(&lane->lock);
    for (unsigned i = 0; i < lane->thread_count; i++)
        pthread_join(lane->threads[i].thread, NULL);
    for (unsigned i = 0; i < lane->thread_count; i++) /* only now, as threads signal each other */
        pthread_cond_destroy(&lane->threads[i].wake);
    turns_destroy(lane->turns);
    pthread_mutex_destroy(&lane->lock);
    free(lane);
}
