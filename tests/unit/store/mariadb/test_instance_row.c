/* The rows of instances, on a server of its own, or on a node of a Galera cluster. */
#include <string.h>

#include "sessions.h"
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/session/session_state.h"

static struct mariadb_session *session;
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    session = open_served("utf8mb3");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mariadb_session_destroy(session);
    arena_destroy(arena);
    return 0;
}

static void value_is(const char *sql, const char *expected)
{
    const char *value = value_of(arena, session, sql);
    assert_non_null(value);
    assert_string_equal(value, expected);
}

static void write_row(const struct instance_row *row, int64_t followed)
{
    struct attempt tried = begin_attempt();
    enum server_outcome outcome =
        mariadb_instance_write(&session->base, row, followed, soon(), &tried.err);
    expect_outcome(&tried, session, outcome, SERVER_OK, NULL);
}

static void test_row_of_an_instance(void **state)
{
    (void)state;
    struct instance_row row, other;
    assert_true(instance_row_init(&row));
    assert_true(instance_row_init(&other));
    write_row(&row, 5);
    value_is("SELECT CONCAT_WS(' ', followed, first_seen = last_seen, node, '.',"
             " ABS(TIMESTAMPDIFF(SECOND, last_seen, UTC_TIMESTAMP(6))) < 60) FROM berth_instances",
             "5 1  . 1");
    value_is("SELECT CONCAT_WS(' ', version, pid) FROM berth_instances",
             arena_printf(arena, BERTH_VERSION " %d", row.pid).data);
    run(session, "UPDATE berth_instances SET first_seen = '2000-01-01', last_seen = '2000-01-01'");
    strcpy(row.node, "node '1");
    write_row(&row, 7);
    value_is("SELECT CONCAT_WS(' ', followed, node, first_seen = '2000-01-01',"
             " last_seen > '2001-01-01') FROM berth_instances",
             "7 node '1 1 1");
    write_row(&other, 1);
    value_is("SELECT COUNT(*) FROM berth_instances", "2");
    struct attempt tried = begin_attempt();
    enum server_outcome outcome = mariadb_instance_delete(&session->base, &row, soon(), &tried.err);
    expect_outcome(&tried, session, outcome, SERVER_OK, NULL);
    value_is("SELECT GROUP_CONCAT(instance) FROM berth_instances", other.name);
}

/* The longest name that a session knows of a node. */
static void test_longest_node(void **state)
{
    (void)state;
    struct instance_row row;
    assert_true(instance_row_init(&row));
    memset(row.node, 'n', sizeof(row.node) - 1);
    write_row(&row, 0);
    value_is("SELECT LENGTH(node) FROM berth_instances", "255");
}

static void test_rows_are_deleted_after_a_day(void **state)
{
    (void)state;
    struct instance_row row;
    assert_true(instance_row_init(&row));
    run(session,
        "INSERT INTO berth_instances (instance, host, pid, version, first_seen, last_seen,"
        " followed) VALUES ('23 hours', '', 1, '', UTC_TIMESTAMP(6),"
        " UTC_TIMESTAMP(6) - INTERVAL 23 HOUR, 0), ('25 hours', '', 1, '', UTC_TIMESTAMP(6),"
        " UTC_TIMESTAMP(6) - INTERVAL 25 HOUR, 0)");
    write_row(&row, 0);
    value_is("SELECT CONCAT_WS(' ', COUNT(*), SUM(instance = '23 hours')) FROM berth_instances",
             "2 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_row_of_an_instance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_longest_node, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_are_deleted_after_a_day, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
