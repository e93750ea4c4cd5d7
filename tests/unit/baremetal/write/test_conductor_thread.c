/* The conductor with its thread: woken, waited for, stopped during work, without a database
 * (baremetal-allocations spec, 8.6). Both clocks stand still unless a test moves them. */
#include "baremetal/write/conductor_internal.h"
#include "baremetal/write/metal_bench.h"
#include "base/clock.h"
#include "unit.h"

enum {
    MS_US = 1000,
    LOOK_MS = 50, /* how often waiting requests are tried again */
    LOOK_EVERY_MS = CONDUCTOR_LOOK_EVERY_US / MS_US,
    RETRY_AFTER_MS = CONDUCTOR_RETRY_AFTER_US / MS_US
};

static struct metal_bench bench;
static struct berth berth;

static int set_up(void **state)
{
    (void)state;
    metal_bench_open(&bench);
    metal_bench_stop_clock();
    fake_clock_stop();
    berth = berth_new(&bench, "there boot space 2 2");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_clock_run();
    berth_close(&berth);
    metal_bench_close(&bench);
    return 0;
}

/* Both clocks. */
static void pass_ms(unsigned ms)
{
    metal_bench_pass((int64_t)ms * MS_US);
    fake_clock_advance_ms(ms);
}

static bool is_allocation(const char *uuid, const char *state)
{
    const char *at = berth_allocation_text(&berth, uuid, NODE_ALLOCATION_STATE);
    return slice_equal(slice_of(at), slice_of(state));
}

static bool is_node(const char *uuid, const char *state)
{
    const char *at = berth_node_text(&berth, uuid, NODE_PROVISION_STATE);
    return slice_equal(slice_of(at), slice_of(state));
}

/* Whether it is so after a little more time. */
static bool is_node_later(const char *uuid, const char *state)
{
    pass_ms(10);
    return is_node(uuid, state);
}

static unsigned count_waiting(void)
{
    unsigned count = 0;
    pthread_mutex_lock(&berth.conductor->lock);
    for (const struct conductor_wait *at = berth.conductor->waiting; at != NULL; at = at->next)
        count++;
    pthread_mutex_unlock(&berth.conductor->lock);
    return count;
}

/* It sleeps for seconds unless it is woken. */
static void woken(void **state)
{
    (void)state;
    berth.metal.fake_delay_us = 20 * MS_US;
    berth_open(&berth, true);
    METAL_BENCH_AWAIT(fake_clock_is_awaited_in_ms(LOOK_EVERY_MS / 2, LOOK_EVERY_MS));
    uint64_t began_us = clock_monotonic_us();
    assert_int_equal(berth_create_node(&berth, "n1", "manageable"), 0);
    assert_int_equal(berth_verb(&berth, "n1", "provide"), 0);
    conductor_wake(berth.conductor);
    METAL_BENCH_AWAIT(is_node_later("n1", "available"));
    for (unsigned i = 0; i < 20; i++) {
        const char *uuid = arena_printf(bench.arena, "a%u", i).data;
        assert_int_equal(berth_allocate(&berth, uuid), 0);
        conductor_wake(berth.conductor);
        METAL_BENCH_AWAIT(is_allocation(uuid, "active"));
        assert_int_equal(berth_release(&berth, uuid), 0);
    }
    assert_true(clock_monotonic_us() - began_us < CONDUCTOR_LOOK_EVERY_US / 2);
}

static void locked_and_then_free(void **state)
{
    (void)state;
    berth.metal.fake_delay_us = 300 * MS_US;
    berth_open(&berth, true);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    assert_int_equal(berth_power(&berth, "n1", "power on"), 0);
    conductor_wake(berth.conductor);
    struct verb_request *asked = berth_begin_verb(&berth, "n1", "active");
    METAL_BENCH_AWAIT(count_waiting() == 1);
    uint64_t began_us = clock_monotonic_us();
    while (clock_monotonic_us() - began_us < 280 * MS_US)
        pass_ms(10);
    assert_false(verb_request_is_done(asked));
    pass_ms(10);
    pass_ms(10);
    assert_int_equal(verb_request_end(asked), 0);
    conductor_wake(berth.conductor);
    METAL_BENCH_AWAIT(is_node_later("n1", "active"));
}

enum { PATIENCE_MS = 2000 };

