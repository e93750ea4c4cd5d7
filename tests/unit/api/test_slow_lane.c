/* The slow lane: every job runs once, in order, on a thread that yields to all others. */
#include "api/slow_lane.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "unit.h"

enum { JOBS = 1000 };

struct ran {
    struct slow_job job;
    struct log *log;
    unsigned number;
};

struct log {
    pthread_mutex_t lock;
    unsigned numbers[JOBS];
    unsigned count;
    int policy;
};

static void note(void *cls)
{
    const struct ran *ran = cls;
    struct log *log = ran->log;
    pthread_mutex_lock(&log->lock);
    log->numbers[log->count++] = ran->number;
    log->policy = sched_getscheduler(0);
    pthread_mutex_unlock(&log->lock);
}

static void submit_all(struct slow_lane *lane, struct ran *jobs, struct log *log)
{
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] = (struct ran){.job = {.run = note, .cls = &jobs[i]}, .log = log, .number = i};
        slow_lane_submit(lane, &jobs[i].job);
    }
}

static void one_thread_keeps_the_order(void **state)
{
    (void)state;
    static struct ran jobs[JOBS];
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct slow_lane *lane = slow_lane_start(1);
    submit_all(lane, jobs, &log);
    slow_lane_stop(lane);
    assert_int_equal(log.count, JOBS);
    for (unsigned i = 0; i < JOBS; i++)
        assert_int_equal(log.numbers[i], i);
    assert_int_equal(log.policy, SCHED_IDLE);
}

static void several_threads_run_each_job_once(void **state)
{
    (void)state;
    static struct ran jobs[JOBS];
    bool seen[JOBS] = {false};
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct slow_lane *lane = slow_lane_start(4);
    submit_all(lane, jobs, &log);
    slow_lane_stop(lane); /* with most of them waiting */
    assert_int_equal(log.count, JOBS);
    for (unsigned i = 0; i < JOBS; i++) {
        assert_false(seen[log.numbers[i]]);
        seen[log.numbers[i]] = true;
    }
}

struct gate {
    struct slow_job job;
    pthread_mutex_t lock;
};

static void wait_at_gate(void *cls)
{
    struct gate *gate = cls;
    pthread_mutex_lock(&gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void figures(void **state)
{
    (void)state;
    struct gate gates[3];
    struct slow_lane *lane = slow_lane_start(1);
    for (unsigned i = 0; i < 3; i++) {
        gates[i].job = (struct slow_job){.run = wait_at_gate, .cls = &gates[i]};
        pthread_mutex_init(&gates[i].lock, NULL);
        pthread_mutex_lock(&gates[i].lock);
        slow_lane_submit(lane, &gates[i].job);
    }
    while (slow_lane_figures(lane).running == 0)
        sched_yield();
    assert_int_equal(slow_lane_figures(lane).queued, 2);
    assert_int_equal(slow_lane_figures(lane).begun, 1);
    for (unsigned i = 0; i < 3; i++)
        pthread_mutex_unlock(&gates[i].lock);
    while (slow_lane_figures(lane).begun < 3 || slow_lane_figures(lane).running > 0)
        sched_yield();
    assert_int_equal(slow_lane_figures(lane).queued, 0);
    slow_lane_stop(lane);
}

static void an_idle_lane_ends(void **state)
{
    (void)state;
    slow_lane_stop(slow_lane_start(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_keeps_the_order),
        cmocka_unit_test(several_threads_run_each_job_once),
        cmocka_unit_test(figures),
        cmocka_unit_test(an_idle_lane_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
