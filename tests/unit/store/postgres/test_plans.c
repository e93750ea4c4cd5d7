/* The server's plans find each row through an index, also if they are made while a table is empty:
 * a session keeps them, and the table grows. No plan is compiled first, as the server does with
 * those that seem expensive because they use what is switched off. */
#include "store/fixture.h"

#include <stdio.h>

#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/exchange/rows_sql.h"
#include "store/postgres/exchange/write_sql.h"
#include "store/postgres/session/session_state.h"
#include "store/server/dialects.h"
#include "store/server/store_internal.h"

static const char *value(struct fixture *fixture, const struct pg_rows *rows, size_t row)
{
    return arena_copy(fixture->arena, pg_rows_bytes(rows, row, 0)).data;
}

static unsigned parameters_in(const char *sql)
{
    unsigned most = 0;
    for (const char *at = strchr(sql, '$'); at != NULL; at = strchr(at + 1, '$')) {
        unsigned number = 0;
        if (sscanf(at, "$%u", &number) == 1 && number > most) /* not a regular expression's $ */
            most = number;
    }
    return most;
}

static void execute(struct fixture *fixture, struct pg_session *session, const char *sql,
                    struct pg_rows *rows)
{
    const struct pg_statement statement = {.sql = sql};
    struct err err = {.arena = fixture->arena};
    if (pg_session_execute(session, &statement, rows, UINT64_MAX, &err) != SERVER_OK)
        fail_msg("%s: %.*s", sql, SLICE_ARG(err.message));
}

/* Whether this line of a plan reads a table, and not the result of another part of the plan. */
static bool reads_table(const char *line)
{
    return strstr(line, "Seq Scan on") != NULL || strstr(line, "Bitmap Index Scan on") != NULL ||
           (strstr(line, "Index") != NULL && strstr(line, "Scan using") != NULL);
}

static void explain(struct fixture *fixture, struct pg_session *session, const char *sql,
                    struct pg_rows *rows)
{
    struct buf text = {0};
    buf_printf(&text, "PREPARE q AS %s", sql);
    buf_append_char(&text, '\0');
    execute(fixture, session, text.data, NULL);
    text.len = 0;
    buf_append_lit(&text, "EXPLAIN EXECUTE q");
    for (unsigned i = 0, count = parameters_in(sql); i < count; i++)
        buf_printf(&text, "%sNULL%s", i == 0 ? "(" : ", ", i == count - 1 ? ")" : "");
    buf_append_char(&text, '\0');
    execute(fixture, session, text.data, rows);
    execute(fixture, session, "DEALLOCATE q", NULL);
    buf_free(&text);
    for (size_t i = 0; i < pg_rows_count(rows); i++)
        if (strncmp(value(fixture, rows, i), "JIT:", 4) == 0)
            fail_msg("%s is compiled", sql);
}

static void expect_indexed(struct fixture *fixture, struct pg_session *session, const char *sql)
{
    struct pg_rows rows = {0};
    explain(fixture, session, sql, &rows);
    for (size_t i = 0; i < pg_rows_count(&rows); i++) {
        const char *line = value(fixture, &rows, i);
        const char *next = i + 1 < pg_rows_count(&rows) ? value(fixture, &rows, i + 1) : "";
        if (reads_table(line) && strstr(next, "Index Cond:") == NULL)
            fail_msg("%s\n%s\n%s", sql, line, next);
    }
    pg_rows_free(&rows);
}

static void expect_good_plans(struct fixture *fixture, struct server_store *store)
{
    struct buf sql = {0};
    struct err err = {.arena = fixture->arena};
    assert_true(server_ensure_session(store, store->follower, &err));
    for (unsigned kind = 0; kind < BUNDLE_KIND_COUNT; kind++) {
        sql.len = 0;
        write_sql_append((enum bundle_kind)kind, &sql);
        expect_indexed(fixture, pg_session_of(store->writer), sql.data);
    }
    for (unsigned table = 0; table < ROWS_TABLE_COUNT; table++) {
        sql.len = 0;
        pg_rows_sql_of_ids((enum rows_table)table, &sql);
        expect_indexed(fixture, pg_session_of(store->follower), sql.data);
    }
    for (unsigned table = 0; table < ROWS_TABLE_COUNT; table++) {
        struct pg_rows rows = {0};
        sql.len = 0;
        pg_rows_sql_all((enum rows_table)table, &sql);
        explain(fixture, pg_session_of(store->follower), sql.data, &rows);
        pg_rows_free(&rows);
    }
    buf_free(&sql);
}

/* Without statistics, with those of empty tables, and with those of small ones. */
static void test_small_tables(void **state)
{
    struct fixture *fixture = *state;
    struct store *base = fixture_open(fixture);
    struct server_store *store = server_store_of(base);
    expect_good_plans(fixture, store);
    execute(fixture, pg_session_of(store->writer), "VACUUM ANALYZE", NULL);
    expect_good_plans(fixture, store);
    execute(fixture, pg_session_of(store->writer),
            "INSERT INTO consumers (id, uuid, project_id, user_id) VALUES (1, 'a', 1, 1)", NULL);
    execute(fixture, pg_session_of(store->writer),
            "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used)"
            " VALUES (1, 'a', 0, 1)",
            NULL);
    execute(fixture, pg_session_of(store->writer),
            "INSERT INTO resource_providers (id, uuid, name, root_provider_id)"
            " VALUES (1, 'p', 'p', 1)",
            NULL);
    execute(fixture, pg_session_of(store->writer), "VACUUM ANALYZE", NULL);
    expect_good_plans(fixture, store);
    store_close(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_small_tables, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
