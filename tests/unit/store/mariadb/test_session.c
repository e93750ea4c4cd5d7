/* Facts, settings, rows and failures on a real server. */
#include "one_session.h"

#include <stdio.h>

#include "base/clock.h"
#include "store/mariadb/session/session_settings.h"

/* ---- facts and settings ---- */

static void test_facts(void **state)
{
    (void)state;
    const struct mariadb_server *server = mariadb_session_server(session);
    assert_true(server->version >= (server->is_mariadb ? 100600 : 80000));
    assert_string_equal(server->version_text, value_of(arena, session, "SELECT VERSION()"));
    assert_false(server->is_proxied);
    assert_false(server->uses_tls);
    assert_false(server->is_read_only);
    assert_false(server->is_galera);
    assert_string_equal(server->node, "");
    assert_true(server->text_bytes_most > 1000000);
    assert_int_equal(server->auto_increment_increment, 1);
    char id[24];
    snprintf(id, sizeof(id), "%llu", (unsigned long long)server->connection_id);
    value_is("SELECT CONNECTION_ID()", id);
    value_is("SELECT @@hostname", server->host);
    assert_true(server->id.started != 0 && server->id.timeline == 1);
}

static void test_settings(void **state)
{
    (void)state;
    value_is("SELECT @@character_set_client", "utf8mb4");
    value_is("SELECT @@character_set_results", "utf8mb4");
    value_is("SELECT @@collation_connection", "utf8mb4_bin");
    value_is("SELECT @@time_zone", "+00:00");
    value_is("SELECT @@autocommit", "1");
    value_is("SELECT @@wait_timeout", "31536000");
    value_is("SELECT '\\n' = CHAR(92, 110)", "1");
    value_is("SELECT @@lc_messages", "en_US");
    assert_string_equal(mariadb_session_server(session)->is_mariadb
                            ? value_of(arena, session, "SELECT @@tx_isolation")
                            : value_of(arena, session, "SELECT @@transaction_isolation"),
                        "READ-COMMITTED");
    reconnect((struct server_session_options){.application_name = "berthd: follower",
                                              .statement_timeout_ms = 12500,
                                              .idle_in_transaction_ms = 33001,
                                              .lock_timeout_ms = 2000});
    value_is("SELECT @@innodb_lock_wait_timeout", "2");
    value_is("SELECT @@lock_wait_timeout", "2");
    if (!mariadb_session_server(session)->is_mariadb) {
        value_is("SELECT @@max_execution_time", "12500");
        value_is("SELECT @@wait_timeout", "60");
        return;
    }
    value_is("SELECT @@max_statement_time", "12.500000");
    value_is("SELECT @@idle_write_transaction_timeout", "34");
    value_is("SELECT @@idle_transaction_timeout", "34");
}

/* MySQL has only this limit for a session that is idle in a transaction; a second is waited for
 * here. What is in a comment for MySQL, MariaDB is made to execute, instead of its own limits;
 * there, too, the limit releases the locks. */
static void test_idle_in_transaction(void **state)
{
    (void)state;
    const struct server_session_options options = {.idle_in_transaction_ms = 5000};
    char *text = (char *)(uintptr_t)mariadb_settings_text(&options, arena).data;
    char *limit = strstr(text, "/*!80000 , wait_timeout=60 */");
    assert_non_null(limit);
    bool is_mariadb = mariadb_session_server(session)->is_mariadb;
    if (is_mariadb)
        memset(limit, ' ', strlen("/*!80000"));
    memcpy(limit + strlen("/*!80000 , wait_timeout="), is_mariadb ? "1    " : "1  */",
           strlen("60 */"));
    struct mariadb_session *holder = open_session();
    run(holder, text);
    if (is_mariadb)
        run(holder, "SET idle_transaction_timeout=0, idle_write_transaction_timeout=0");
    run(holder, "BEGIN; INSERT INTO parent VALUES (1, 'a', 1)");
    uint64_t began_us = clock_monotonic_us();
    run(session, "SET innodb_lock_wait_timeout=30; INSERT INTO parent VALUES (1, 'b', 2)");
    assert_in_range(clock_monotonic_us() - began_us, 500000, 10000000);
    value_is("SELECT name FROM parent", "b");
    mariadb_session_destroy(holder);
}

