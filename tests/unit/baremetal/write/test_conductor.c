/* Work without a client, pass by pass and without threads: when it is due, for ended processes, on
 * the newest rows (baremetal-allocations spec, 4, 10, C9). */
#include <sys/wait.h>
#include <unistd.h>

#include "baremetal/write/instance.h"
#include "baremetal/write/metal_bench.h"
#include "base/clock.h"
#include "unit.h"

enum { SECOND_US = 1000000 };

static const struct conductor_time LONG_AGO;

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

static const char FAR[] = "elsewhere boot space 1 1";
static const char NEAR[] = "there boot space 2 2";

/* The name of a process of this host that has ended. */
static const char *name_of_the_dead(void)
{
    int ends[2];
    char text[256];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct slice name = instance_name(SLICE_LIT("here"), bench.arena);
        ssize_t ignored = write(ends[1], name.data, name.len);
        (void)ignored;
        _exit(0);
    }
    ssize_t len = read(ends[0], text, sizeof(text));
    assert_true(len > 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[0]);
    close(ends[1]);
    return arena_copy(bench.arena, (struct slice){text, (size_t)len}).data;
}

static void ends_on_time(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&berth, false);
    berth_await_rest(&berth); /* the pass over all nodes at the start */
    assert_int_equal(berth_create_node(&berth, "n1", "active"), 0);
    assert_int_equal(berth_verb(&berth, "n1", "deleted"), 0);
    assert_int_equal(berth_pass(&berth), 0);
    metal_bench_pass(BENCH_DELAY_US);
    assert_int_equal(berth_pass(&berth), 1);
    berth_assert_node(&berth, "n1", "cleaning");
    assert_int_equal(berth_pass(&berth), 0);
    metal_bench_pass(3600LL * SECOND_US); /* it ends its own however late */
    assert_int_equal(berth_pass(&berth), 1);
    berth_assert_node(&berth, "n1", "available");
    assert_int_equal(berth_pass(&berth), 0);
    assert_int_equal(berth_verb(&berth, "n1", "active"), 0);
    metal_bench_pass(-7200LL * SECOND_US); /* the clock is set back */
    assert_int_equal(berth_pass(&berth), 1);
    berth_assert_node(&berth, "n1", "active");
    berth_close(&berth);
}

/* C9: the second commit. */
static void decides(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    berth_await_rest(&berth);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    assert_int_equal(berth_allocate(&berth, "a2"), 0);
    berth_assert_allocation(&berth, "a1", "allocating");
    assert_int_equal(berth_pass(&berth), 2);
    berth_assert_allocation(&berth, "a1", "active");
    berth_assert_allocation(&berth, "a2", "error");
    assert_string_equal(berth_node_text(&berth, "n1", NODE_INSTANCE_UUID), "a1");
    assert_int_equal(berth_pass(&berth), 0);
    berth_close(&berth);
}

static unsigned ends_before(struct berth *berth, int64_t in_us)
{
    unsigned count =
        conductor_ends_before(replica_pin(berth->reader), &berth->metal, clock_wall_us() + in_us);
    replica_unpin(berth->reader);
    return count;
}

/* What a stop waits for: actions of this process that end in time. */
static void what_ends_soon(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, NEAR);
    struct berth other = berth_new(&bench, FAR);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    assert_int_equal(berth_create_node(&berth, "n2", "available"), 0);
    berth_await_rest(&berth);
    assert_int_equal(ends_before(&berth, 10LL * BENCH_DELAY_US), 0);
    assert_int_equal(berth_verb(&berth, "n1", "active"), 0);
    assert_int_equal(berth_power(&berth, "n2", "power on"), 0);
    assert_int_equal(ends_before(&berth, BENCH_DELAY_US / 2), 0);
    assert_int_equal(ends_before(&berth, 10LL * BENCH_DELAY_US), 2);
    berth_open(&other, false);
    assert_int_equal(ends_before(&other, 10LL * BENCH_DELAY_US), 0);
    berth_close(&other);
    metal_bench_pass(BENCH_DELAY_US);
    berth_await_rest(&berth);
    berth_assert_node(&berth, "n1", "active");
    assert_int_equal(ends_before(&berth, 10LL * BENCH_DELAY_US), 0);
    berth_close(&berth);
}

static void locked_nodes_are_tried_again(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, NEAR);
    berth.metal.fake_delay_us = 600LL * SECOND_US;
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    berth_await_rest(&berth);
    assert_int_equal(berth_power(&berth, "n1", "power on"), 0);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    for (unsigned i = 0; i < 3; i++) {
        berth_assert_allocation(&berth, "a1", "allocating");
        assert_int_equal(berth_pass(&berth), 1);
        assert_int_equal(berth_pass(&berth), 0);
        metal_bench_pass(SECOND_US);
    }
    berth_assert_allocation(&berth, "a1", "error");
    assert_string_equal(berth_allocation_text(&berth, "a1", NODE_ALLOCATION_LAST_ERROR),
                        "Failed to process allocation a1: could not reserve any of 1 suitable "
                        "nodes.");
    berth_close(&berth);
}

