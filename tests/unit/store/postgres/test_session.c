/* Statements, failures and pipelines on a real server. */
#include "fixture.h"

#include <stdio.h>

#include "store/postgres/session/session_state.h"

static struct pg_session *session;
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    session = open_session();
    run(session, "DROP TABLE IF EXISTS child");
    run(session, "DROP TABLE IF EXISTS parent");
    run(session, "CREATE TABLE parent (id bigint PRIMARY KEY, name varchar(20) NOT NULL UNIQUE)");
    run(session, "CREATE TABLE child (id int, parent bigint REFERENCES parent"
                 " DEFERRABLE INITIALLY IMMEDIATE)");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pg_session_destroy(session);
    arena_destroy(arena);
    return 0;
}

static enum server_outcome execute(struct pg_statement statement, struct err *err)
{
    return pg_session_execute(session, &statement, NULL, soon(), err);
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

/* ---- values ---- */

static void test_facts_and_settings(void **state)
{
    (void)state;
    const struct pg_server *server = pg_session_server(session);
    assert_true(server->version >= 150000);
    assert_false(server->is_pooled);
    assert_false(server->uses_tls);
    assert_string_equal(server->address, "127.0.0.1");
    char pid[16];
    snprintf(pid, sizeof(pid), "%d", server->backend);
    value_is("SELECT pg_backend_pid()", pid);
    value_is("SHOW application_name", "berthd");
    value_is("SHOW client_encoding", "UTF8");
    value_is("SHOW TimeZone", "UTC");
    value_is("SHOW DateStyle", "ISO, MDY");
    value_is("SHOW extra_float_digits", "1");
    value_is("SHOW statement_timeout", "0");
    value_is("SELECT '2026-11-26 01:02:03.5+01'::timestamptz", "2026-11-26 00:02:03.5+00");
}

static void test_options(void **state)
{
    (void)state;
    pg_session_destroy(session);
    session = make_session(url_of_server(arena),
                           (struct server_session_options){.application_name = "berthd: follower",
                                                           .statement_timeout_ms = 12000,
                                                           .idle_in_transaction_ms = 34000,
                                                           .wake_fd = -1});
    EXPECT(pg_session_connect(session, soon(), err), SERVER_OK, NULL);
    value_is("SHOW application_name", "berthd: follower");
    value_is("SHOW statement_timeout", "12s");
    value_is("SHOW idle_in_transaction_session_timeout", "34s");
}

/* The administrator's default is not for statements of berth that have no transaction. */
static void test_isolation(void **state)
{
    (void)state;
    const struct slice url =
        arena_printf(arena, "%s?options=-cdefault_transaction_isolation=serializable%c",
                     url_of_server(arena), '\0');
    pg_session_destroy(session);
    session = make_session(url.data, (struct server_session_options){.wake_fd = -1});
    EXPECT(pg_session_connect(session, soon(), err), SERVER_OK, NULL);
    value_is("SHOW transaction_isolation", "read committed");
}

static void test_parameters_and_rows(void **state)
{
    (void)state;
    char bytes[] = {0, 1, (char)0xff, 0};
    for (int binary = 0; binary < 2; binary++) {
        struct pg_parameter values[] = {
            pg_int4(-7),
            pg_int8(INT64_MIN),
            pg_bool(true),
            pg_float8(16.1),
            pg_text(SLICE_LIT("h\xc3\xa9")),
            pg_text(SLICE_LIT("")),
            pg_null(PG_TEXT),
            pg_literal(SLICE_LIT("42")),
            pg_bytes((struct slice){bytes, 4}),
        };
        struct pg_statement statement = {
            .sql = "SELECT $1, $2, $3, $4, $5, $6, $7, $8::smallint, $9, octet_length($9), "
                   "16.5::real",
            .parameters = values,
            .parameters_n = 9,
            .binary_results = binary,
        };
        struct pg_rows rows = {0};
        EXPECT(pg_session_execute(session, &statement, &rows, soon(), err), SERVER_OK, NULL);
        int64_t number;
        double real;
        assert_int_equal(pg_rows_count(&rows), 1);
        assert_true(pg_rows_int(&rows, 0, 0, &number) && number == -7);
        assert_true(pg_rows_int(&rows, 0, 1, &number) && number == INT64_MIN);
        assert_true(pg_rows_int(&rows, 0, 2, &number) && number == 1);
        assert_true(pg_rows_float(&rows, 0, 3, &real) && real == 16.1);
        assert_true(slice_equal(pg_rows_bytes(&rows, 0, 4), SLICE_LIT("h\xc3\xa9")));
        assert_non_null(pg_rows_bytes(&rows, 0, 5).data);
        assert_int_equal(pg_rows_bytes(&rows, 0, 5).len, 0);
        assert_null(pg_rows_bytes(&rows, 0, 6).data);
        assert_true(pg_rows_int(&rows, 0, 7, &number) && number == 42);
        assert_int_equal(pg_rows_bytes(&rows, 0, 8).len, binary ? 4 : 10);
        assert_true(pg_rows_int(&rows, 0, 9, &number) && number == 4);
        assert_true(pg_rows_float(&rows, 0, 10, &real) && real == 16.5);
        /* what is not there, or is something else */
        assert_false(pg_rows_int(&rows, 0, 4, &number));
        assert_false(pg_rows_int(&rows, 0, 6, &number));
        assert_false(pg_rows_float(&rows, 0, 0, &real));
        assert_false(pg_rows_int(&rows, 1, 0, &number));
        assert_null(pg_rows_bytes(&rows, 0, 11).data);
        assert_false(pg_rows_float(&rows, 0, 6, &real));
        pg_rows_free(&rows);
    }
}

static void test_affected_rows(void **state)
{
    (void)state;
    struct pg_statement statement = {
        .sql = "INSERT INTO parent SELECT i, i::text FROM generate_series(1, 7) AS i"};
    struct pg_rows rows = {0};
    EXPECT(pg_session_execute(session, &statement, &rows, soon(), err), SERVER_OK, NULL);
    assert_int_equal(pg_rows_affected(&rows), 7);
    assert_int_equal(pg_rows_count(&rows), 0);
    pg_rows_free(&rows);
}

static void test_nul_is_refused_before_sending(void **state)
{
    (void)state;
    struct pg_parameter forms[] = {pg_text((struct slice){"a\0b", 3}),
                                   pg_literal((struct slice){"a\0", 2})};
    for (size_t i = 0; i < 2; i++) {
        struct pg_parameter values[] = {pg_int8(1), forms[i]};
        EXPECT(execute((struct pg_statement){.sql = "INSERT INTO parent VALUES ($1, $2)",
                                             .parameters = values,
                                             .parameters_n = 2,
                                             .what = "written"},
                       err),
               SERVER_REFUSED, "written: a text contains U+0000");
        const struct pg_failure *failure = pg_session_failure(session);
        assert_true(failure->before_sending);
        assert_int_equal(failure->parameter, 1);
        assert_string_equal(failure->sqlstate, "22021");
        assert_true(pg_session_is_open(session));
        value_is("SELECT count(*) FROM parent", "0");
    }
}

/* ---- failures ---- */

static void test_refused(void **state)
{
    (void)state;
    run(session, "INSERT INTO parent VALUES (1, 'a')");
    EXPECT(execute((struct pg_statement){.sql = "INSERT INTO parent VALUES (2, 'a')",
                                         .what = "written"},
                   err),
           SERVER_REFUSED,
           "written: duplicate key value violates unique constraint \"parent_name_key\"");
    const struct pg_failure *failure = pg_session_failure(session);
    assert_string_equal(failure->sqlstate, "23505");
    assert_string_equal(failure->schema, "public");
    assert_string_equal(failure->table, "parent");
    assert_string_equal(failure->constraint, "parent_name_key");
    assert_false(failure->before_sending);
    EXPECT(
        execute((struct pg_statement){.sql = "INSERT INTO parent VALUES (2, NULL)"}, err),
        SERVER_REFUSED,
        "used: null value in column \"name\" of relation \"parent\" violates not-null constraint");
    assert_string_equal(failure->column, "name");
    assert_string_equal(failure->sqlstate, "23502");
    EXPECT(execute((struct pg_statement){.sql = "INSERT INTO parent VALUES (2, repeat('x', 21))"},
                   err),
           SERVER_REFUSED, "used: value too long for type character varying(20)");
    assert_string_equal(failure->sqlstate, "22001");
    EXPECT(execute((struct pg_statement){.sql = "INSERT INTO child VALUES (2147483648, 1)"}, err),
           SERVER_REFUSED, "used: integer out of range");
}

static void test_failed(void **state)
{
    (void)state;
    EXPECT(execute((struct pg_statement){.sql = "SELECT * FROM missing", .what = "read"}, err),
           SERVER_FAILED, "read: relation \"missing\" does not exist");
    assert_string_equal(pg_session_failure(session)->sqlstate, "42P01");
    struct slice quoted = SLICE_LIT("");
    for (int i = 0; i < 200; i++)
        quoted = arena_printf(arena, "%.*s\xc3\xa9", SLICE_ARG(quoted));
    struct slice sql = arena_printf(arena, "DO $$ BEGIN RAISE '%.*s'; END $$", SLICE_ARG(quoted));
    struct slice message = arena_printf(arena, "used: %.*s...", 300, quoted.data);
    EXPECT(execute((struct pg_statement){.sql = sql.data}, err), SERVER_FAILED, message.data);
    /* one line, whatever the message has */
    EXPECT(execute((struct pg_statement){.sql = "DO $$ BEGIN RAISE 'a\tb\nc'; END $$"}, err),
           SERVER_FAILED, "used: a b");
    /* no notice on standard error */
    run(session, "DO $$ BEGIN RAISE NOTICE 'nobody reads this'; END $$");
}

static void test_retry(void **state)
{
    (void)state;
    run(session, "SET statement_timeout = 10");
    EXPECT(execute((struct pg_statement){.sql = "SELECT pg_sleep(10)"}, err), SERVER_RETRY,
           "used: canceling statement due to statement timeout");
    run(session, "SET statement_timeout = 0");
    run(session, "BEGIN READ ONLY");
    assert_true(pg_session_in_transaction(session));
    EXPECT(execute((struct pg_statement){.sql = "DELETE FROM child"}, err), SERVER_RETRY,
           "used: cannot execute DELETE in a read-only transaction");
    assert_true(pg_session_in_transaction(session));
    run(session, "ROLLBACK");
    assert_false(pg_session_in_transaction(session));
}

static void test_commit(void **state)
{
    (void)state;
    struct pg_statement commit = {.sql = "COMMIT", .is_commit = true, .what = "written"};
    assert_int_equal(session->base.commit, SERVER_COMMIT_NONE);
    run(session, "BEGIN");
    EXPECT(execute(commit, err), SERVER_OK, NULL);
    assert_int_equal(session->base.commit, SERVER_COMMIT_DONE);
    /* the server answers the COMMIT of a failed transaction with success */
    run(session, "BEGIN");
    EXPECT(execute((struct pg_statement){.sql = "SELECT 1/0"}, err), SERVER_REFUSED,
           "used: division by zero");
    EXPECT(execute(commit, err), SERVER_FAILED,
           "written: the transaction had failed before, and was rolled back");
    assert_int_equal(session->base.commit, SERVER_COMMIT_NONE);
    assert_false(pg_session_in_transaction(session));
    /* a constraint that is checked at the end */
    run(session, "BEGIN");
    run(session, "SET CONSTRAINTS ALL DEFERRED");
    run(session, "INSERT INTO child VALUES (1, 99)");
    EXPECT(execute(commit, err), SERVER_REFUSED,
           "written: insert or update on table \"child\" violates foreign key constraint "
           "\"child_parent_fkey\"");
    assert_int_equal(session->base.commit, SERVER_COMMIT_NONE);
    assert_false(pg_session_in_transaction(session));
}

static void test_closed(void **state)
{
    (void)state;
    int backend = pg_session_server(session)->backend;
    run(session, "BEGIN");
    run(session, "INSERT INTO parent VALUES (1, 'a')");
    pg_session_close(session);
    assert_false(pg_session_is_open(session));
    assert_false(pg_session_in_transaction(session));
    struct pg_rows rows = {0};
    struct pg_statement statement = {.sql = "SELECT 1"};
    EXPECT(pg_stream_begin(session, &statement, soon(), err), SERVER_LOST, "used: not connected");
    EXPECT(pg_stream_next(session, &rows, soon(), err), SERVER_LOST, "used: not connected");
    EXPECT(pg_pipeline_queue(session, &statement, err), SERVER_LOST, "used: not connected");
    EXPECT(pg_pipeline_send(session, soon(), err), SERVER_LOST, "used: not connected");
    EXPECT(pg_pipeline_finish(session, soon(), err), SERVER_OK, NULL);
    EXPECT(pg_session_begin(session, "BEGIN", soon(), err), SERVER_LOST, "used: not connected");
    EXPECT(pg_session_connect(session, soon(), err), SERVER_OK, NULL);
    assert_int_not_equal(pg_session_server(session)->backend, backend);
    value_is("SELECT count(*) FROM parent", "0");
}

static void test_killed_by_the_server(void **state)
{
    (void)state;
    struct pg_session *other = open_session();
    run(session, "BEGIN");
    int backend = pg_session_server(session)->backend;
    struct slice kill = arena_printf(arena, "SELECT pg_terminate_backend(%d, 10000)", backend);
    assert_string_equal(value_of(arena, other, kill.data), "t");
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome = pg_session_run(session, "SELECT 1", "read", soon(), &attempt.err);
    assert_int_equal(outcome, SERVER_LOST);
    assert_true(err_is_set(&attempt.err));
    assert_false(pg_session_is_open(session));
    assert_false(pg_session_in_transaction(session));
    assert_int_equal(session->base.commit, SERVER_COMMIT_NONE);
    arena_destroy(attempt.arena);
    EXPECT(pg_session_run(session, "SELECT 1", "read", soon(), err), SERVER_LOST,
           "used: not connected");
    EXPECT(pg_session_connect(session, soon(), err), SERVER_OK, NULL);
    value_is("SELECT 1", "1");
    pg_session_destroy(other);
}

/* ---- pipelines ---- */

static void queue(struct pg_statement statement)
{
    EXPECT(pg_pipeline_queue(session, &statement, err), SERVER_OK, NULL);
}

static void expect_next(enum server_outcome expected, const char *message)
{
    EXPECT(pg_pipeline_next(session, NULL, soon(), err), expected, message);
}

static void test_pipeline(void **state)
{
    (void)state;
    EXPECT(pg_pipeline_begin(session, err), SERVER_OK, NULL);
    EXPECT(pg_pipeline_queue_begin(session, "BEGIN ISOLATION LEVEL READ COMMITTED", err), SERVER_OK,
           NULL);
    for (int i = 0; i < 100; i++) {
        struct pg_parameter values[] = {pg_int8(i), pg_int8(i)};
        queue((struct pg_statement){.sql = "INSERT INTO parent VALUES ($1, $2::text)",
                                    .parameters = values,
                                    .parameters_n = 2,
                                    .is_prepared = true});
    }
    queue((struct pg_statement){.sql = "SELECT count(*) FROM parent"});
    queue((struct pg_statement){.sql = "COMMIT", .is_commit = true});
    EXPECT(pg_pipeline_send(session, soon(), err), SERVER_OK, NULL);
    assert_int_equal(session->base.commit, SERVER_COMMIT_SENT);
    struct pg_rows rows = {0};
    for (int i = 0; i < 101; i++)
        expect_next(SERVER_OK, NULL);
    EXPECT(pg_pipeline_next(session, &rows, soon(), err), SERVER_OK, NULL);
    int64_t count;
    assert_true(pg_rows_int(&rows, 0, 0, &count) && count == 100);
    pg_rows_free(&rows);
    expect_next(SERVER_OK, NULL);
    assert_int_equal(session->base.commit, SERVER_COMMIT_DONE);
    expect_next(SERVER_END, NULL);
    EXPECT(pg_pipeline_finish(session, soon(), err), SERVER_OK, NULL);
    value_is("SELECT count(*) FROM pg_prepared_statements", "1");
}

static void queue_inserts(int count, int twice)
{
    for (int i = 0; i < count; i++) {
        int id = i == twice ? 0 : i;
        struct pg_parameter values[] = {pg_int8(id), pg_int8(id)};
        queue((struct pg_statement){.sql = "INSERT INTO parent VALUES ($1, $2::text)",
                                    .parameters = values,
                                    .parameters_n = 2,
                                    .is_prepared = i % 2 == 0,
                                    .what = "written"});
    }
}

static void test_pipeline_names_the_failed_statement(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        EXPECT(pg_pipeline_begin(session, err), SERVER_OK, NULL);
        queue((struct pg_statement){.sql = "BEGIN"});
        queue_inserts(50, 37);
        queue((struct pg_statement){.sql = "COMMIT", .is_commit = true});
        EXPECT(pg_pipeline_send(session, soon(), err), SERVER_OK, NULL);
        const char *message =
            "written: duplicate key value violates unique constraint \"parent_pkey\"";
        if (round == 0) {
            for (int i = 0; i < 38; i++)
                expect_next(SERVER_OK, NULL);
            expect_next(SERVER_REFUSED, message);
        } else {
            EXPECT(pg_pipeline_finish(session, soon(), err), SERVER_REFUSED, message);
        }
        assert_int_equal(pg_session_failure(session)->statement, 38);
        assert_int_equal(session->base.commit, SERVER_COMMIT_NONE);
        EXPECT(pg_pipeline_finish(session, soon(), err), SERVER_OK, NULL);
        assert_true(pg_session_in_transaction(session));
        run(session, "ROLLBACK");
        value_is("SELECT count(*) FROM parent", "0");
    }
}

