/* The conductor makes Placement match the nodes' rows: when the mirror is turned on, after it was
 * off for a while, or after foreign writes (baremetal-allocations spec, 13). Pass by pass, without
 * threads. */
#include <stdio.h>

#include "baremetal/write/metal_bench.h"
#include "log/log.h"
#include "log/settings.h"
#include "unit.h"

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

static const char NEAR[] = "there boot space 2 2";

static int count_rows(const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(bench.shell, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

static const char IN_PLACEMENT[] =
    "SELECT count(*) FROM resource_providers p JOIN inventories i ON i.resource_provider_id = p.id "
    "WHERE p.name = p.uuid AND i.total = 1";
static const char RESERVED[] = "SELECT count(*) FROM inventories WHERE reserved = 1";
static const char HELD[] =
    "SELECT count(*) FROM allocations a JOIN consumers c ON a.consumer_id = c.uuid";

/* The mirror is turned on: nodes and their consumers appear in Placement. */
static void mirror_turned_on(void **state)
{
    (void)state;
    enum { MANY = 600 };
    struct berth berth = berth_new(&bench, NEAR);
    berth.metal.mirror = false;
    berth_open(&berth, false);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(
            berth_create_node(&berth, arena_printf(bench.arena, "n%u", i).data, "available"), 0);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    berth_await_rest(&berth);
    berth_assert_allocation(&berth, "a1", "active");
    assert_int_equal(count_rows(IN_PLACEMENT), 0);
    assert_int_equal(berth_allocate(&berth, "a2"), 0); /* decided below, after the walk */
    berth_close(&berth);
    berth.metal.mirror = true;
    berth_open(&berth, false);
    berth_await_rest(&berth);
    assert_int_equal(count_rows(IN_PLACEMENT), MANY);
    berth_assert_allocation(&berth, "a2", "active");
    assert_int_equal(count_rows(RESERVED), 2);
    assert_int_equal(count_rows(HELD), 2);
    berth_close(&berth);
}

/* It was off while the allocation was released: its remains in Placement are deleted at the start.
 */
static void mirror_off_for_a_while(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    berth_await_rest(&berth);
    berth_close(&berth);
    berth.metal.mirror = false;
    berth_open(&berth, false);
    assert_int_equal(berth_release(&berth, "a1"), 0);
    berth_await_rest(&berth);
    assert_int_equal(count_rows(HELD), 1);
    berth_close(&berth);
    berth.metal.mirror = true;
    berth_open(&berth, false);
    assert_int_equal(berth_allocate(&berth, "a2"), 0);
    berth_await_rest(&berth);
    berth_assert_allocation(&berth, "a2", "active");
    assert_int_equal(count_rows(HELD), 1);
    assert_int_equal(count_rows("SELECT count(*) FROM consumers WHERE uuid = 'a1'"), 0);
    assert_int_equal(count_rows("SELECT count(*) FROM berth_nodes WHERE mirrored_consumer IS NULL"),
                     1);
    berth_close(&berth);
}

/* Foreign writes to Placement's tables: what a node's row says is restored. */
static void foreign_writers(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    assert_int_equal(berth_create_node(&berth, "n2", "available"), 0);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    berth_await_rest(&berth);
    metal_bench_shell(&bench, "UPDATE inventories SET reserved = 0, total = 7");
    berth_await_rest(&berth);
    assert_int_equal(count_rows(IN_PLACEMENT), 2);
    assert_int_equal(count_rows(RESERVED), 1);
    metal_bench_shell(&bench, "DELETE FROM allocations; DELETE FROM consumers;"
                              "DELETE FROM inventories; DELETE FROM resource_providers");
    berth_await_rest(&berth);
    assert_int_equal(count_rows(IN_PLACEMENT), 2);
    assert_int_equal(count_rows(RESERVED), 1);
    assert_int_equal(count_rows(HELD), 1);
    berth_assert_allocation(&berth, "a1", "active");
    berth_close(&berth);
}

/* A node that cannot be mirrored is logged once, and delays nothing. */
static void mirror_conflict(void **state)
{
    (void)state;
    FILE *log = tmpfile();
    struct berth berth = berth_new(&bench, NEAR);
    berth.metal.mirror = false;
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "manageable"), 0);
    assert_int_equal(berth_create_node(&berth, "n2", "available"), 0);
    berth_close(&berth);
    metal_bench_shell(
        &bench, "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id, "
                "parent_provider_id) VALUES (1, 'root', 'root', 0, 1, NULL), "
                "(2, 'n1', 'n1', 0, 1, 1)");
    berth.metal.mirror = true;
    berth_open(&berth, false);
    log_start(fileno(log), false);
    for (unsigned i = 0; i < 3; i++) {
        berth_await_rest(&berth);
        metal_bench_shell(&bench, "UPDATE resource_providers SET generation = generation + 1");
    }
    berth_await_rest(&berth);
    assert_int_equal(berth_verb(&berth, "n1", "provide"), 0);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    metal_bench_pass(BENCH_DELAY_US);
    assert_int_equal(berth_pass(&berth), 2); /* in one pass: there is no rest */
    berth_assert_node(&berth, "n1", "available");
    berth_assert_allocation(&berth, "a1", "active");
    assert_string_equal(berth_node_text(&berth, "n2", NODE_INSTANCE_UUID), "a1");
    berth_close(&berth);
    assert_int_equal(metal_bench_end_log(log, "n1 cannot be a resource provider"), 1);
}

