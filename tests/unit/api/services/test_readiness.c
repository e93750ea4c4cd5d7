/* Readiness with a real database that others make unavailable, or that keeps the writer busy. */
#include "api/services/readiness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "await.h"
#include "engine/bench.h"
#include "fake_clock.h"
#include "unit.h"

struct world {
    struct bench *bench;
    struct readiness *readiness;
};

struct waiter {
    struct readiness_wait wait;
    pthread_mutex_t lock;
    pthread_cond_t answered;
    bool is_answered;
};

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    world->bench = bench_open();
    world->readiness = readiness_start(world->bench->pipeline, world->bench->replica);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    fake_clock_run();
    readiness_stop(world->readiness);
    bench_close(world->bench);
    free(world);
    return 0;
}

static void answered(struct readiness_wait *wait)
{
    struct waiter *waiter = (struct waiter *)wait;
    pthread_mutex_lock(&waiter->lock);
    assert_false(waiter->is_answered);
    waiter->is_answered = true;
    pthread_cond_signal(&waiter->answered);
    pthread_mutex_unlock(&waiter->lock);
}

static void begin_as(struct world *world, struct waiter *waiter, bool is_fresh)
{
    *waiter = (struct waiter){.wait = {.is_fresh = is_fresh, .done = answered}};
    pthread_mutex_init(&waiter->lock, NULL);
    pthread_cond_init(&waiter->answered, NULL);
    readiness_ask(world->readiness, &waiter->wait);
}

static void begin(struct world *world, struct waiter *waiter)
{
    begin_as(world, waiter, false);
}

static void await(struct waiter *waiter)
{
    pthread_mutex_lock(&waiter->lock);
    while (!waiter->is_answered)
        pthread_cond_wait(&waiter->answered, &waiter->lock);
    pthread_mutex_unlock(&waiter->lock);
    pthread_cond_destroy(&waiter->answered);
    pthread_mutex_destroy(&waiter->lock);
}

/* A new answer, not a recent one. */
static struct readiness_report ask(struct world *world)
{
    struct waiter waiter;
    fake_clock_add_us(READINESS_AGAIN_MS * 1000);
    begin(world, &waiter);
    await(&waiter);
    return waiter.wait.report;
}

static const char *text(const struct readiness_report *report, enum readiness_check check)
{
    return report->findings[check].text;
}

static void comes_and_goes(void **state)
{
    struct world *world = *state;
    struct readiness_report report = ask(world);
    assert_true(readiness_is_ready(&report));
    assert_string_equal(text(&report, READINESS_DATABASE), "reached");
    assert_string_equal(text(&report, READINESS_SCHEMA), "revision a082b8bb98d0");
    assert_string_equal(text(&report, READINESS_SERVING), "serving");
    char away[128];
    snprintf(away, sizeof(away), "%s-away", world->bench->path);
    assert_int_equal(rename(world->bench->path, away), 0);
    report = ask(world);
    assert_false(readiness_is_ready(&report));
    assert_non_null(strstr(text(&report, READINESS_DATABASE), "no longer exists"));
    assert_false(report.findings[READINESS_REPLICA].is_ok);
    assert_true(report.findings[READINESS_SERVING].is_ok);
    assert_int_equal(rename(away, world->bench->path), 0);
    report = ask(world);
    assert_true(readiness_is_ready(&report));
    readiness_begin_stop(world->readiness);
    report = ask(world);
    assert_false(readiness_is_ready(&report));
    assert_true(report.findings[READINESS_DATABASE].is_ok);
    assert_string_equal(text(&report, READINESS_SERVING), "stopping");
}

static bool is_answered(struct waiter *waiter)
{
    pthread_mutex_lock(&waiter->lock);
    bool is = waiter->is_answered;
    pthread_mutex_unlock(&waiter->lock);
    return is;
}

/* A request that keeps the writer busy until it is released. */
struct blocker {
    struct pipeline_request request;
    atomic_bool is_planned;
    atomic_bool is_released;
    atomic_bool is_done;
};

static bool plan_block(struct pipeline_request *request, const struct plan *plan)
{
    (void)plan;
    struct blocker *blocker = (struct blocker *)request;
    blocker->is_planned = true;
    while (!blocker->is_released)
        await_pause();
    return err_set(&request->err, 409, NULL, "blocked");
}

static void blocked(struct pipeline_request *request)
{
    ((struct blocker *)request)->is_done = true;
}

static void block(struct world *world, struct blocker *blocker)
{
    *blocker = (struct blocker){
        .request = {.plan = plan_block, .done = blocked, .err = {.arena = world->bench->arena}}};
    pipeline_submit(world->bench->pipeline, &blocker->request);
    AWAIT(blocker->is_planned);
}

static void release(struct blocker *blocker)
{
    blocker->is_released = true;
    AWAIT(blocker->is_done);
}

