/* Texts, failures, commits and streams on a real server. */
#include "sessions.h"
#include "store/mariadb/session/session_state.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "await.h"
#include "base/clock.h"

static struct mariadb_session *session;
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    session = open_session();
    run(session,
        "DROP TABLE IF EXISTS child, parent; "
        "CREATE TABLE parent (id BIGINT PRIMARY KEY, name VARCHAR(20) CHARACTER SET utf8mb3"
        " NOT NULL, number TINYINT, UNIQUE KEY parent_name (name)) ENGINE=InnoDB; "
        "CREATE TABLE child (id INT, parent BIGINT, CONSTRAINT child_parent"
        " FOREIGN KEY (parent) REFERENCES parent (id)) ENGINE=InnoDB");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mariadb_session_destroy(session);
    arena_destroy(arena);
    return 0;
}

static enum server_outcome execute(const char *sql, const char *what, struct err *err)
{
    return mariadb_session_run(session, sql, what, soon(), err);
}

#define EXPECT(outcome, expected, message)                                                         \
    do {                                                                                           \
        struct attempt tried = begin_attempt();                                                    \
        struct err *err = &tried.err;                                                              \
        enum server_outcome found = (outcome);                                                     \
        expect_outcome(&tried, session, found, expected, message);                                 \
    } while (0)

static void value_is(const char *sql, const char *expected)
{
    const char *value = value_of(arena, session, sql);
    assert_non_null(value);
    assert_string_equal(value, expected);
}

static void reconnect(struct server_session_options options)
{
    mariadb_session_destroy(session);
    options.wake_fd = -1;
    session = make_session(url_of_server(arena), options);
    EXPECT(mariadb_session_connect(session, soon(), err), SERVER_OK, NULL);
}

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
    if (!mariadb_session_server(session)->is_mariadb)
        return;
    value_is("SELECT @@max_statement_time", "12.500000");
    value_is("SELECT @@idle_write_transaction_timeout", "34");
    value_is("SELECT @@idle_transaction_timeout", "34");
}

/* What deployment tools set on their servers must not hold here. */
static void test_other_defaults(void **state)
{
    (void)state;
    struct mariadb_session *admin = open_admin();
    run(admin, "SET GLOBAL init_connect='SET NAMES utf8', GLOBAL sql_mode='ANSI_QUOTES',"
               " GLOBAL completion_type=2, GLOBAL sql_safe_updates=1, GLOBAL autocommit=0,"
               " GLOBAL foreign_key_checks=0, GLOBAL time_zone='+05:00',"
               " GLOBAL max_statement_time=30");
    reconnect((struct server_session_options){0});
    run(admin, "SET GLOBAL init_connect='', GLOBAL sql_mode=DEFAULT, GLOBAL completion_type=0,"
               " GLOBAL sql_safe_updates=0, GLOBAL autocommit=1, GLOBAL foreign_key_checks=1,"
               " GLOBAL time_zone=DEFAULT, GLOBAL max_statement_time=0");
    mariadb_session_destroy(admin);
    value_is("SELECT HEX('\xf0\x9f\x98\x80')", "F09F9880");
    value_is("SELECT @@sql_safe_updates + @@completion_type + @@max_statement_time", "0");
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
    run(session, "INSERT INTO parent VALUES (1, 'a''b', 1)");
    EXPECT(execute("DO 1; DO 2; INSERT INTO parent VALUES (2, 'a''b', 1); DO 3", "written", err),
           SERVER_REFUSED, "written: Duplicate entry 'a'b' for key 'parent_name'");
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
           "used: Incorrect string value: '\\xF0\\x9F\\x98\\x80' for column "
           "`placement`.`parent`.`name` at row 1");
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

/* ---- commits ---- */

