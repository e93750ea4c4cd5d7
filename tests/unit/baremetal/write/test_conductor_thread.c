/* The conductor with its thread: woken, waited for, stopped during work, without a database
 * (baremetal-allocations spec, 8.6). Times are generous, because the machine may be busy. */
#include <time.h>

#include "baremetal/write/conductor_internal.h"
#include "baremetal/write/metal_bench.h"
#include "base/clock.h"
#include "unit.h"

enum { SOON_MS = 3000, MS_US = 1000 };

static struct metal_bench bench;
static struct berth berth;

static int set_up(void **state)
{
    (void)state;
    metal_bench_open(&bench);
    berth = berth_new(&bench, "there boot space 2 2");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    berth_close(&berth);
    metal_bench_close(&bench);
    return 0;
}

static uint64_t now_ms(void)
{
    return clock_monotonic_us() / MS_US;
}

static void rest_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static bool comes(const char *uuid, const char *state)
{
    uint64_t end_ms = now_ms() + SOON_MS;
    while (now_ms() < end_ms) {
        const char *at = berth_allocation_text(&berth, uuid, NODE_ALLOCATION_STATE);
        if (slice_equal(slice_of(at), slice_of(state)))
            return true;
        rest_ms(2);
    }
    return false;
}

static bool node_comes(const char *uuid, const char *state)
{
    uint64_t end_ms = now_ms() + SOON_MS;
    while (now_ms() < end_ms) {
        const char *at = berth_node_text(&berth, uuid, NODE_PROVISION_STATE);
        if (slice_equal(slice_of(at), slice_of(state)))
            return true;
        rest_ms(2);
    }
    return false;
}

/* It sleeps for seconds unless it is woken. */
static void woken(void **state)
{
    (void)state;
    berth.metal.fake_delay_us = 20 * MS_US;
    berth_open(&berth, true);
    rest_ms(100);
    assert_int_equal(berth_create_node(&berth, "n1", "manageable"), 0);
    uint64_t began_ms = now_ms();
    assert_int_equal(berth_verb(&berth, "n1", "provide"), 0);
    conductor_wake(berth.conductor);
    assert_true(node_comes("n1", "available"));
    for (unsigned i = 0; i < 20; i++) {
        const char *uuid = arena_printf(bench.arena, "a%u", i).data;
        assert_int_equal(berth_allocate(&berth, uuid), 0);
        conductor_wake(berth.conductor);
        assert_true(comes(uuid, "active"));
        assert_int_equal(berth_release(&berth, uuid), 0);
    }
    assert_true(now_ms() - began_ms < SOON_MS);
}

static void locked_and_then_free(void **state)
{
    (void)state;
    berth.metal.fake_delay_us = 300 * MS_US;
    berth_open(&berth, true);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    assert_int_equal(berth_power(&berth, "n1", "power on"), 0);
    conductor_wake(berth.conductor);
    uint64_t began_ms = now_ms();
    assert_int_equal(berth_verb_waiting(&berth, "n1", "active"), 0);
    assert_true(now_ms() - began_ms < 2000);
    conductor_wake(berth.conductor);
    assert_true(node_comes("n1", "active"));
}

static void locked_for_too_long(void **state)
{
    (void)state;
    berth.metal.fake_delay_us = 60000 * MS_US;
    berth_open(&berth, true);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    assert_int_equal(berth_power(&berth, "n1", "power on"), 0);
    struct verb_request *asked[40];
    uint64_t began_ms = now_ms();
    for (unsigned i = 0; i < 40; i++)
        asked[i] = berth_begin_verb(&berth, "n1", "active");
    metal_bench_set_clock(-4000LL * MS_US); /* the wall clock does not matter */
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(verb_request_end(asked[i]), 409);
    uint64_t took_ms = now_ms() - began_ms;
    assert_true(took_ms >= 1900 && took_ms < 2000 + SOON_MS);
    began_ms = now_ms();
    assert_int_equal(berth_verb_waiting(&berth, "n1", "adopt"), 409); /* never possible */
    assert_true(now_ms() - began_ms < 1000);
}

/* As long as nothing is committed, no request is tried again. */
static void locked_in_silence(void **state)
{
    (void)state;
    berth.metal.fake_delay_us = 60000 * MS_US;
    berth_open(&berth, true);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    assert_int_equal(berth_power(&berth, "n1", "power on"), 0);
    uint64_t before = pipeline_figures(berth.pipeline).requests;
    struct verb_request *first = berth_begin_verb(&berth, "n1", "active");
    rest_ms(120);
    struct verb_request *second = berth_begin_verb(&berth, "n1", "active");
    assert_int_equal(verb_request_end(first), 409);
    assert_int_equal(verb_request_end(second), 409);
    assert_in_range(pipeline_figures(berth.pipeline).requests - before, 4, 12);
}