/* What deployment tools set on their servers must not hold here. */
static void test_other_defaults(void **state)
{
    (void)state;
    struct mariadb_session *admin = open_admin();
    run(admin,
        "SET GLOBAL init_connect='SET NAMES utf8', GLOBAL sql_mode='ANSI_QUOTES',"
        " GLOBAL completion_type=2, GLOBAL sql_safe_updates=1, GLOBAL autocommit=0,"
        " GLOBAL foreign_key_checks=0, GLOBAL time_zone='+05:00'"
        " /*M! , GLOBAL max_statement_time=30 */ /*!80000 , GLOBAL max_execution_time=30000 */");
    reconnect((struct server_session_options){0});
    run(admin, "SET GLOBAL init_connect='', GLOBAL sql_mode=DEFAULT, GLOBAL completion_type=0,"
               " GLOBAL sql_safe_updates=0, GLOBAL autocommit=1, GLOBAL foreign_key_checks=1,"
               " GLOBAL time_zone=DEFAULT"
               " /*M! , GLOBAL max_statement_time=0 */ /*!80000 , GLOBAL max_execution_time=0 */");
    mariadb_session_destroy(admin);
    value_is("SELECT HEX('\xf0\x9f\x98\x80')", "F09F9880");
    value_is("SELECT @@sql_safe_updates + @@completion_type"
             " /*M! + @@max_statement_time */ /*!80000 + @@max_execution_time */",
             "0");
    value_is("SELECT @@foreign_key_checks + @@autocommit", "2");
    value_is("SELECT @@time_zone", "+00:00");
    value_is("SELECT LENGTH(\"abc\")", "3");
}

static void test_same_server(void **state)
{
    (void)state;
    struct server_lineage *lineage = server_lineage_create();
    struct server_id first = mariadb_session_server(session)->id;
    reconnect((struct server_session_options){.lineage = lineage});
    assert_true(server_id_equal(&first, &mariadb_session_server(session)->id));
    assert_false(server_session_has_moved(&session->base));
    struct server_id other = {.started = 7, .system = first.system, .timeline = 1};
    struct server_old_primary old;
    assert_true(server_lineage_join(lineage, &other, &old));
    assert_true(server_session_has_moved(&session->base));
    mariadb_session_destroy(session);
    session = NULL;
    server_lineage_destroy(lineage);
}

/* ---- rows ---- */

static void test_rows(void **state)
{
    (void)state;
    struct mariadb_text text = {
        .sql = SLICE_LIT("SELECT -7, -9223372036854775808, TRUE, 16.1e0, 'h\xc3\xa9', '', NULL,"
                         " x'0001FF00', 18446744073709551615, SUM(42), 1.5, 'x'"),
        .statements = 1};
    struct mariadb_rows rows = {0};
    size_t results = 0;
    EXPECT(mariadb_session_execute(session, &text, &rows, 1, &results, soon(), err), SERVER_OK,
           NULL);
    assert_int_equal(results, 1);
    assert_int_equal(mariadb_rows_count(&rows), 1);
    int64_t number;
    double real;
    assert_true(mariadb_rows_int(&rows, 0, 0, &number) && number == -7);
    assert_true(mariadb_rows_int(&rows, 0, 1, &number) && number == INT64_MIN);
    assert_true(mariadb_rows_int(&rows, 0, 2, &number) && number == 1);
    assert_true(mariadb_rows_float(&rows, 0, 3, &real) && real == 16.1);
    assert_true(slice_equal(mariadb_rows_bytes(&rows, 0, 4), SLICE_LIT("h\xc3\xa9")));
    assert_non_null(mariadb_rows_bytes(&rows, 0, 5).data);
    assert_int_equal(mariadb_rows_bytes(&rows, 0, 5).len, 0);
    assert_null(mariadb_rows_bytes(&rows, 0, 6).data);
    struct slice bytes = mariadb_rows_bytes(&rows, 0, 7);
    assert_true(slice_equal(bytes, (struct slice){"\0\1\xff\0", 4}));
    assert_true(mariadb_rows_int(&rows, 0, 9, &number) && number == 42);
    assert_true(mariadb_rows_float(&rows, 0, 10, &real) && real == 1.5);
    /* what is not there, or is something else */
    assert_false(mariadb_rows_int(&rows, 0, 4, &number));
    assert_false(mariadb_rows_int(&rows, 0, 6, &number));
    assert_false(mariadb_rows_int(&rows, 0, 8, &number));
    assert_false(mariadb_rows_int(&rows, 0, 10, &number));
    assert_false(mariadb_rows_int(&rows, 1, 0, &number));
    assert_false(mariadb_rows_float(&rows, 0, 0, &real));
    assert_false(mariadb_rows_float(&rows, 0, 11, &real));
    assert_null(mariadb_rows_bytes(&rows, 0, 12).data);
    mariadb_rows_free(&rows);
}

