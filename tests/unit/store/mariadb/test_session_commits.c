/* Commits, and the end of connections, on a real server. */
#include "one_session.h"

#include "await.h"

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
           mariadb_session_server(session)->is_mariadb
               ? "written: Duplicate entry '1' for key 'PRIMARY'"
               : "written: Duplicate entry '1' for key 'parent.PRIMARY'");
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, one_session_begin, one_session_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_commit),
        TEST(test_interrupted_commit),
        TEST(test_checked_commit),
        TEST(test_without_autocommit),
        TEST(test_killed_during_commit),
        TEST(test_closed),
        TEST(test_notice_end),
        TEST(test_age),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
