/* Rows that the database refuses whatever is tried: each is retried alone, at growing intervals,
 * and delays no other (baremetal-allocations spec, 10). Without threads. */
#include <stdio.h>

#include "baremetal/write/metal_bench.h"
#include "log/log.h"
#include "log/settings.h"
#include "unit.h"

enum { SECOND_US = 1000000 };

static struct metal_bench bench;

static int set_up(void **state)
{
    (void)state;
    metal_bench_open(&bench);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    metal_bench_close(&bench);
    return 0;
}

static const char HERE[] = "there boot space 2 2";
static const char GONE[] = "here other-boot space 1 1";

static const char REFUSE_N1[] =
    "CREATE TRIGGER refuse BEFORE INSERT ON berth_nodes WHEN new.uuid = 'n1' "
    "BEGIN SELECT RAISE(ABORT, 'no'); END";
static const char REFUSE_NOTHING[] = "DROP TRIGGER refuse";

/* Passes without other events; returns how many submitted something. */
static unsigned run_for(struct berth *berth, unsigned seconds)
{
    unsigned busy = 0;
    for (unsigned i = 0; i < 4 * seconds; i++) {
        busy += berth_pass(berth) > 0;
        metal_bench_pass(SECOND_US / 4);
    }
    return busy;
}

static void one_row(void **state)
{
    (void)state;
    FILE *log = tmpfile();
    struct berth berth = berth_new(&bench, HERE);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "manageable"), 0);
    assert_int_equal(berth_create_node(&berth, "n2", "manageable"), 0);
    berth_await_rest(&berth);
    log_start(fileno(log), false);
    assert_int_equal(berth_verb(&berth, "n1", "provide"), 0);
    assert_int_equal(berth_verb(&berth, "n2", "provide"), 0);
    metal_bench_shell(&bench, REFUSE_N1);
    metal_bench_pass(BENCH_DELAY_US);
    run_for(&berth, 2);
    berth_assert_node(&berth, "n1", "cleaning");
    berth_assert_node(&berth, "n2", "available");
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    run_for(&berth, 1);
    assert_string_equal(berth_node_text(&berth, "n2", NODE_INSTANCE_UUID), "a1");
    assert_in_range(run_for(&berth, 600), 5, 20); /* it backs off */
    assert_int_equal(berth_create_node(&berth, "n3", "available"), 0);
    metal_bench_shell(&bench, REFUSE_NOTHING);
    run_for(&berth, 65);
    berth_assert_node(&berth, "n1", "available");
    assert_int_equal(run_for(&berth, 65), 0); /* it is forgotten */
    berth_close(&berth);
    assert_int_equal(metal_bench_end_log(log, "bare metal node n1"), 1);
}

/* Locks of ended processes are removed before allocations look for nodes; but one refused row does
 * not block all allocations. */
static void one_of_the_dead(void **state)
{
    (void)state;
    struct berth dead = berth_new(&bench, GONE);
    berth_open(&dead, false);
    assert_int_equal(berth_create_node(&dead, "n1", "manageable"), 0);
    assert_int_equal(berth_create_node(&dead, "n2", "available"), 0);
    berth_await_rest(&dead);
    assert_int_equal(berth_verb(&dead, "n1", "provide"), 0);
    assert_int_equal(berth_power(&dead, "n2", "power off"), 0);
    assert_int_equal(berth_allocate(&dead, "a1"), 0);
    berth_close(&dead);
    metal_bench_shell(&bench, REFUSE_N1);
    struct berth berth = berth_new(&bench, HERE);
    berth_open(&berth, false);
    run_for(&berth, 3);
    assert_string_equal(berth_node_text(&berth, "n2", NODE_INSTANCE_UUID), "a1");
    berth_assert_node(&berth, "n1", "cleaning");
    metal_bench_shell(&bench, REFUSE_NOTHING);
    run_for(&berth, 65);
    berth_assert_node(&berth, "n1", "clean failed");
    berth_close(&berth);
}

/* The same for the walk over all nodes. */
static void one_unmirrored(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, HERE);
    berth.metal.mirror = false;
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    assert_int_equal(berth_create_node(&berth, "n2", "available"), 0);
    berth_close(&berth);
    metal_bench_shell(&bench, "CREATE TRIGGER refuse BEFORE INSERT ON resource_providers "
                              "WHEN new.uuid = 'n1' BEGIN SELECT RAISE(ABORT, 'no'); END");
    berth.metal.mirror = true;
    berth_open(&berth, false);
    assert_int_equal(berth_power(&berth, "n2", "power on"), 0);
    run_for(&berth, 4);
    assert_int_equal(berth_allocate(&berth, "a0"), 0);
    run_for(&berth, 1);
    assert_string_equal(berth_node_text(&berth, "n2", NODE_INSTANCE_UUID), "a0");
    assert_int_equal(berth_release(&berth, "a0"), 0);
    assert_in_range(run_for(&berth, 600), 5, 20);
    metal_bench_shell(&bench, REFUSE_NOTHING);
    run_for(&berth, 65);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    assert_int_equal(berth_allocate(&berth, "a2"), 0);
    run_for(&berth, 1);
    assert_string_equal(berth_allocation_text(&berth, "a1", NODE_ALLOCATION_STATE), "active");
    assert_string_equal(berth_allocation_text(&berth, "a2", NODE_ALLOCATION_STATE), "active");
    berth_close(&berth);
}

/* A row that is deleted meanwhile is forgotten. */
static void one_deleted(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, HERE);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "manageable"), 0);
    berth_await_rest(&berth);
    assert_int_equal(berth_verb(&berth, "n1", "provide"), 0);
    metal_bench_shell(&bench, REFUSE_N1);
    metal_bench_pass(BENCH_DELAY_US);
    assert_in_range(run_for(&berth, 5), 2, 5);
    metal_bench_shell(&bench, "DELETE FROM berth_nodes WHERE uuid = 'n1'");
    run_for(&berth, 1);
    assert_int_equal(run_for(&berth, 600), 0);
    berth_close(&berth);
}

/* All rows, until the database is repaired: few tries, and then all go on. */
static void all_rows(void **state)
{
    (void)state;
    enum { MANY = 30 };
    struct berth berth = berth_new(&bench, HERE);
    berth_open(&berth, false);
    for (unsigned i = 0; i < MANY; i++) {
        const char *uuid = arena_printf(bench.arena, "n%u", i).data;
        assert_int_equal(berth_create_node(&berth, uuid, "manageable"), 0);
        assert_int_equal(berth_verb(&berth, uuid, "provide"), 0);
    }
    metal_bench_shell(&bench, "CREATE TRIGGER refuse BEFORE INSERT ON berth_nodes "
                              "BEGIN SELECT RAISE(ABORT, 'no'); END");
    metal_bench_pass(BENCH_DELAY_US);
    assert_in_range(run_for(&berth, 300), MANY, 12 * MANY);
    metal_bench_shell(&bench, REFUSE_NOTHING);
    run_for(&berth, 70);
    for (unsigned i = 0; i < MANY; i++)
        berth_assert_node(&berth, arena_printf(bench.arena, "n%u", i).data, "available");
    berth_close(&berth);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_row),     TEST(one_of_the_dead), TEST(one_unmirrored),
        TEST(one_deleted), TEST(all_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