static void test_commit(void **state)
{
    (void)state;
    struct mariadb_text text = {
        .sql = SLICE_LIT("BEGIN; INSERT INTO parent VALUES (1, 'a', 1); COMMIT"),
        .commit = 3,
        .what = "written"};
    assert_int_equal(session->base.commit, SERVER_COMMIT_NONE);
    EXPECT(mariadb_session_execute(session, &text, NULL, 0, NULL, soon(), err), SERVER_OK, NULL);
    assert_int_equal(session->base.commit, SERVER_COMMIT_DONE);
    assert_false(mariadb_session_in_transaction(session));
    EXPECT(mariadb_session_execute(session, &text, NULL, 0, NULL, soon(), err), SERVER_REFUSED,
           "written: Duplicate entry '1' for key 'PRIMARY'");
    assert_int_equal(session->base.commit, SERVER_COMMIT_NONE);
    assert_int_equal(mariadb_session_failure(session)->result, 1);
    assert_true(mariadb_session_in_transaction(session));
    run(session, "ROLLBACK");
    value_is("SELECT COUNT(*) FROM parent", "1");
}

/* An interrupted COMMIT may have happened: here it is the statement before it that is killed, and
 * the same error for the last statement. */
static void test_interrupted_commit(void **state)
{
    (void)state;
    struct mariadb_text text = {
        .sql = SLICE_LIT(
            "BEGIN; INSERT INTO parent VALUES (1, 'a', 1); "
            "SIGNAL SQLSTATE '70100' SET MYSQL_ERRNO = 1317, MESSAGE_TEXT = 'killed'; COMMIT"),
        .commit = 4};
    EXPECT(mariadb_session_execute(session, &text, NULL, 0, NULL, soon(), err), SERVER_RETRY,
           "used: killed");
    assert_int_equal(session->base.commit, SERVER_COMMIT_NONE);
    run(session, "ROLLBACK");
    text.commit = 3; /* as if the statement that fails were the COMMIT */
    EXPECT(mariadb_session_execute(session, &text, NULL, 0, NULL, soon(), err), SERVER_LOST,
           "used: killed");
    assert_int_equal(session->base.commit, SERVER_COMMIT_UNKNOWN);
    assert_false(mariadb_session_is_open(session));
    /* a certain refusal of the COMMIT itself */
    reconnect((struct server_session_options){0});
    text.sql = SLICE_LIT("BEGIN; INSERT INTO parent VALUES (2, 'b', 1); "
                         "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'no'");
    EXPECT(mariadb_session_execute(session, &text, NULL, 0, NULL, soon(), err), SERVER_RETRY,
           "used: no");
    assert_int_equal(session->base.commit, SERVER_COMMIT_NONE);
    run(session, "ROLLBACK");
    /* what a proxy sends when it has lost the server proves nothing, and libmariadb does not
     * accept such a number from a server */
    text.sql = SLICE_LIT("BEGIN; SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 2013, MESSAGE_TEXT = "
                         "'Lost connection'; COMMIT");
    EXPECT(mariadb_session_execute(session, &text, NULL, 0, NULL, soon(), err), SERVER_LOST,
           "used: Received malformed packet");
    assert_int_equal(session->base.commit, SERVER_COMMIT_UNKNOWN);
}

/* What follows COMMIT tells that it has happened, or certainly not, or nothing. */
static void test_checked_commit(void **state)
{
    static const char missing[] =
        "BEGIN; INSERT INTO parent VALUES (1, 'a', 1); ROLLBACK; BEGIN; COMMIT;"
        " SET @found=IF((SELECT COUNT(*) FROM parent)=1, 1, (SELECT 1 UNION SELECT 2))";
    (void)state;
    struct mariadb_text text = {.sql = slice_of(missing), .commit = 5, .what = "written"};
    EXPECT(mariadb_session_execute(session, &text, NULL, 0, NULL, soon(), err), SERVER_REFUSED,
           "written: Subquery returns more than 1 row");
    assert_int_equal(session->base.commit, SERVER_COMMIT_NONE);
    assert_true(mariadb_session_is_open(session));
    run(session, "INSERT INTO parent VALUES (2, 'b', 1)");
    EXPECT(mariadb_session_execute(session, &text, NULL, 0, NULL, soon(), err), SERVER_OK, NULL);
    assert_int_equal(session->base.commit, SERVER_COMMIT_DONE);
    text.sql =
        SLICE_LIT("BEGIN; INSERT INTO parent VALUES (3, 'c', 1); COMMIT; SELECT * FROM none");
    text.commit = 3;
    EXPECT(mariadb_session_execute(session, &text, NULL, 0, NULL, soon(), err), SERVER_LOST,
           "written: Table 'placement.none' doesn't exist");
    assert_int_equal(session->base.commit, SERVER_COMMIT_UNKNOWN);
    assert_false(mariadb_session_is_open(session));
}