/* The lock is removed in the very batch in which a request found it. */
static void unlocked_beside(void **state)
{
    (void)state;
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    berth_await_rest(&berth);
    assert_int_equal(berth_power(&berth, "n1", "power on"), 0);
    metal_bench_pass(BENCH_DELAY_US);
    struct verb_request *asked = berth_begin_verb(&berth, "n1", "active");
    assert_int_equal(conductor_begin_pass(berth.conductor, clock_wall_us()), 1);
    assert_true(pipeline_run_once(berth.pipeline));
    conductor_end_pass(berth.conductor, clock_wall_us());
    assert_false(verb_request_is_done(asked));
    struct conductor_wait *waiting = conductor_take_waiting(berth.conductor);
    assert_non_null(waiting);
    conductor_submit_waiting(waiting);
    assert_true(pipeline_run_once(berth.pipeline));
    assert_int_equal(verb_request_end(asked), 0);
}

/* The lock of another process is removed. */
static void lock_of_another(void **state)
{
    (void)state;
    struct berth other = berth_new(&bench, "elsewhere boot space 1 1");
    berth.metal.fake_delay_us = other.metal.fake_delay_us = 10000 * MS_US;
    berth_open(&berth, true);
    berth_open(&other, false);
    assert_int_equal(berth_create_node(&other, "n1", "available"), 0);
    berth_await_rest(&other);
    assert_int_equal(berth_power(&other, "n1", "power on"), 0);
    berth_follow(&berth);
    struct verb_request *asked = berth_begin_verb(&berth, "n1", "active");
    rest_ms(300);
    assert_false(verb_request_is_done(asked));
    metal_bench_pass(10000 * MS_US);
    assert_int_equal(berth_pass(&other), 1);
    uint64_t began_ms = now_ms();
    assert_int_equal(verb_request_end(asked), 0);
    assert_true(now_ms() - began_ms < 1000);
    assert_true(node_comes("n1", "deploying"));
    berth_close(&other);
}

/* Every waiting request is answered, and none is called back afterwards. */
static void stopped_while_waiting(void **state)
{
    (void)state;
    berth.metal.fake_delay_us = 60000 * MS_US;
    berth_open(&berth, true);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    assert_int_equal(berth_power(&berth, "n1", "power on"), 0);
    struct verb_request *asked[60];
    for (unsigned i = 0; i < 30; i++)
        asked[i] = berth_begin_verb(&berth, "n1", "active");
    rest_ms(150);
    assert_false(verb_request_is_done(asked[0]));
    uint64_t began_ms = now_ms();
    for (unsigned i = 30; i < 60; i++)
        asked[i] = berth_begin_verb(&berth, "n1", "active");
    conductor_stop(berth.conductor);
    berth.conductor = NULL;
    assert_true(now_ms() - began_ms < 1500);
    for (unsigned i = 0; i < 60; i++)
        assert_int_equal(verb_request_end(asked[i]), 409);
    assert_int_equal(berth_verb(&berth, "n1", "active"), 409); /* the writer goes on */
}

/* While the file cannot be written it tries once a second, and no more. */
static void rests_after_a_failure(void **state)
{
    (void)state;
    berth.metal.fake_delay_us = 50 * MS_US;
    berth_open(&berth, true);
    assert_int_equal(berth_create_node(&berth, "n1", "manageable"), 0);
    assert_int_equal(berth_verb(&berth, "n1", "provide"), 0);
    metal_bench_shell(&bench, "BEGIN IMMEDIATE");
    conductor_wake(berth.conductor);
    rest_ms(300);
    uint64_t before = pipeline_figures(berth.pipeline).refused[REFUSED_BY_DATABASE];
    for (unsigned i = 0; i < 24; i++) {
        conductor_wake(berth.conductor);
        rest_ms(50);
    }
    uint64_t refused = pipeline_figures(berth.pipeline).refused[REFUSED_BY_DATABASE] - before;
    assert_true(refused >= 1 && refused <= 3);
    metal_bench_shell(&bench, "ROLLBACK");
    assert_true(node_comes("n1", "available"));
}

/* Neither nodes nor the rest after a failure are stuck when the clock is set back. */
static void clock_set_back(void **state)
{
    (void)state;
    berth.metal.fake_delay_us = 50 * MS_US;
    berth_open(&berth, true);
    assert_int_equal(berth_create_node(&berth, "n1", "manageable"), 0);
    assert_int_equal(berth_verb(&berth, "n1", "provide"), 0);
    metal_bench_shell(&bench, "BEGIN IMMEDIATE");
    conductor_wake(berth.conductor);
    rest_ms(300);
    metal_bench_shell(&bench, "ROLLBACK");
    metal_bench_set_clock(-3600000LL * MS_US);
    conductor_wake(berth.conductor);
    assert_true(node_comes("n1", "available"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(woken),
        TEST(locked_and_then_free),
        TEST(locked_for_too_long),
        TEST(locked_in_silence),
        TEST(unlocked_beside),
        TEST(lock_of_another),
        TEST(stopped_while_waiting),
        TEST(rests_after_a_failure),
        TEST(clock_set_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