/* So is one whose provider cannot get its name; Placement's own writes go on as well. */
static void name_conflict(void **state)
{
    (void)state;
    struct berth berth = berth_new(&bench, NEAR);
    berth.metal.mirror = false;
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "manageable"), 0);
    assert_int_equal(berth_create_node(&berth, "n2", "available"), 0);
    berth_close(&berth);
    metal_bench_shell(
        &bench, "INSERT INTO resource_providers (id, uuid, name, generation, "
                "root_provider_id, parent_provider_id) VALUES (1, 'other', 'n1', 0, 1, NULL)");
    berth.metal.mirror = true;
    berth_open(&berth, false);
    berth_await_rest(&berth);
    assert_int_equal(berth_verb(&berth, "n1", "provide"), 0);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    metal_bench_pass(BENCH_DELAY_US);
    assert_int_equal(berth_pass(&berth), 2);
    berth_assert_node(&berth, "n1", "available");
    assert_int_equal(berth_allocate(&berth, "a2"), 0);
    berth_await_rest(&berth);
    assert_string_equal(berth_node_text(&berth, "n2", NODE_INSTANCE_UUID), "a1");
    berth_assert_allocation(&berth, "a2", "error"); /* it gets no consumer */
    metal_bench_shell(&bench, "DELETE FROM resource_providers WHERE uuid = 'other'");
    berth_await_rest(&berth);
    assert_int_equal(berth_allocate(&berth, "a3"), 0);
    berth_await_rest(&berth);
    assert_string_equal(berth_node_text(&berth, "n1", NODE_INSTANCE_UUID), "a3");
    berth_close(&berth);
}

/* So is one that a group claimed while the mirror was off and another consumer got it: the
 * conductor cannot bypass other products' rules. It stays unchanged in Placement, which is logged
 * once. */
static void exclusivity_conflict(void **state)
{
    (void)state;
    FILE *log = tmpfile();
    struct berth berth = berth_new(&bench, NEAR);
    berth_open(&berth, false);
    assert_int_equal(berth_create_node(&berth, "n1", "available"), 0);
    berth_close(&berth);
    berth.metal.mirror = false;
    berth_open(&berth, false);
    assert_int_equal(berth_allocate(&berth, "a1"), 0);
    berth_await_rest(&berth);
    berth_assert_allocation(&berth, "a1", "active");
    berth_close(&berth);
    metal_bench_shell(
        &bench, "INSERT INTO placement_aggregates (id, uuid) VALUES (1, 'gold');"
                "INSERT INTO resource_provider_aggregates (resource_provider_id, aggregate_id) "
                "SELECT id, 1 FROM resource_providers WHERE uuid = 'n1';"
                "INSERT INTO berth_valet_groups (id, uuid, name) VALUES (1, 'gold', 'gold')");
    berth.metal.mirror = true;
    berth_open(&berth, false);
    log_start(fileno(log), false);
    assert_int_equal(berth_create_node(&berth, "n2", "available"), 0);
    for (unsigned i = 0; i < 3; i++) {
        berth_await_rest(&berth);
        metal_bench_shell(&bench, "UPDATE resource_providers SET generation = generation + 1");
    }
    assert_int_equal(count_rows(HELD), 0);
    assert_int_equal(berth_allocate(&berth, "a2"), 0);
    berth_await_rest(&berth);
    berth_assert_allocation(&berth, "a2", "active");
    assert_string_equal(berth_node_text(&berth, "n2", NODE_INSTANCE_UUID), "a2");
    assert_int_equal(count_rows(HELD), 1);
    metal_bench_shell(&bench, "DELETE FROM resource_provider_aggregates");
    berth_await_rest(&berth);
    assert_int_equal(count_rows(HELD), 2); /* now it is permitted */
    berth_close(&berth);
    assert_int_equal(
        metal_bench_end_log(log, "Resource provider 'n1' is held by exclusivity group 'gold'."), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(mirror_turned_on), TEST(mirror_off_for_a_while), TEST(foreign_writers),
        TEST(mirror_conflict),  TEST(name_conflict),          TEST(exclusivity_conflict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