static void test_pipeline_without_begin_is_one_transaction(void **state)
{
    (void)state;
    EXPECT(pg_pipeline_begin(session, err), SERVER_OK, NULL);
    queue_inserts(10, 9);
    EXPECT(pg_pipeline_send(session, soon(), err), SERVER_OK, NULL);
    EXPECT(pg_pipeline_finish(session, soon(), err), SERVER_REFUSED,
           "written: duplicate key value violates unique constraint \"parent_pkey\"");
    value_is("SELECT count(*) FROM parent", "0");
    assert_false(pg_session_in_transaction(session));
    /* a failure at the very end belongs to none of them, whatever was committed before */
    struct pg_statement commit = {.sql = "COMMIT", .is_commit = true};
    run(session, "BEGIN");
    EXPECT(execute(commit, err), SERVER_OK, NULL);
    run(session, "ALTER TABLE child ALTER CONSTRAINT child_parent_fkey INITIALLY DEFERRED");
    EXPECT(pg_session_run(session, "INSERT INTO child VALUES (1, 99)", "written", soon(), err),
           SERVER_REFUSED,
           "used: insert or update on table \"child\" violates foreign key constraint "
           "\"child_parent_fkey\"");
    assert_int_equal(pg_session_failure(session)->statement, 1);
    value_is("SELECT count(*) FROM child", "0");
}