/* A node found in a lost batch is found again; a failed allocation stays failed. */
static void lost_batches(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    berth_await_rest(&berth);
    assert_int_equal(berth_power(&berth, "n1", "power on"), 0);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    assert_int_equal(berth_pass(&berth), 1);
    metal_bench_pass(BENCH_DELAY_US);
    /* memory accepts, the file refuses: found, but not taken */
    metal_bench_shell(&bench, "CREATE TRIGGER refuse BEFORE INSERT ON berth_node_allocations "
                              "BEGIN SELECT RAISE(ABORT, 'no'); END;"
                              "CREATE TRIGGER refuse_too BEFORE UPDATE ON berth_node_allocations "
                              "BEGIN SELECT RAISE(ABORT, 'no'); END");
    for (unsigned i = 0; i < 4; i++) {
        unsigned count = berth_pass(&berth); /* a refused row gets at most every other pass */
        assert_true(berth_pass(&berth) + count > 0);
        berth_assert_allocation(&berth, "a1", "allocating");
        metal_bench_pass(61LL * SECOND_US);
    }
    metal_bench_shell(&bench, "DROP TRIGGER refuse; DROP TRIGGER refuse_too");
    berth_await_rest(&berth);
    berth_assert_allocation(&berth, "a1", "active");
    assert_int_equal(berth_allocate(&berth, "a2"), 0);
    metal_bench_shell(&bench, "CREATE TRIGGER refuse BEFORE INSERT ON berth_node_allocations "
                              "BEGIN SELECT RAISE(ABORT, 'no'); END;"
                              "CREATE TRIGGER refuse_too BEFORE UPDATE ON berth_node_allocations "
                              "BEGIN SELECT RAISE(ABORT, 'no'); END");
    assert_true(berth_pass(&berth) > 0);
    berth_assert_allocation(&berth, "a2", "allocating");
    metal_bench_shell(&bench, "DROP TRIGGER refuse; DROP TRIGGER refuse_too");
    metal_bench_pass(2LL * SECOND_US);
    berth_await_rest(&berth);
    assert_string_equal(berth_allocation_text(&berth, "a2", NODE_ALLOCATION_LAST_ERROR),
                        "Failed to process allocation a2: no available nodes match the resource "
                        "class gold.");
    berth_close(&berth);
}

/* A reused id belongs to another allocation, which begins from the start. */
static void an_id_comes_again(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, NEAR);
    struct berth other = berth_new(&bench, FAR);
    berth.metal.fake_delay_us = other.metal.fake_delay_us = 600LL * SECOND_US;
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    berth_await_rest(&berth);
    assert_int_equal(berth_power(&berth, "n1", "power on"), 0);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    assert_int_equal(berth_pass(&berth), 1);
    berth_open(&other, false); /* reads the highest id again */
    assert_int_equal(berth_release(&other, "a1"), 0);
    metal_bench_shell(&bench, "INSERT INTO traits (name) VALUES ('CUSTOM_X')"); /* a load */
    berth_follow(&berth);
    assert_int_equal(berth_create_node(&berth, "n2", "available"), 0);
    assert_int_equal(berth_allocate(&berth, "a2"), 0);
    berth_await_rest(&berth);
    berth_assert_allocation(&berth, "a2", "active");
    assert_string_equal(berth_node_text(&berth, "n2", NODE_INSTANCE_UUID), "a2");
    berth_close(&other);
    berth_close(&berth);
}

/* A node's row is deleted by another program: the next node is not its allocation's. */
static void an_id_is_not_inherited(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    berth_await_rest(&berth);
    metal_bench_shell(&bench, "DELETE FROM berth_nodes");
    berth_await_rest(&berth);
    for (unsigned i = 0; i < 2; i++) {
        const char *node = i == 0 ? "n2" : "n3";
        const char *uuid = i == 0 ? "a2" : "a3";
        assert_int_equal(berth_create_node(&berth, node, "available"), 0);
        assert_int_equal(berth_allocate(&berth, uuid), 0);
        berth_await_rest(&berth);
        assert_string_equal(berth_node_text(&berth, node, NODE_INSTANCE_UUID), uuid);
        berth_close(&berth); /* the same after a restart */
        berth_open(&berth, false);
    }
    assert_int_equal(berth_release(&berth, "a1"), 0);
    assert_string_equal(berth_node_text(&berth, "n2", NODE_INSTANCE_UUID), "a2");
    metal_bench_shell(&bench, "UPDATE berth_node_allocations SET node_id = 'abc';"
                              "INSERT INTO berth_node_allocations (id, uuid, node_id) VALUES "
                              "(77, '00000000-0000-4000-8000-000000000077', 9223372036854775807)");
    berth_follow(&berth);
    assert_int_equal(berth_create_node(&berth, "n4", "available"), 0);
    berth_close(&berth);
}

