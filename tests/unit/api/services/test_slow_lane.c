/* The slow lane: every job runs once or is refused, in slices and in the order of turns, with
 * normal priority. The test sets the time. */
#include "api/services/slow_lane.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "unit.h"

enum { JOBS = 1000, SLICE_US = 100 };

static _Atomic uint64_t now;

static uint64_t fake_now(void)
{
    return atomic_load(&now);
}

static struct slow_lane *start(unsigned turns, unsigned permits, unsigned waiting)
{
    struct slow_lane *lane = slow_lane_start(
        &(struct slow_lane_settings){turns, permits, waiting, SLICE_US, NULL, NULL, fake_now});
    assert_non_null(lane);
    return lane;
}

struct log {
    pthread_mutex_t lock;
    unsigned numbers[JOBS];
    unsigned count;
    int policy;
    int niceness;
};

struct ran {
    struct slow_job job;
    struct log *log;
    struct slow_lane *lane;
    unsigned number;
    unsigned slices; /* that it needs after its first */
    enum slow_pass last;
    int refused; /* 1 + enum slow_refusal */
};

static void note(struct ran *ran)
{
    struct log *log = ran->log;
    pthread_mutex_lock(&log->lock);
    assert_true(log->count < JOBS);
    log->numbers[log->count++] = ran->number;
    log->policy = sched_getscheduler(0);
    log->niceness = getpriority(PRIO_PROCESS, 0);
    pthread_mutex_unlock(&log->lock);
}

/* Records its number in each slice. */
static void run(void *cls)
{
    struct ran *ran = cls;
    note(ran);
    for (unsigned i = 0; i < ran->slices; i++) {
        ran->last = slow_lane_pass(ran->lane, &ran->job);
        if (ran->last == SLOW_LATE)
            return;
        assert_int_equal(ran->last, SLOW_GO_ON);
        atomic_fetch_add(&now, SLICE_US);
        ran->last = slow_lane_pass(ran->lane, &ran->job);
        if (ran->last == SLOW_LATE)
            return;
        note(ran);
    }
}

static void refuse(void *cls, enum slow_refusal why)
{
    struct ran *ran = cls;
    ran->refused = 1 + (int)why;
}

static void submit(struct slow_lane *lane, struct ran *ran, uint64_t owner, uint64_t deadline_us)
{
    ran->lane = lane;
    ran->job = (struct slow_job){
        .run = run, .refuse = refuse, .cls = ran, .owner = owner, .deadline_us = deadline_us};
    slow_lane_submit(lane, &ran->job);
}

static void one_thread_keeps_the_order(void **state)
{
    (void)state;
    static struct ran jobs[JOBS];
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct slow_lane *lane = start(1, 1, JOBS);
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] = (struct ran){.log = &log, .number = i};
        submit(lane, &jobs[i], 0, UINT64_MAX);
    }
    slow_lane_stop(lane);
    assert_int_equal(log.count, JOBS);
    for (unsigned i = 0; i < JOBS; i++)
        assert_int_equal(log.numbers[i], i);
}

static void nothing_runs_at_a_low_priority(void **state)
{
    (void)state;
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct ran job = {.log = &log};
    struct slow_lane *lane = start(1, 1, 1);
    submit(lane, &job, 0, UINT64_MAX);
    slow_lane_stop(lane);
    assert_int_equal(log.policy, sched_getscheduler(0));
    assert_int_equal(log.niceness, getpriority(PRIO_PROCESS, 0));
}

static void several_threads_run_each_job_once(void **state)
{
    (void)state;
    static struct ran jobs[JOBS];
    bool seen[JOBS] = {false};
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct slow_lane *lane = start(2, 8, JOBS);
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] = (struct ran){.log = &log, .number = i};
        submit(lane, &jobs[i], i % 7, UINT64_MAX);
    }
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

/* Holds the only turn until others have submitted their jobs. */
static void close_gate(struct slow_lane *lane, struct gate *gate)
{
    *gate = (struct gate){
        .job = {.run = wait_at_gate, .cls = gate, .owner = 99, .deadline_us = UINT64_MAX}};
    pthread_mutex_init(&gate->lock, NULL);
    pthread_mutex_lock(&gate->lock);
    unsigned long before = slow_lane_figures(lane).begun;
    slow_lane_submit(lane, &gate->job);
    while (slow_lane_figures(lane).begun == before)
        sched_yield();
}