static void test_pipeline_with_nul(void **state)
{
    (void)state;
    struct pg_parameter values[] = {pg_int8(1), pg_text((struct slice){"\0", 1})};
    struct pg_statement bad = {
        .sql = "INSERT INTO parent VALUES ($1, $2)", .parameters = values, .parameters_n = 2};
    EXPECT(pg_pipeline_begin(session, err), SERVER_OK, NULL);
    queue_inserts(3, -1);
    EXPECT(pg_pipeline_queue(session, &bad, err), SERVER_REFUSED, "used: a text contains U+0000");
    assert_int_equal(pg_session_failure(session)->statement, 3);
    EXPECT(pg_pipeline_send(session, soon(), err), SERVER_OK, NULL);
    EXPECT(pg_pipeline_finish(session, soon(), err), SERVER_OK, NULL);
    value_is("SELECT count(*) FROM parent", "3");
}

/* Both sides have more to send than the sockets hold: neither may wait for the other. */
static void test_pipeline_full_in_both_directions(void **state)
{
    (void)state;
    enum { STATEMENTS = 400, BYTES = 64 * 1024 };
    char *text = arena_alloc(arena, BYTES);
    memset(text, 'x', BYTES);
    struct pg_parameter value = pg_text((struct slice){text, BYTES});
    EXPECT(pg_pipeline_begin(session, err), SERVER_OK, NULL);
    for (int i = 0; i < STATEMENTS; i++)
        queue((struct pg_statement){.sql = "SELECT $1", .parameters = &value, .parameters_n = 1});
    EXPECT(pg_pipeline_send(session, soon(), err), SERVER_OK, NULL);
    for (int i = 0; i < STATEMENTS; i++) {
        struct pg_rows rows = {0};
        EXPECT(pg_pipeline_next(session, &rows, soon(), err), SERVER_OK, NULL);
        assert_int_equal(pg_rows_bytes(&rows, 0, 0).len, BYTES);
        pg_rows_free(&rows);
    }
    EXPECT(pg_pipeline_finish(session, soon(), err), SERVER_OK, NULL);
}