/* Without autocommit, each statement may begin a transaction. */
static void test_without_autocommit(void **state)
{
    (void)state;
    assert_false(mariadb_session_in_transaction(session));
    run(session, "SET autocommit=0");
    assert_true(mariadb_session_in_transaction(session));
    run(session, "INSERT INTO parent VALUES (1, 'a', 1)");
    EXPECT(mariadb_session_rollback(session, "used", soon(), err), SERVER_OK, NULL);
    assert_false(mariadb_session_in_transaction(session));
    value_is("SELECT COUNT(*) FROM parent", "0");
    value_is("SELECT @@autocommit", "1");
}

static void kill_session(const struct mariadb_session *other, const char *how)
{
    struct mariadb_session *admin = open_admin();
    struct slice kill =
        arena_printf(arena, "KILL %s %llu", how,
                     (unsigned long long)mariadb_session_server(other)->connection_id);
    run(admin, kill.data);
    mariadb_session_destroy(admin);
}

/* The server executes the text, and its answer is lost. */
static void test_killed_during_commit(void **state)
{
    (void)state;
    struct mariadb_text text = {
        .sql = SLICE_LIT("BEGIN; INSERT INTO parent VALUES (1, 'a', 1); DO SLEEP(30); COMMIT"),
        .commit = 4,
        .what = "written"};
    struct attempt attempt = begin_attempt();
    assert_int_equal(mariadb_text_start(session, &text, NULL, 0, &attempt.err), SERVER_OK);
    assert_int_equal(session->base.commit, SERVER_COMMIT_SENT);
    assert_int_equal(mariadb_text_drive(session, in_ms(50), soon(), &attempt.err), SERVER_WOKEN);
    kill_session(session, "CONNECTION");
    assert_int_equal(mariadb_text_drive(session, soon(), soon(), &attempt.err), SERVER_LOST);
    assert_int_equal(session->base.commit, SERVER_COMMIT_UNKNOWN);
    assert_false(mariadb_session_is_open(session));
    assert_true(err_is_set(&attempt.err));
    arena_destroy(attempt.arena);
    EXPECT(mariadb_session_connect(session, soon(), err), SERVER_OK, NULL);
    assert_int_equal(session->base.commit, SERVER_COMMIT_UNKNOWN);
    value_is("SELECT COUNT(*) FROM parent", "0");
}

static void test_closed(void **state)
{
    (void)state;
    uint64_t id = mariadb_session_server(session)->connection_id;
    run(session, "BEGIN; INSERT INTO parent VALUES (1, 'a', 1)");
    assert_true(mariadb_session_in_transaction(session));
    mariadb_session_close(session);
    assert_false(mariadb_session_is_open(session));
    assert_false(mariadb_session_in_transaction(session));
    struct mariadb_rows rows = {0};
    struct mariadb_text text = {.sql = SLICE_LIT("SELECT 1")};
    EXPECT(mariadb_stream_begin(session, &text, err), SERVER_LOST, "used: not connected");
    EXPECT(mariadb_stream_next(session, &rows, soon(), err), SERVER_LOST, "used: not connected");
    EXPECT(mariadb_text_start(session, &text, NULL, 0, err), SERVER_LOST, "used: not connected");
    EXPECT(mariadb_text_receive(session, err), SERVER_LOST, "used: not connected");
    EXPECT(mariadb_stream_finish(session, soon(), err), SERVER_OK, NULL);
    mariadb_session_notice_end(session);
    EXPECT(mariadb_session_connect(session, soon(), err), SERVER_OK, NULL);
    assert_int_not_equal(mariadb_session_server(session)->connection_id, id);
    value_is("SELECT COUNT(*) FROM parent", "0");
}

static void test_notice_end(void **state)
{
    (void)state;
    mariadb_session_notice_end(session);
    assert_true(mariadb_session_is_open(session));
    value_is("SELECT 1", "1");
    kill_session(session, "CONNECTION");
    AWAIT((mariadb_session_notice_end(session), !mariadb_session_is_open(session)));
    EXPECT(execute("SELECT 1", "read", err), SERVER_LOST, "read: not connected");
}