/* Two jobs of one owner that need many slices, and a later one of another owner: its slices
 * alternate with theirs, on one turn. */
static void slices_take_turns(void **state)
{
    (void)state;
    static const unsigned SLICES[] = {10, 20, 11, 20, 10, 20, 11, 20, 10, 11, 10, 11};
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct ran jobs[] = {{.log = &log, .number = 10, .slices = 3},
                         {.log = &log, .number = 11, .slices = 3},
                         {.log = &log, .number = 20, .slices = 3}};
    struct gate gate;
    struct slow_lane *lane = start(1, 8, 8);
    close_gate(lane, &gate);
    for (unsigned i = 0; i < 3; i++)
        submit(lane, &jobs[i], jobs[i].number / 10, UINT64_MAX);
    pthread_mutex_unlock(&gate.lock);
    slow_lane_stop(lane);
    assert_int_equal(log.count, 12);
    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(log.numbers[i], SLICES[i]);
}

static void who_has_begun_sees_its_deadline(void **state)
{
    (void)state;
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct ran job = {.log = &log, .slices = 100};
    struct slow_lane *lane = start(1, 1, 1);
    submit(lane, &job, 1, atomic_load(&now) + 5 * SLICE_US);
    slow_lane_stop(lane);
    assert_int_equal(job.last, SLOW_LATE);
    assert_int_equal(log.count, 5);
    assert_int_equal(job.refused, 0);
}

/* It had a permit, but no turn in time: it need not wait for the end of its slice. */
static void who_begins_late_sees_it_at_once(void **state)
{
    (void)state;
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct ran job = {.log = &log, .slices = 100};
    struct slow_lane *lane = start(1, 1, 1);
    uint64_t before = atomic_load(&now);
    submit(lane, &job, 1, before);
    slow_lane_stop(lane);
    assert_int_equal(job.last, SLOW_LATE);
    assert_int_equal(atomic_load(&now), before);
}

/* Waiting jobs are checked when another job's slice ends. */
static void who_waits_too_long_is_refused(void **state)
{
    (void)state;
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct ran busy = {.log = &log, .slices = 3};
    struct ran late = {.log = &log};
    struct gate gate;
    struct slow_lane *lane = start(1, 1, 4);
    close_gate(lane, &gate);
    submit(lane, &busy, 1, UINT64_MAX);
    submit(lane, &late, 1, atomic_load(&now) + 2 * SLICE_US);
    pthread_mutex_unlock(&gate.lock);
    while (slow_lane_figures(lane).refused[SLOW_NOT_BEGUN] == 0)
        sched_yield();
    slow_lane_stop(lane);
    assert_int_equal(late.refused, 1 + SLOW_NOT_BEGUN);
    assert_int_equal(log.count, 4);
}

static void too_many_are_refused(void **state)
{
    (void)state;
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct ran jobs[4] = {{.log = &log}, {.log = &log}, {.log = &log}, {.log = &log}};
    struct gate gate;
    struct slow_lane *lane = start(1, 1, 2);
    close_gate(lane, &gate);
    for (unsigned i = 0; i < 3; i++)
        submit(lane, &jobs[i], 1, UINT64_MAX);
    assert_int_equal(jobs[2].refused, 1 + SLOW_TOO_MANY);
    submit(lane, &jobs[3], 2, UINT64_MAX); /* another owner's job is accepted */
    assert_int_equal(jobs[1].refused, 1 + SLOW_TOO_MANY);
    assert_int_equal(slow_lane_figures(lane).refused[SLOW_TOO_MANY], 2);
    pthread_mutex_unlock(&gate.lock);
    slow_lane_stop(lane);
    assert_int_equal(log.count, 2);
    assert_int_equal(jobs[0].refused + jobs[3].refused, 0);
}

struct stubborn {
    struct slow_job job;
    pthread_t thread;
    unsigned runs;
    bool has_turn;
};

