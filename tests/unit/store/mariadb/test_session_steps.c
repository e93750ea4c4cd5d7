/* Texts in steps, and streams, on a real server. */
#include "one_session.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "await.h"

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, one_session_begin, one_session_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_steps),  TEST(test_steps_of_a_large_text), TEST(test_steps_fail),
        TEST(test_stream), TEST(test_stream_fails),          TEST(test_stream_is_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