static void leave_behind(const char *instance)
{
    struct berth berth = berth_new(&bench, instance);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "manageable"), 0);
    assert_int_equal(berth_create_node(&berth, "n2", "available"), 0);
    berth_await_rest(&berth);
    assert_int_equal(berth_verb(&berth, "n1", "provide"), 0);
    assert_int_equal(berth_power(&berth, "n2", "power off"), 0);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    berth_close(&berth);
}

/* A process of this host that has ended: at once, locks first. */
static void rows_of_the_dead(void **state)
{
    (void)state;
    leave_behind(name_of_the_dead());
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&berth, false);
    assert_int_equal(berth_pass(&berth), 2);
    berth_assert_node(&berth, "n1", "clean failed");
    assert_string_equal(berth_node_text(&berth, "n1", NODE_LAST_ERROR),
                        "The cleaning state can't be resumed by conductor here. Moving to fail "
                        "state.");
    assert_string_equal(berth_node_text(&berth, "n2", NODE_POWER_STATE), "power on");
    assert_string_equal(berth_node_text(&berth, "n2", NODE_LAST_ERROR),
                        "Pending power operation was aborted due to conductor restart");
    berth_assert_allocation(&berth, "a1", "allocating");
    assert_int_equal(berth_pass(&berth), 1);
    berth_assert_allocation(&berth, "a1", "active");
    assert_int_equal(berth_pass(&berth), 0);
    berth_close(&berth);
}

/* A process that cannot be seen: when its rows are a minute late. */
static void rows_of_the_silent(void **state)
{
    (void)state;
    leave_behind(FAR);
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&berth, false);
    berth_await_rest(&berth);
    metal_bench_pass(40LL * SECOND_US);
    assert_int_equal(berth_pass(&berth), 0);
    metal_bench_pass(8LL * SECOND_US);
    assert_int_equal(berth_pass(&berth), 1); /* tests whether the file takes writes */
    assert_int_equal(berth_pass(&berth), 0);
    metal_bench_pass(11LL * SECOND_US);
    assert_int_equal(berth_pass(&berth), 0);
    berth_assert_node(&berth, "n1", "cleaning");
    metal_bench_pass(4LL * SECOND_US);
    berth_await_rest(&berth);
    berth_assert_node(&berth, "n1", "clean failed");
    berth_assert_allocation(&berth, "a1", "active");
    assert_string_equal(berth_node_text(&berth, "n2", NODE_INSTANCE_UUID), "a1");
    berth_close(&berth);
}

/* The other machine's clock is wrong: that takes neither more time nor less. */
static void clocks_that_differ(void **state)
{
    (void)state;
    static const int64_t ahead_us[] = {600LL * SECOND_US, -600LL * SECOND_US};
    const char *nodes[] = {"n1", "n2"};
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&berth, false);
    for (int i = 0; i < 2; i++) {
        struct berth owner = berth_new(&bench, FAR);
        metal_bench_set_clock(ahead_us[i]);
        berth_open(&owner, false);
        assert_int_equal(berth_create_node(&owner, nodes[i], "manageable"), 0);
        berth_await_rest(&owner);
        assert_int_equal(berth_verb(&owner, nodes[i], "provide"), 0);
        berth_close(&owner);
        metal_bench_set_clock(0);
        berth_await_rest(&berth);
        for (int passed = 0; passed < 60; passed += 4) {
            berth_await_rest(&berth);
            berth_assert_node(&berth, nodes[i], "cleaning");
            metal_bench_pass(4LL * SECOND_US);
        }
        metal_bench_pass(3LL * SECOND_US);
        berth_await_rest(&berth);
        berth_assert_node(&berth, nodes[i], "clean failed");
    }
    berth_close(&berth);
}

/* Each step of a node has its own time: an owner that works on one for long is not taken for gone.
 */
static void steps_of_the_living(void **state)
{
    (void)state;
    struct berth owner = berth_new(&bench, FAR);
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&owner, false);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&owner, "n1", "active"), 0);
    berth_await_rest(&owner);
    berth_await_rest(&berth);
    assert_int_equal(berth_verb(&owner, "n1", "deleted"), 0);
    berth_await_rest(&berth);
    metal_bench_pass(50LL * SECOND_US);
    berth_await_rest(&berth); /* includes the test write */
    berth_assert_node(&berth, "n1", "deleting");
    assert_int_equal(berth_pass(&owner), 1);
    metal_bench_pass(40LL * SECOND_US);
    berth_await_rest(&berth);
    berth_assert_node(&berth, "n1", "cleaning");
    berth_await_rest(&owner);
    berth_await_rest(&berth);
    berth_assert_node(&berth, "n1", "available");
    berth_close(&berth);
    berth_close(&owner);
}

