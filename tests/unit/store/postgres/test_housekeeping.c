/* The rows of instances, and which rows of the log are deleted, on a real server. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "await.h"
#include "store/postgres/exchanges.h"
#include "store/postgres/housekeeping.h"
#include "store/postgres/prune.h"
#include "store/server/instance_row.h"

static struct pg_session *session;
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    session = open_session();
    run(session, "DROP TABLE IF EXISTS berth_log, berth_instances");
    run(session, "CREATE TABLE berth_log (number bigint PRIMARY KEY, written_at timestamp)");
    run(session, "CREATE TABLE berth_instances (instance varchar(36) PRIMARY KEY, host text,"
                 " pid int, version text, first_seen timestamp, last_seen timestamp,"
                 " followed bigint)");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    run(session, "DROP TABLE berth_log, berth_instances");
    pg_session_destroy(session);
    arena_destroy(arena);
    return 0;
}

static void value_is(const char *sql, const char *expected)
{
    const char *value = value_of(arena, session, sql);
    assert_non_null(value);
    assert_string_equal(value, expected);
}

/* ---- instances ---- */

static void write_row(const struct instance_row *row, int64_t followed)
{
    struct attempt tried = begin_attempt();
    enum server_outcome outcome = pg_instance_write(session, row, followed, soon(), &tried.err);
    expect_outcome(&tried, session, outcome, SERVER_OK, NULL);
}

static void test_row_of_an_instance(void **state)
{
    (void)state;
    struct instance_row row, other;
    assert_true(instance_row_init(&row));
    assert_true(instance_row_init(&other));
    assert_string_not_equal(row.name, other.name);
    write_row(&row, 5);
    value_is("SELECT instance ~ '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
             "[0-9a-f]{12}$' AND followed = 5 AND first_seen = last_seen"
             " AND abs(extract(epoch FROM now() AT TIME ZONE 'UTC' - last_seen)) < 60"
             " FROM berth_instances",
             "t");
    value_is("SELECT version || ' ' || pid FROM berth_instances",
             arena_printf(arena, BERTH_VERSION " %d", row.pid).data);
    run(session, "UPDATE berth_instances SET first_seen = '2000-01-01', last_seen = '2000-01-01'");
    write_row(&row, 7);
    value_is("SELECT followed || ' ' || (first_seen = '2000-01-01')::text || ' '"
             " || (last_seen > '2001-01-01')::text FROM berth_instances",
             "7 true true");
    write_row(&other, 1);
    value_is("SELECT count(*) FROM berth_instances", "2");
    struct attempt tried = begin_attempt();
    enum server_outcome outcome = pg_instance_delete(session, &row, soon(), &tried.err);
    expect_outcome(&tried, session, outcome, SERVER_OK, NULL);
    value_is("SELECT string_agg(instance, ' ') FROM berth_instances", other.name);
}

static void test_rows_are_deleted_after_a_day(void **state)
{
    (void)state;
    struct instance_row row;
    assert_true(instance_row_init(&row));
    run(session, "INSERT INTO berth_instances (instance, last_seen) VALUES"
                 " ('23 hours', now() AT TIME ZONE 'UTC' - interval '23 hours'),"
                 " ('25 hours', now() AT TIME ZONE 'UTC' - interval '25 hours')");
    write_row(&row, 0);
    value_is("SELECT count(*) || ' ' || min(instance) FILTER (WHERE host IS NULL)"
             " FROM berth_instances",
             "2 23 hours");
}

/* ---- the log ---- */

/* Rows first to last, so many seconds old. */
static void log_rows(int first, int last, int age_s)
{
    run(session, arena_printf(arena,
                              "INSERT INTO berth_log SELECT n, now() AT TIME ZONE 'UTC'"
                              " - interval '%d seconds' FROM generate_series(%d, %d) n",
                              age_s, first, last)
                     .data);
}

static uint64_t deleted_by(struct prune *prune, int64_t newest)
{
    struct attempt tried = begin_attempt();
    uint64_t deleted = 0;
    enum server_outcome outcome = prune_log(prune, session, newest, &deleted, soon(), &tried.err);
    expect_outcome(&tried, session, outcome, SERVER_OK, NULL);
    return deleted;
}

static void test_young_rows_are_kept(void **state)
{
    (void)state;
    struct prune prune = {0};
    log_rows(1, 5000, PRUNE_KEPT_S - 600);
    assert_int_equal(deleted_by(&prune, 5000), 0);
    value_is("SELECT count(*) FROM berth_log", "5000");
}