/* Whatever blocks the writer, the answer comes in time; later it is correct. */
static void answers_in_time(void **state)
{
    struct world *world = *state;
    struct blocker blocker;
    fake_clock_stop();
    block(world, &blocker);
    struct waiter first;
    struct waiter second;
    begin(world, &first);
    fake_clock_add_us(200000);
    begin(world, &second);
    AWAIT(fake_clock_is_awaited_in_ms(READINESS_MOST_MS - 200, READINESS_MOST_MS - 200));
    fake_clock_add_us(READINESS_MOST_MS * 1000 - 200000);
    await(&first);
    assert_false(first.wait.report.findings[READINESS_DATABASE].is_ok);
    assert_true(first.wait.report.findings[READINESS_REPLICA].is_ok);
    AWAIT(fake_clock_is_awaited_in_ms(200, 200));
    assert_false(is_answered(&second));
    fake_clock_add_us(200000);
    await(&second);
    assert_false(readiness_is_ready(&second.wait.report));
    struct waiter third; /* waits for the probe that the first began */
    begin(world, &third);
    release(&blocker);
    await(&third);
    assert_true(readiness_is_ready(&third.wait.report));
}

static bool plan_refusal(struct pipeline_request *request, const struct plan *plan)
{
    (void)plan;
    return err_set(&request->err, 409, NULL, "refused");
}

/* On the writer's thread, when it has given back the database's lock. */
static void block_when_done(struct pipeline_request *request)
{
    struct blocker *blocker = (struct blocker *)request;
    blocker->is_planned = true;
    while (!blocker->is_released)
        await_pause();
    blocker->is_done = true;
}

/* Another process has written, and the writer cannot follow. */
static void behind_in_time(void **state)
{
    struct world *world = *state;
    struct blocker blocker = {.request = {.plan = plan_refusal,
                                          .done = block_when_done,
                                          .err = {.arena = world->bench->arena}}};
    fake_clock_stop();
    pipeline_submit(world->bench->pipeline, &blocker.request);
    AWAIT(blocker.is_planned);
    bench_shell(world->bench, "UPDATE traits SET updated_at = '2026-01-01 00:00:00'");
    struct waiter waiter;
    begin(world, &waiter);
    AWAIT(fake_clock_is_awaited_in_ms(READINESS_MOST_MS, READINESS_MOST_MS));
    fake_clock_add_us(READINESS_MOST_MS * 1000);
    await(&waiter);
    assert_false(waiter.wait.report.findings[READINESS_REPLICA].is_ok);
    assert_int_equal(strncmp(text(&waiter.wait.report, READINESS_REPLICA),
                             "behind the database, at version ", 32),
                     0);
    begin(world, &waiter); /* waits for the probe that the first began */
    release(&blocker);
    await(&waiter);
    assert_true(readiness_is_ready(&waiter.wait.report));
}

/* Many concurrent requests cost the writer one check, and so do requests that follow immediately.
 */
static void asks_once_for_many(void **state)
{
    struct world *world = *state;
    enum { MANY = 200 };
    static struct waiter waiter[MANY];
    uint64_t before = pipeline_figures(world->bench->pipeline).requests;
    for (unsigned i = 0; i < MANY; i++)
        begin(world, &waiter[i]);
    for (unsigned i = 0; i < MANY; i++) {
        await(&waiter[i]);
        assert_true(readiness_is_ready(&waiter[i].wait.report));
    }
    assert_true(pipeline_figures(world->bench->pipeline).requests - before < MANY / 10);
}

/* A request for a fresh result is answered, in time, by a check that began after the request. */
static void fresh(void **state)
{
    struct world *world = *state;
    struct waiter waiter;
    char away[128];
    snprintf(away, sizeof(away), "%s-away", world->bench->path);
    for (unsigned i = 0; i < 20; i++) {
        begin_as(world, &waiter, true);
        await(&waiter);
        assert_true(readiness_is_ready(&waiter.wait.report));
        assert_int_equal(rename(world->bench->path, away), 0);
        begin_as(world, &waiter, true);
        await(&waiter);
        assert_false(waiter.wait.report.findings[READINESS_DATABASE].is_ok);
        assert_int_equal(rename(away, world->bench->path), 0);
    }
    enum { MANY = 50 };
    static struct waiter many[MANY];
    struct blocker blocker;
    uint64_t before = pipeline_figures(world->bench->pipeline).requests;
    for (unsigned i = 0; i < MANY; i++)
        begin_as(world, &many[i], i % 2 == 0);
    for (unsigned i = 0; i < MANY; i++) {
        await(&many[i]);
        assert_true(readiness_is_ready(&many[i].wait.report));
    }
    assert_true(pipeline_figures(world->bench->pipeline).requests - before < MANY);
    fake_clock_stop();
    block(world, &blocker);
    begin(world, &many[0]);
    begin_as(world, &many[1], true);
    fake_clock_add_us(READINESS_MOST_MS * 1000);
    await(&many[0]);
    await(&many[1]);
    assert_false(readiness_is_ready(&many[1].wait.report));
    begin_as(world, &many[2], true);
    begin_as(world, &many[3], true);
    release(&blocker);
    await(&many[2]);
    await(&many[3]);
    assert_true(readiness_is_ready(&many[3].wait.report));
}

static void alive(void **state)
{
    (void)state;
    struct pipeline_figures figures = {.silent_us = 1};
    assert_true(readiness_is_alive(&figures));
    figures.silent_us = ALIVE_MOST_S * 1000000ULL;
    assert_false(readiness_is_alive(&figures));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(comes_and_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_in_time, setup, teardown),
        cmocka_unit_test_setup_teardown(behind_in_time, setup, teardown),
        cmocka_unit_test_setup_teardown(asks_once_for_many, setup, teardown),
        cmocka_unit_test_setup_teardown(fresh, setup, teardown),
        cmocka_unit_test(alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
