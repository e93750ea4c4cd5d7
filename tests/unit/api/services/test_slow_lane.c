/* The slow lane: every job runs once, in the order of its owner's, on a thread that yields to all
 * others, and owners take turns. */
#include "api/services/slow_lane.h"

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

/* Holds the only thread until others have submitted what they have. */
static struct slow_lane *gated_lane(struct gate *gate)
{
    struct slow_lane *lane = slow_lane_start(1);
    *gate = (struct gate){.job = {.run = wait_at_gate, .cls = gate}};
    pthread_mutex_init(&gate->lock, NULL);
    pthread_mutex_lock(&gate->lock);
    slow_lane_submit(lane, &gate->job);
    while (slow_lane_figures(lane).running == 0)
        sched_yield();
    return lane;
}

static void assert_order(const struct log *log, const unsigned *numbers, unsigned count)
{
    assert_int_equal(log->count, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(log->numbers[i], numbers[i]);
}

/* Numbers from 100 are the second's, from 200 the third's. */
static void owners_take_turns(void **state)
{
    (void)state;
    static const unsigned submitted[] = {0, 1, 2, 3, 4, 5, 100, 101, 102, 200};
    static const unsigned begun[] = {0, 100, 200, 1, 101, 2, 102, 3, 4, 5};
    struct ran jobs[10];
    struct gate gate;
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct slow_lane *lane = gated_lane(&gate);
    for (unsigned i = 0; i < 10; i++) {
        jobs[i] = (struct ran){.log = &log, .number = submitted[i]};
        jobs[i].job =
            (struct slow_job){.run = note, .cls = &jobs[i], .owner = 1 + submitted[i] / 100};
        slow_lane_submit(lane, &jobs[i].job);
    }
    pthread_mutex_unlock(&gate.lock);
    slow_lane_stop(lane);
    assert_order(&log, begun, 10);
}

struct returning {
    struct ran ran;
    struct slow_lane *lane;
    struct slow_job *next; /* NULL: none */
};

static void note_and_return(void *cls)
{
    const struct returning *returning = cls;
    note((void *)(uintptr_t)&returning->ran);
    if (returning->next != NULL)
        slow_lane_submit(returning->lane, returning->next);
}

/* One who comes again as soon as he is served neither waits for all of another nor goes before
 * them. */
static void who_returns_waits_for_one_turn(void **state)
{
    (void)state;
    static const unsigned begun[] = {0, 100, 1, 101, 2, 102, 3, 103, 4, 5};
    struct ran jobs[6];
    struct returning returns[4];
    struct gate gate;
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct slow_lane *lane = gated_lane(&gate);
    for (unsigned i = 0; i < 6; i++) {
        jobs[i] = (struct ran){.log = &log, .number = i};
        jobs[i].job = (struct slow_job){.run = note, .cls = &jobs[i], .owner = 1};
        slow_lane_submit(lane, &jobs[i].job);
    }
    for (unsigned i = 0; i < 4; i++) {
        returns[i] = (struct returning){.ran = {.log = &log, .number = 100 + i}, .lane = lane};
        returns[i].ran.job =
            (struct slow_job){.run = note_and_return, .cls = &returns[i], .owner = 2};
        returns[i].next = i < 3 ? &returns[i + 1].ran.job : NULL;
    }
    slow_lane_submit(lane, &returns[0].ran.job);
    pthread_mutex_unlock(&gate.lock);
    while (slow_lane_figures(lane).begun < 11)
        sched_yield();
    slow_lane_stop(lane);
    assert_order(&log, begun, 10);
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
        cmocka_unit_test(owners_take_turns),
        cmocka_unit_test(who_returns_waits_for_one_turn),
        cmocka_unit_test(an_idle_lane_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