/* ---- prepared statements ---- */

static void test_prepared(void **state)
{
    (void)state;
    static const char sql[] = "SELECT $1 + 1";
    struct pg_parameter value = pg_int8(41);
    struct pg_statement statement = {
        .sql = sql, .parameters = &value, .parameters_n = 1, .is_prepared = true};
    for (int i = 0; i < 3; i++)
        EXPECT(execute(statement, err), SERVER_OK, NULL);
    value_is("SELECT count(*) FROM pg_prepared_statements", "1");
    /* the same text with another type is another statement */
    value = pg_int4(41);
    EXPECT(execute(statement, err), SERVER_OK, NULL);
    value_is("SELECT count(*) FROM pg_prepared_statements", "2");
    /* one that the server does not accept is prepared again next time */
    static const char missing[] = "SELECT * FROM not_yet";
    struct pg_statement early = {.sql = missing, .is_prepared = true};
    EXPECT(execute(early, err), SERVER_FAILED, "used: relation \"not_yet\" does not exist");
    run(session, "CREATE TEMPORARY TABLE not_yet (a int)");
    EXPECT(execute(early, err), SERVER_OK, NULL);
    /* its columns change: a new connection, with prepared statements */
    run(session, "ALTER TABLE not_yet ADD COLUMN b int");
    EXPECT(execute(early, err), SERVER_LOST, "used: cached plan must not change result type");
    EXPECT(pg_session_connect(session, soon(), err), SERVER_OK, NULL);
    EXPECT(execute(statement, err), SERVER_OK, NULL);
    value_is("SELECT count(*) FROM pg_prepared_statements", "1");
    /* they vanish, as behind a pooler: a new connection, without them */
    run(session, "DEALLOCATE ALL");
    struct attempt attempt = begin_attempt();
    assert_int_equal(execute(statement, &attempt.err), SERVER_LOST); /* the message has the name */
    assert_string_equal(pg_session_failure(session)->sqlstate, "26000");
    arena_destroy(attempt.arena);
    EXPECT(pg_session_connect(session, soon(), err), SERVER_OK, NULL);
    EXPECT(execute(statement, err), SERVER_OK, NULL);
    value_is("SELECT count(*) FROM pg_prepared_statements", "0");
}

