/* Figures for metrics of two stores on one database, and figures of a server that answers something
 * else. */
#include "await.h"
#include "store/fixture.h"

#include "base/clock.h"
#include "store/coexist.h"
#include "store/postgres/report/id_figures.h"
#include "store/postgres/schema/migrate.h"
#include "store/postgres/schema/standard_names.h"
#include "store/postgres/session/figure.h"
#include "store/repair.h"
#include "store/server/dialects.h"

static _Atomic bool is_answered;

static void answered(void *cls, const struct store_head *head)
{
    (void)cls;
    assert_true(head->is_known);
    is_answered = true;
}

static void query_head(struct store *store)
{
    is_answered = false;
    store_query_head(store, answered, NULL);
    AWAIT(is_answered);
}

static void take_news(struct fixture *fixture, struct store *store)
{
    struct buf ignored = {0};
    dump_store(fixture, store, &ignored);
    buf_free(&ignored);
}

static void write_trait(struct fixture *fixture, struct store *store, int64_t id, const char *name)
{
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, id, name);
    (void)commit_changes(fixture, store, &list);
}

static void test_behind(void **state)
{
    struct fixture *fixture = *state;
    struct store *one = fixture_open(fixture);
    struct store *two = fixture_open(fixture);
    take_news(fixture, one);
    take_news(fixture, two);
    write_trait(fixture, two, 50001, "CUSTOM_A");
    write_trait(fixture, two, 50002, "CUSTOM_B");
    query_head(one);
    query_head(two);
    assert_int_equal(store_figures(one).behind, 2);
    assert_int_equal(store_figures(one).log_head, 2);
    assert_int_equal(store_figures(two).behind, 0);
    take_news(fixture, one);
    assert_int_equal(store_figures(one).behind, 0);
    assert_int_equal(store_figures(one).failed_connections, 0);
    assert_true(store_figures(one).connections >= 3); /* the fourth is made on a thread */
    store_close(one);
    store_close(two);
}

/* ---- answers that are no numbers ---- */

/* Hides count() behind a function whose values have another type, and alters the type of an id. */
static const char *const HIDE[] = {
    "CREATE SCHEMA odd",
    "CREATE FUNCTION odd.one(numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 1.5'",
    "CREATE FUNCTION odd.one(numeric, varchar) RETURNS numeric LANGUAGE sql AS 'SELECT 1.5'",
    "CREATE AGGREGATE odd.count(*) (SFUNC = odd.one, STYPE = numeric, INITCOND = '1.5')",
    "CREATE AGGREGATE odd.count(varchar) (SFUNC = odd.one, STYPE = numeric, INITCOND = '1.5')",
    "ALTER TABLE traits ALTER COLUMN id TYPE numeric",
    ("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = odd, public, pg_catalog',"
     " current_database()); END $$"),
};

static uint64_t soon(void)
{
    return clock_monotonic_us() + 60000000;
}

/* A new one each time: the settings of a database are those of later connections. */
static struct pg_session *connect_to(struct fixture *fixture)
{
    struct pg_url url;
    if (!pg_url_parse(slice_of(fixture->url), SLICE_LIT(""), fixture->arena, &url, &fixture->err))
        fail_msg("%.*s", SLICE_ARG(fixture->err.message));
    struct pg_session *session = pg_session_create(&(struct server_session_options){
        .address = &(struct server_address){&pg_dialect, &url, url.target}, .wake_fd = -1});
    assert_int_equal(pg_session_connect(session, soon(), &fixture->err), SERVER_OK);
    return session;
}

static void hide(struct fixture *fixture)
{
    store_close(fixture_open(fixture));
    struct pg_session *session = connect_to(fixture);
    for (size_t i = 0; i < sizeof(HIDE) / sizeof(HIDE[0]); i++)
        if (pg_session_run(session, HIDE[i], "changed", soon(), &fixture->err) != SERVER_OK)
            fail_msg("%.*s", SLICE_ARG(fixture->err.message));
    pg_session_destroy(session);
}

static void expect_no_number(struct fixture *fixture, bool ok)
{
    static const char END[] = " cannot be read: the server's answer is not a number";
    struct slice message = fixture->err.message;
    size_t len = sizeof(END) - 1;
    assert_false(ok);
    assert_int_equal(fixture->err.status, 503);
    if (message.len < len || memcmp(message.data + message.len - len, END, len) != 0)
        fail_msg("%.*s", SLICE_ARG(message));
    fixture->err = (struct err){.arena = fixture->arena};
}

static void test_no_numbers_in_sessions(void **state)
{
    struct fixture *fixture = *state;
    struct err *err = &fixture->err;
    hide(fixture);
    struct pg_session *session = connect_to(fixture);
    struct pg_id_figure ids[PG_ID_TABLES];
    int64_t number;
    expect_no_number(fixture, pg_id_figures_read(session, ids, soon(), err) == SERVER_OK);
    expect_no_number(fixture,
                     standard_names_count_missing(session, &number, soon(), err) == SERVER_OK);
    number = 1;
    expect_no_number(fixture,
                     pg_figure_ask(session, "SELECT NULL::int", &number, soon(), err) == SERVER_OK);
    assert_int_equal(number, 0);
    expect_no_number(
        fixture, pg_figure_ask(session, "SELECT 1 WHERE 1 = 2", &number, soon(), err) == SERVER_OK);
    assert_int_equal(pg_figure_ask(session, "SELECT -7", &number, soon(), err), SERVER_OK);
    assert_int_equal(number, -7);
    pg_session_destroy(session);
}

static void test_no_numbers_for_tools(void **state)
{
    struct fixture *fixture = *state;
    struct err *err = &fixture->err;
    const struct slice url = slice_of(fixture->url);
    struct coexist_status status;
    int64_t number;
    hide(fixture);
    expect_no_number(fixture, repair_count_missing_consumers(url, &number, err));
    expect_no_number(fixture, coexist_read_status(url, &status, err));
    struct pg_session *session = connect_to(fixture);
    expect_no_number(fixture, pg_migrate_at_start(session, true, soon(), err));
    pg_session_destroy(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_behind, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_no_numbers_in_sessions, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_no_numbers_for_tools, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