static void test_old_rows_are_deleted(void **state)
{
    (void)state;
    struct prune prune = {0};
    log_rows(1, 2500, PRUNE_KEPT_S + 600);
    log_rows(2501, 5000, PRUNE_KEPT_S - 600);
    assert_int_equal(deleted_by(&prune, 5000), 2000);
    value_is("SELECT min(number) FROM berth_log", "2001");
    run(session, "UPDATE berth_log SET written_at = '2000-01-01'");
    assert_int_equal(deleted_by(&prune, 5000), 2000); /* PRUNE_KEPT_LEAST at any age */
    value_is("SELECT min(number) || ' ' || count(*) FROM berth_log", "4001 1000");
}

static void test_two_instances(void **state)
{
    (void)state;
    struct prune one = {0};
    struct prune two = {0};
    log_rows(1, 5000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&one, 5000), 4000);
    assert_int_equal(deleted_by(&two, 5000), 0);
    log_rows(5001, 7000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&two, 7000), 2000);
    log_rows(7001, 8000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&one, 8000), 1000);
    value_is("SELECT min(number) FROM berth_log", "7001");
}

/* More rows than an hour may have. */
static void test_too_many_rows(void **state)
{
    (void)state;
    struct prune prune = {0};
    log_rows(1, PRUNE_KEPT_MOST + 2500, 0);
    assert_int_equal(deleted_by(&prune, PRUNE_KEPT_MOST + 2500), 2000);
    value_is("SELECT min(number) FROM berth_log", "2001");
}

static void test_log_of_a_restored_backup(void **state)
{
    (void)state;
    struct prune prune = {.until = 1000000};
    log_rows(1, 3000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&prune, 3000), 2000);
    assert_int_equal(deleted_by(&prune, 0), 0);
}

/* Rows that were deleted are there again, below those that may be deleted next. */
static void test_log_with_old_rows_again(void **state)
{
    (void)state;
    struct prune prune = {0};
    log_rows(1, 3000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&prune, 3000), 2000);
    run(session, "DELETE FROM berth_log");
    log_rows(1, 2900, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&prune, 2900), 1000);
    value_is("SELECT min(number) FROM berth_log", "1001");
}

/* An instance that has not noticed it yet keeps the newest rows all the same: a log without rows
 * would begin anew. */
static void test_log_that_has_gone_back(void **state)
{
    (void)state;
    struct prune prune = {0};
    log_rows(1, 3000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&prune, 1000000), 2000);
    value_is("SELECT min(number) || ' ' || max(number) FROM berth_log", "2001 3000");
}

/* ---- the thread ---- */

static void test_thread(void **state)
{
    (void)state;
    struct pg_connection_counts counts = {0};
    struct pg_url url;
    struct err err = {.arena = arena};
    assert_true(pg_url_parse(slice_of(url_of_server(arena)), SLICE_LIT(""), arena, &url, &err));
    struct server_lineage *lineage = server_lineage_create();
    struct postgres_head *head = postgres_head_create(&url, lineage, &counts, 10000000, 0);
    const struct log_state state_5000 = {.number = 5000};
    assert_true(postgres_head_note(head, &state_5000, NULL, &pg_session_server(session)->id, true));
    log_rows(1, 5000, PRUNE_KEPT_S + 600);
    struct housekeeping *housekeeping = housekeeping_start(&url, NULL, &counts, 0, head);
    assert_non_null(housekeeping);
    AWAIT(value_of(arena, session, "SELECT 1 FROM berth_instances") != NULL);
    value_is("SELECT followed FROM berth_instances", "5000");
    AWAIT(housekeeping_figures(housekeeping).pruned == 4000);
    AWAIT(counts.made >= 2); /* the head's thread may be late */
    value_is("SELECT min(number) FROM berth_log", "4001");
    housekeeping_stop(housekeeping);
    value_is("SELECT count(*) FROM berth_instances", "0");
    postgres_head_destroy(head);
    server_lineage_destroy(lineage);
    assert_in_range(counts.made, 2, 3); /* a stop during the report makes another one for the row */
    assert_int_equal(counts.failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_row_of_an_instance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_are_deleted_after_a_day, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_young_rows_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_old_rows_are_deleted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_instances, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_many_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_log_of_a_restored_backup, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_log_with_old_rows_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_log_that_has_gone_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_thread, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