/* ---- streams ---- */

static void test_stream(void **state)
{
    (void)state;
    struct pg_statement statement = {.sql = "SELECT i FROM generate_series(1, 100000) AS i",
                                     .binary_results = true,
                                     .is_prepared = true};
    struct pg_rows row = {0};
    int64_t expected = 0;
    EXPECT(pg_stream_begin(session, &statement, soon(), err), SERVER_OK, NULL);
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome;
    while ((outcome = pg_stream_next(session, &row, soon(), &attempt.err)) == SERVER_OK) {
        int64_t value;
        assert_int_equal(pg_rows_count(&row), 1);
        assert_true(pg_rows_int(&row, 0, 0, &value));
        assert_int_equal(value, ++expected);
    }
    expect_outcome(&attempt, session, outcome, SERVER_END, NULL);
    assert_int_equal(expected, 100000);
    assert_null(row.result);
    value_is("SELECT 1", "1");
    /* no rows at all */
    statement.sql = "SELECT 1 WHERE false";
    EXPECT(pg_stream_begin(session, &statement, soon(), err), SERVER_OK, NULL);
    EXPECT(pg_stream_next(session, &row, soon(), err), SERVER_END, NULL);
}

static void test_stream_fails_or_is_left(void **state)
{
    (void)state;
    struct pg_statement statement = {
        .sql = "SELECT 1/(1000 - i) FROM generate_series(1, 5000) AS i", .what = "read"};
    struct pg_rows row = {0};
    EXPECT(pg_stream_begin(session, &statement, soon(), err), SERVER_OK, NULL);
    for (int i = 1; i < 1000; i++)
        EXPECT(pg_stream_next(session, &row, soon(), err), SERVER_OK, NULL);
    EXPECT(pg_stream_next(session, &row, soon(), err), SERVER_REFUSED, "read: division by zero");
    assert_null(row.result);
    value_is("SELECT 1", "1");
    struct pg_parameter nul = pg_literal((struct slice){"\0", 1});
    struct pg_statement refused = {.sql = "SELECT $1::text", .parameters = &nul, .parameters_n = 1};
    EXPECT(pg_stream_begin(session, &refused, soon(), err), SERVER_REFUSED,
           "used: a text contains U+0000");
    statement.sql = "SELECT i FROM generate_series(1, 5000) AS i";
    EXPECT(pg_stream_begin(session, &statement, soon(), err), SERVER_OK, NULL);
    EXPECT(pg_stream_next(session, &row, soon(), err), SERVER_OK, NULL);
    EXPECT(pg_pipeline_finish(session, soon(), err), SERVER_OK, NULL);
    pg_rows_free(&row);
    value_is("SELECT 1", "1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_facts_and_settings),
        TEST(test_options),
        TEST(test_isolation),
        TEST(test_parameters_and_rows),
        TEST(test_affected_rows),
        TEST(test_nul_is_refused_before_sending),
        TEST(test_refused),
        TEST(test_failed),
        TEST(test_retry),
        TEST(test_commit),
        TEST(test_closed),
        TEST(test_killed_by_the_server),
        TEST(test_pipeline),
        TEST(test_pipeline_names_the_failed_statement),
        TEST(test_pipeline_without_begin_is_one_transaction),
        TEST(test_pipeline_with_nul),
        TEST(test_pipeline_full_in_both_directions),
        TEST(test_prepared),
        TEST(test_stream),
        TEST(test_stream_fails_or_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