static void test_age(void **state)
{
    (void)state;
    assert_false(server_session_is_old(&session->base, 0));
    assert_false(server_session_is_old(&session->base, 3600 * (uint64_t)1000000));
    assert_true(server_session_is_old(&session->base, 1));
    mariadb_session_close(session);
    assert_false(server_session_is_old(&session->base, 1));
}

/* ---- in steps ---- */

static void test_steps(void **state)
{
    (void)state;
    struct mariadb_text text = {.sql = SLICE_LIT("SELECT 1; SELECT SLEEP(0.1); SELECT 3")};
    struct mariadb_rows rows[3] = {0};
    int64_t number;
    EXPECT(mariadb_text_start(session, &text, rows, 3, err), SERVER_OK, NULL);
    assert_true(mariadb_text_is_sent(session));
    assert_true(mariadb_session_in_transaction(session)); /* who knows */
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome;
    while ((outcome = mariadb_text_receive(session, &attempt.err)) == SERVER_WOKEN)
        await_pause();
    expect_outcome(&attempt, session, outcome, SERVER_OK, NULL);
    assert_true(mariadb_rows_int(&rows[0], 0, 0, &number) && number == 1);
    assert_true(mariadb_rows_int(&rows[2], 0, 0, &number) && number == 3);
    for (size_t i = 0; i < 3; i++)
        mariadb_rows_free(&rows[i]);
    assert_false(mariadb_session_in_transaction(session));
}

/* More than the socket takes at once. */
static void test_steps_of_a_large_text(void **state)
{
    (void)state;
    enum { BYTES = 12 * 1024 * 1024 };
    char *sql = arena_alloc(arena, BYTES);
    memset(sql, 'x', BYTES);
    memcpy(sql, "SELECT LENGTH('", 15);
    memcpy(sql + BYTES - 2, "')", 2);
    struct mariadb_text text = {.sql = {sql, BYTES}};
    struct mariadb_rows rows = {0};
    int64_t length = 0;
    EXPECT(mariadb_text_start(session, &text, &rows, 1, err), SERVER_OK, NULL);
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome = SERVER_WOKEN;
    while (!mariadb_text_is_sent(session) && outcome == SERVER_WOKEN)
        outcome = mariadb_text_receive(session, &attempt.err);
    if (outcome == SERVER_WOKEN)
        outcome = mariadb_text_drive(session, UINT64_MAX, soon(), &attempt.err);
    expect_outcome(&attempt, session, outcome, SERVER_OK, NULL);
    assert_true(mariadb_rows_int(&rows, 0, 0, &length) && length == BYTES - 17);
    assert_false(mariadb_text_is_sent(session));
    mariadb_rows_free(&rows);
}

/* An error arrives without a wait, too. */
static void test_steps_fail(void **state)
{
    (void)state;
    struct mariadb_text text = {.sql = SLICE_LIT("DO 1; SELECT * FROM missing; DO 2")};
    EXPECT(mariadb_text_start(session, &text, NULL, 0, err), SERVER_OK, NULL);
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome;
    while ((outcome = mariadb_text_receive(session, &attempt.err)) == SERVER_WOKEN)
        await_pause();
    expect_outcome(&attempt, session, outcome, SERVER_FAILED,
                   "used: Table 'placement.missing' doesn't exist");
    assert_int_equal(mariadb_session_failure(session)->result, 1);
    value_is("SELECT 1", "1");
}

/* ---- streams ---- */