static void test_several_results(void **state)
{
    (void)state;
    struct mariadb_text text = {
        .sql = SLICE_LIT("INSERT INTO parent VALUES (1, 'a', 1), (2, 'b', 2);"
                         " UPDATE parent SET number = 1 WHERE id <= 2;"
                         " UPDATE parent SET number = 1 WHERE id <= 2;"
                         " SELECT id FROM parent ORDER BY id; SELECT 7; DO 1")};
    struct mariadb_rows rows[5] = {0};
    size_t results = 0;
    EXPECT(mariadb_session_execute(session, &text, rows, 5, &results, soon(), err), SERVER_OK,
           NULL);
    int64_t number;
    assert_int_equal(results, 6);
    assert_int_equal(rows[0].affected, 2);
    assert_int_equal(rows[1].affected, 2);
    assert_int_equal(rows[2].affected, 2); /* found, though unchanged */
    assert_int_equal(mariadb_rows_count(&rows[3]), 2);
    assert_true(mariadb_rows_int(&rows[3], 1, 0, &number) && number == 2);
    assert_true(mariadb_rows_int(&rows[4], 0, 0, &number) && number == 7);
    for (size_t i = 0; i < 5; i++)
        mariadb_rows_free(&rows[i]);
}

/* ---- failures ---- */

static void test_refused(void **state)
{
    (void)state;
    const struct mariadb_failure *failure = mariadb_session_failure(session);
    bool is_mariadb = mariadb_session_server(session)->is_mariadb;
    run(session, "INSERT INTO parent VALUES (1, 'a''b', 1)");
    EXPECT(execute("DO 1; DO 2; INSERT INTO parent VALUES (2, 'a''b', 1); DO 3", "written", err),
           SERVER_REFUSED,
           is_mariadb ? "written: Duplicate entry 'a'b' for key 'parent_name'"
                      : "written: Duplicate entry 'a'b' for key 'parent.parent_name'");
    assert_int_equal(failure->code, 1062);
    assert_string_equal(failure->sqlstate, "23000");
    assert_int_equal(failure->kind, MARIADB_DUPLICATE);
    assert_string_equal(failure->key, "parent_name");
    assert_int_equal(failure->result, 2);
    assert_false(failure->before_sending);
    EXPECT(execute("INSERT INTO child VALUES (1, 99)", NULL, err), SERVER_REFUSED,
           "used: Cannot add or update a child row: a foreign key constraint fails "
           "(`placement`.`child`, CONSTRAINT `child_parent` FOREIGN KEY (`parent`) REFERENCES "
           "`parent` (`id`))");
    assert_int_equal(failure->kind, MARIADB_REFERENCE);
    assert_string_equal(failure->key, "child_parent");
    EXPECT(execute("INSERT INTO parent VALUES (2, 'x', 1), (3, 'y', 300)", NULL, err),
           SERVER_REFUSED, "used: Out of range value for column 'number' at row 2");
    assert_int_equal(failure->kind, MARIADB_CANNOT_HOLD);
    assert_string_equal(failure->column, "number");
    assert_int_equal(failure->row, 2);
    EXPECT(execute("INSERT INTO parent VALUES (2, '\xf0\x9f\x98\x80', 1)", NULL, err),
           SERVER_REFUSED,
           is_mariadb ? "used: Incorrect string value: '\\xF0\\x9F\\x98\\x80' for column "
                        "`placement`.`parent`.`name` at row 1"
                      : "used: Incorrect string value: '\\xF0\\x9F\\x98\\x80' for column "
                        "'name' at row 1");
    assert_string_equal(failure->column, "name");
    EXPECT(execute("INSERT INTO parent VALUES (2, REPEAT('x', 21), 1)", NULL, err), SERVER_REFUSED,
           "used: Data too long for column 'name' at row 1");
    EXPECT(execute("INSERT INTO parent VALUES (2, NULL, 1)", NULL, err), SERVER_REFUSED,
           "used: Column 'name' cannot be null");
    assert_string_equal(failure->column, "name");
    EXPECT(execute("SET @b = IF(1 = 2, 1, (SELECT 1 UNION SELECT 2))", NULL, err), SERVER_REFUSED,
           "used: Subquery returns more than 1 row");
    assert_int_equal(failure->kind, MARIADB_NOT_FOUND);
    value_is("SELECT COUNT(*) FROM parent", "1");
}

static void test_failed(void **state)
{
    (void)state;
    EXPECT(execute("SELECT * FROM missing", "read", err), SERVER_FAILED,
           "read: Table 'placement.missing' doesn't exist");
    assert_int_equal(mariadb_session_failure(session)->code, 1146);
    EXPECT(execute("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a\tb\nc'", NULL, err),
           SERVER_FAILED, "used: a b");
    value_is("SELECT 1", "1");
}