static void run_stubbornly(void *cls)
{
    struct stubborn *stubborn = cls;
    stubborn->thread = pthread_self();
    stubborn->runs++;
    stubborn->has_turn = stubborn->job.slice_began_us != 0;
}

static void submit_stubbornly(struct slow_lane *lane, struct stubborn *stubborn,
                              uint64_t deadline_us)
{
    stubborn->job.run = run_stubbornly;
    stubborn->job.cls = stubborn;
    stubborn->job.owner = 1;
    stubborn->job.deadline_us = deadline_us;
    slow_lane_submit(lane, &stubborn->job);
}

/* The third finds no room, the second waits too long; neither is refused. */
static void what_has_no_refuse_runs_all_the_same(void **state)
{
    (void)state;
    struct stubborn jobs[3] = {{.runs = 0}};
    struct gate gate;
    struct slow_lane *lane = start(1, 1, 2);
    atomic_fetch_add(&now, 1); /* 0 would be "not begun" */
    close_gate(lane, &gate);
    submit_stubbornly(lane, &jobs[0], UINT64_MAX);
    submit_stubbornly(lane, &jobs[1], atomic_load(&now) + SLICE_US);
    submit_stubbornly(lane, &jobs[2], UINT64_MAX);
    assert_int_equal(jobs[2].runs, 1);
    assert_true(pthread_equal(jobs[2].thread, pthread_self()));
    assert_false(jobs[2].has_turn);
    assert_int_equal(slow_lane_figures(lane).refused[SLOW_TOO_MANY], 1);
    atomic_fetch_add(&now, 2 * SLICE_US);
    pthread_mutex_unlock(&gate.lock);
    slow_lane_stop(lane);
    assert_int_equal(jobs[0].runs, 1);
    assert_true(jobs[0].has_turn);
    assert_int_equal(jobs[1].runs, 1);
    assert_false(jobs[1].has_turn);
    assert_int_equal(jobs[2].runs, 1);
}

static void figures(void **state)
{
    (void)state;
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct ran jobs[2] = {{.log = &log}, {.log = &log}};
    struct gate gate;
    struct slow_lane *lane = start(1, 1, 8);
    close_gate(lane, &gate);
    submit(lane, &jobs[0], 1, UINT64_MAX);
    submit(lane, &jobs[1], 1, UINT64_MAX);
    assert_int_equal(slow_lane_figures(lane).running, 1);
    assert_int_equal(slow_lane_figures(lane).queued, 2);
    assert_int_equal(slow_lane_figures(lane).begun, 1);
    pthread_mutex_unlock(&gate.lock);
    while (slow_lane_figures(lane).begun < 3 || slow_lane_figures(lane).running > 0)
        sched_yield();
    assert_int_equal(slow_lane_figures(lane).queued, 0);
    slow_lane_stop(lane);
}

static uint64_t rested_for;

static uint64_t rest_a_little(void *cls, uint64_t slice_us)
{
    (void)cls;
    rested_for += slice_us;
    return 1;
}

static void a_slice_ends_with_a_rest(void **state)
{
    (void)state;
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct ran job = {.log = &log, .slices = 3};
    struct slow_lane *lane = slow_lane_start(
        &(struct slow_lane_settings){1, 1, 1, SLICE_US, rest_a_little, NULL, fake_now});
    submit(lane, &job, 1, UINT64_MAX);
    slow_lane_stop(lane);
    assert_int_equal(rested_for, 3 * SLICE_US);
}

static void an_idle_lane_ends(void **state)
{
    (void)state;
    slow_lane_stop(start(2, 16, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_keeps_the_order),
        cmocka_unit_test(nothing_runs_at_a_low_priority),
        cmocka_unit_test(several_threads_run_each_job_once),
        cmocka_unit_test(slices_take_turns),
        cmocka_unit_test(who_has_begun_sees_its_deadline),
        cmocka_unit_test(who_begins_late_sees_it_at_once),
        cmocka_unit_test(who_waits_too_long_is_refused),
        cmocka_unit_test(too_many_are_refused),
        cmocka_unit_test(what_has_no_refuse_runs_all_the_same),
        cmocka_unit_test(figures),
        cmocka_unit_test(a_slice_ends_with_a_rest),
        cmocka_unit_test(an_idle_lane_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