static void test_stream(void **state)
{
    (void)state;
    struct mariadb_text text = {
        .sql = SLICE_LIT("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i "
                         "< 900) SELECT a.i * 1000 + b.i FROM n AS a JOIN n AS b ON b.i <= 100")};
    struct mariadb_rows row = {0};
    size_t count = 0;
    EXPECT(mariadb_stream_begin(session, &text, err), SERVER_OK, NULL);
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome;
    while ((outcome = mariadb_stream_next(session, &row, soon(), &attempt.err)) == SERVER_OK) {
        int64_t value;
        assert_int_equal(mariadb_rows_count(&row), 1);
        assert_true(mariadb_rows_int(&row, 0, 0, &value) && value > 1000);
        count++;
    }
    expect_outcome(&attempt, session, outcome, SERVER_END, NULL);
    assert_int_equal(count, 90000);
    assert_true(row.bytes.cap < 4096);
    value_is("SELECT 1", "1");
    /* no rows at all */
    text.sql = SLICE_LIT("SELECT 1 FROM parent");
    EXPECT(mariadb_stream_begin(session, &text, err), SERVER_OK, NULL);
    EXPECT(mariadb_stream_next(session, &row, soon(), err), SERVER_END, NULL);
    /* left early: either way */
    text.sql = SLICE_LIT("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3");
    EXPECT(mariadb_stream_begin(session, &text, err), SERVER_OK, NULL);
    EXPECT(mariadb_stream_next(session, &row, soon(), err), SERVER_OK, NULL);
    EXPECT(mariadb_stream_finish(session, soon(), err), SERVER_OK, NULL);
    value_is("SELECT 1", "1");
    EXPECT(mariadb_stream_begin(session, &text, err), SERVER_OK, NULL);
    EXPECT(mariadb_stream_next(session, &row, soon(), err), SERVER_OK, NULL);
    mariadb_session_close(session);
    mariadb_rows_free(&row);
}

static void test_stream_fails(void **state)
{
    (void)state;
    struct mariadb_text text = {.sql = SLICE_LIT("SELECT i FROM (SELECT 1 AS i UNION ALL SELECT 2) "
                                                 "AS n WHERE i < 2 OR (SELECT 1 UNION SELECT i)"),
                                .what = "read"};
    struct mariadb_rows row = {0};
    EXPECT(mariadb_stream_begin(session, &text, err), SERVER_OK, NULL);
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome;
    while ((outcome = mariadb_stream_next(session, &row, soon(), &attempt.err)) == SERVER_OK) {
    }
    expect_outcome(&attempt, session, outcome, SERVER_REFUSED,
                   "read: Subquery returns more than 1 row");
    value_is("SELECT 1", "1");
    mariadb_rows_free(&row);
}

static void test_stream_is_woken(void **state)
{
    (void)state;
    int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(fd >= 0);
    mariadb_session_destroy(session);
    session = make_session(url_of_server(arena), (struct server_session_options){.wake_fd = fd});
    /* connecting and texts do not notice it */
    EXPECT(mariadb_session_connect(session, soon(), err), SERVER_OK, NULL);
    EXPECT(execute("DO SLEEP(0.01)", NULL, err), SERVER_OK, NULL);
    struct mariadb_text text = {.sql = SLICE_LIT("SELECT SLEEP(0.1)")};
    struct mariadb_rows row = {0};
    EXPECT(mariadb_stream_begin(session, &text, err), SERVER_OK, NULL);
    EXPECT(mariadb_stream_next(session, &row, soon(), err), SERVER_WOKEN, NULL);
    eventfd_t value;
    assert_int_equal(eventfd_read(fd, &value), 0);
    EXPECT(mariadb_stream_next(session, &row, soon(), err), SERVER_OK, NULL);
    EXPECT(mariadb_stream_next(session, &row, soon(), err), SERVER_END, NULL);
    mariadb_rows_free(&row);
    close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_facts),
        TEST(test_settings),
        TEST(test_other_defaults),
        TEST(test_same_server),
        TEST(test_rows),
        TEST(test_several_results),
        TEST(test_refused),
        TEST(test_failed),
        TEST(test_locked),
        TEST(test_read_only),
        TEST(test_large_texts),
        TEST(test_large_results),
        TEST(test_commit),
        TEST(test_interrupted_commit),
        TEST(test_checked_commit),
        TEST(test_without_autocommit),
        TEST(test_killed_during_commit),
        TEST(test_closed),
        TEST(test_notice_end),
        TEST(test_age),
        TEST(test_steps),
        TEST(test_steps_of_a_large_text),
        TEST(test_steps_fail),
        TEST(test_stream),
        TEST(test_stream_fails),
        TEST(test_stream_is_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