/* The file was unavailable to both for more than a minute: the rows' owner ends them. */
static void rows_of_the_living(void **state)
{
    (void)state;
    struct berth owner = berth_new(&bench, FAR);
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&owner, false);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&owner, "n1", "manageable"), 0);
    berth_await_rest(&owner);
    berth_await_rest(&berth);
    assert_int_equal(berth_verb(&owner, "n1", "provide"), 0);
    metal_bench_shell(&bench, "BEGIN IMMEDIATE");
    for (unsigned i = 0; i < 30; i++) {
        metal_bench_pass(5LL * SECOND_US);
        (void)berth_pass(&berth);
        (void)berth_pass(&owner);
    }
    metal_bench_shell(&bench, "ROLLBACK");
    metal_bench_pass(5LL * SECOND_US);
    (void)berth_pass(&berth); /* it comes first, and leaves the row to the owner */
    (void)berth_pass(&berth);
    berth_assert_node(&berth, "n1", "cleaning");
    berth_await_rest(&owner);
    berth_await_rest(&berth);
    berth_assert_node(&berth, "n1", "available");
    assert_string_equal(berth_node_text(&berth, "n1", NODE_LAST_ERROR), "null");
    berth_close(&berth);
    berth_close(&owner);
}

/* Of two processes that take over the same rows, the second finds nothing to do. */
static void taken_over_by_two(void **state)
{
    (void)state;
    leave_behind(name_of_the_dead());
    struct berth one = berth_new(&bench, NEAR);
    struct berth other = berth_new(&bench, FAR);
    berth_open(&one, false);
    berth_open(&other, false);
    assert_int_equal(conductor_begin_pass(one.conductor, LONG_AGO), 2);
    assert_int_equal(conductor_begin_pass(other.conductor, LONG_AGO), 2);
    while (pipeline_run_once(one.pipeline) || pipeline_run_once(other.pipeline))
        ;
    conductor_end_pass(one.conductor, LONG_AGO);
    conductor_end_pass(other.conductor, LONG_AGO);
    for (unsigned i = 0; i < 3; i++) {
        (void)berth_pass(&one);
        (void)berth_pass(&other);
    }
    berth_assert_allocation(&one, "a1", "active");
    berth_assert_allocation(&other, "a1", "active");
    berth_assert_node(&one, "n1", "clean failed");
    berth_close(&other);
    berth_close(&one);
}

/* More than a pass holds. */
static void many(void **state)
{
    (void)state;
    enum { MANY = 1300 };
    struct berth berth = berth_new(&bench, NEAR);
    metal_bench_stop_clock();
    berth_open(&berth, false);
    for (unsigned i = 0; i < MANY; i++) {
        const char *uuid = arena_printf(bench.arena, "n%u", i).data;
        assert_int_equal(berth_create_node(&berth, uuid, "available"), 0);
        assert_int_equal(berth_power(&berth, uuid, "power on"), 0);
        assert_int_equal(berth_allocate(&berth, arena_printf(bench.arena, "a%u", i).data), 0);
    }
    berth_await_rest(&berth);
    metal_bench_pass(BENCH_DELAY_US);
    unsigned most = 0;
    for (unsigned i = 0, count = 1; count > 0; i++) {
        assert_true(i < 20);
        count = berth_pass(&berth);
        most = count > most ? count : most;
    }
    assert_int_equal(most, 512);
    metal_bench_pass(BENCH_DELAY_US);
    berth_await_rest(&berth);
    unsigned active = 0;
    for (unsigned i = 0; i < MANY; i++) {
        const char *node = arena_printf(bench.arena, "n%u", i).data;
        const char *uuid = arena_printf(bench.arena, "a%u", i).data;
        active += berth_node_text(&berth, node, NODE_INSTANCE_UUID)[0] == 'a';
        berth_assert_allocation(&berth, uuid, "active");
    }
    assert_int_equal(active, MANY);
    berth_close(&berth);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ends_on_time),           TEST(decides),
        TEST(what_ends_soon),         TEST(locked_nodes_are_tried_again),
        TEST(lost_batches),           TEST(an_id_comes_again),
        TEST(an_id_is_not_inherited), TEST(rows_of_the_dead),
        TEST(rows_of_the_silent),     TEST(rows_of_the_living),
        TEST(clocks_that_differ),     TEST(steps_of_the_living),
        TEST(taken_over_by_two),      TEST(many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