static void locked_for_too_long(void **state)
{
    (void)state;
    berth.metal.fake_delay_us = 60000 * MS_US;
    berth_open(&berth, true);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    assert_int_equal(berth_power(&berth, "n1", "power on"), 0);
    struct verb_request *asked[40];
    uint64_t began_us = clock_monotonic_us();
    for (unsigned i = 0; i < 40; i++)
        asked[i] = berth_begin_verb(&berth, "n1", "active");
    METAL_BENCH_AWAIT(count_waiting() == 40);
    metal_bench_set_clock(-4000LL * MS_US); /* the wall clock does not matter */
    while (clock_monotonic_us() - began_us < (PATIENCE_MS - LOOK_MS) * MS_US)
        fake_clock_advance_ms(LOOK_MS / 2);
    for (unsigned i = 0; i < 40; i++)
        assert_false(verb_request_is_done(asked[i]));
    for (unsigned i = 0; i < 4; i++)
        fake_clock_advance_ms(LOOK_MS);
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(verb_request_end(asked[i]), 409);
    assert_int_equal(berth_verb_waiting(&berth, "n1", "adopt"), 409); /* never possible */
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
    METAL_BENCH_AWAIT(count_waiting() == 1);
    fake_clock_advance_ms(120);
    struct verb_request *second = berth_begin_verb(&berth, "n1", "active");
    METAL_BENCH_AWAIT(count_waiting() == 2);
    for (unsigned ms = 0; ms < PATIENCE_MS + 2 * LOOK_MS; ms += LOOK_MS)
        fake_clock_advance_ms(LOOK_MS);
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
    assert_int_equal(conductor_begin_pass(berth.conductor, metal_bench_now()), 1);
    assert_true(pipeline_run_once(berth.pipeline));
    conductor_end_pass(berth.conductor, metal_bench_now());
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
    METAL_BENCH_AWAIT(count_waiting() == 1);
    for (unsigned ms = 0; ms < 300; ms += LOOK_MS)
        fake_clock_advance_ms(LOOK_MS);
    assert_false(verb_request_is_done(asked));
    metal_bench_pass(10000 * MS_US);
    assert_int_equal(berth_pass(&other), 1);
    fake_clock_advance_ms(LOOK_MS);
    assert_int_equal(verb_request_end(asked), 0);
    METAL_BENCH_AWAIT(is_node("n1", "deploying"));
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
    METAL_BENCH_AWAIT(count_waiting() == 30);
    assert_false(verb_request_is_done(asked[0]));
    for (unsigned i = 30; i < 60; i++)
        asked[i] = berth_begin_verb(&berth, "n1", "active");
    conductor_stop(berth.conductor);
    berth.conductor = NULL;
    for (unsigned i = 0; i < 60; i++)
        assert_int_equal(verb_request_end(asked[i]), 409);
    assert_int_equal(berth_verb(&berth, "n1", "active"), 409); /* the writer goes on */
}

static uint64_t count_refused(void)
{
    return pipeline_figures(berth.pipeline).refused[REFUSED_BY_DATABASE];
}

/* Does not wait for the writer, which waits for the lock. */
static bool is_refused_later(uint64_t count)
{
    metal_bench_pass(10 * MS_US);
    fake_clock_add_us(10 * MS_US);
    return count_refused() >= count;
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
    METAL_BENCH_AWAIT(is_refused_later(1));
    uint64_t failed_us = clock_monotonic_us();
    METAL_BENCH_AWAIT(fake_clock_is_awaited_in_ms(RETRY_AFTER_MS / 2, RETRY_AFTER_MS));
    while (clock_monotonic_us() - failed_us < (RETRY_AFTER_MS - 2 * LOOK_MS) * MS_US) {
        conductor_wake(berth.conductor);
        pass_ms(LOOK_MS);
    }
    assert_int_equal(count_refused(), 1);
    METAL_BENCH_AWAIT(is_refused_later(2));
    metal_bench_shell(&bench, "ROLLBACK");
    METAL_BENCH_AWAIT(is_node_later("n1", "available"));
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
    METAL_BENCH_AWAIT(is_refused_later(1));
    METAL_BENCH_AWAIT(fake_clock_is_awaited_in_ms(RETRY_AFTER_MS / 2, RETRY_AFTER_MS));
    metal_bench_shell(&bench, "ROLLBACK");
    metal_bench_set_clock(-3600000LL * MS_US);
    conductor_wake(berth.conductor);
    METAL_BENCH_AWAIT(is_node_later("n1", "available"));
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