static void test_locked(void **state)
{
    (void)state;
    struct mariadb_session *other = open_session();
    run(session, "INSERT INTO parent VALUES (1, 'a', 1), (2, 'b', 1)");
    run(other, "BEGIN; UPDATE parent SET number = 2 WHERE id = 1");
    run(session, "SET innodb_lock_wait_timeout = 1");
    run(session, "BEGIN; UPDATE parent SET number = 3 WHERE id = 2");
    EXPECT(execute("UPDATE parent SET number = 3 WHERE id = 1", NULL, err), SERVER_RETRY,
           "used: Lock wait timeout exceeded; try restarting transaction");
    assert_int_equal(mariadb_session_failure(session)->kind, MARIADB_LOCKED);
    assert_true(mariadb_session_in_transaction(session));
    run(session, "ROLLBACK");
    assert_false(mariadb_session_in_transaction(session));
    mariadb_session_destroy(other);
}

static void test_read_only(void **state)
{
    (void)state;
    struct mariadb_session *admin = open_admin();
    run(admin, "SET GLOBAL read_only = 1");
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome =
        execute("INSERT INTO parent VALUES (1, 'a', 1)", NULL, &attempt.err);
    reconnect((struct server_session_options){0});
    assert_true(mariadb_session_server(session)->is_read_only);
    assert_true(session->base.is_standby);
    run(admin, "SET GLOBAL read_only = 0");
    mariadb_session_destroy(admin);
    assert_int_equal(outcome, SERVER_RETRY);
    arena_destroy(attempt.arena);
}

/* A text of more than 16 MB is several packets; one that the server would not accept is not sent,
 * since the server would end the connection. */
static void test_large_texts(void **state)
{
    (void)state;
    enum { BYTES = 17 * 1024 * 1024 };
    struct mariadb_session *admin = open_admin();
    run(admin, "SET GLOBAL max_allowed_packet = 33554432");
    reconnect((struct server_session_options){0});
    char *sql = arena_alloc(arena, BYTES);
    memset(sql, 'x', BYTES);
    memcpy(sql, "SELECT LENGTH('", 15);
    memcpy(sql + BYTES - 2, "')", 2);
    struct mariadb_text text = {.sql = {sql, BYTES}};
    struct mariadb_rows rows = {0};
    int64_t length = 0;
    EXPECT(mariadb_session_execute(session, &text, &rows, 1, NULL, soon(), err), SERVER_OK, NULL);
    assert_true(mariadb_rows_int(&rows, 0, 0, &length) && length == BYTES - 17);
    mariadb_rows_free(&rows);
    run(admin, "SET GLOBAL max_allowed_packet = 1048576");
    reconnect((struct server_session_options){0});
    run(admin, "SET GLOBAL max_allowed_packet = 16777216");
    mariadb_session_destroy(admin);
    EXPECT(mariadb_session_execute(session, &text, NULL, 0, NULL, soon(), err), SERVER_REFUSED,
           "used: the text has 17825792 bytes, and the server accepts 1047552 "
           "(max_allowed_packet)");
    assert_true(mariadb_session_failure(session)->before_sending);
    value_is("SELECT 1", "1");
}

static void test_large_results(void **state)
{
    (void)state;
    struct mariadb_text text = {.sql = SLICE_LIT("SELECT REPEAT('x', 100000)"),
                                .result_bytes_most = 110000,
                                .what = "read"};
    struct mariadb_rows rows = {0};
    EXPECT(mariadb_session_execute(session, &text, &rows, 1, NULL, soon(), err), SERVER_OK, NULL);
    assert_int_equal(mariadb_rows_bytes(&rows, 0, 0).len, 100000);
    text.sql = SLICE_LIT("SELECT REPEAT('x', 100000) UNION ALL SELECT REPEAT('y', 100000)");
    EXPECT(mariadb_session_execute(session, &text, &rows, 1, NULL, soon(), err), SERVER_FAILED,
           "read: the server's answer is larger than 110000 bytes");
    assert_false(mariadb_session_is_open(session));
    mariadb_rows_free(&rows);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, one_session_begin, one_session_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_facts),           TEST(test_settings),    TEST(test_idle_in_transaction),
        TEST(test_other_defaults),  TEST(test_same_server), TEST(test_rows),
        TEST(test_several_results), TEST(test_refused),     TEST(test_failed),
        TEST(test_locked),          TEST(test_read_only),   TEST(test_large_texts),
        TEST(test_large_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
