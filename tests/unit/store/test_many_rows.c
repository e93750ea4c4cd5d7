/* Rows that are written together: the database and the log contain what single statements would
 * have written. */
#include "fixture.h"

#include <sqlite3.h>
#include <string.h>

enum { CONSUMERS = 21, CLASSES = 3 };

static const char *uuid_of(struct fixture *fixture, int64_t consumer)
{
    return arena_printf(fixture->arena, "eeeeeeee-0000-4000-8000-%012lld", (long long)consumer)
        .data;
}

static struct change_list many_claims(struct fixture *fixture)
{
    struct change_list list = changes_of(fixture);
    for (int64_t i = 0; i < CONSUMERS; i++)
        add_consumer(&list, CHANGE_CONSUMER_INSERT, 100 + i, uuid_of(fixture, i), 1);
    for (int64_t i = 0; i < CONSUMERS; i++)
        for (int64_t class = 0; class < CLASSES; class ++)
            add_allocation(&list, 1000 + CLASSES * i + class, 100 + i, uuid_of(fixture, i),
                           i % 2 + 1, class, 10 * i + class);
    return list;
}

static struct change_list one_by_one(struct fixture *fixture, struct store *store)
{
    struct change_list list = many_claims(fixture);
    for (size_t i = 0; i < list.count; i++)
        commit_changes(fixture, store,
                       &(struct change_list){list.arena, &list.items[i], 1, list.capacity});
    return list;
}

static void expect_rows(struct fixture *fixture, const char *sql, const char *expected)
{
    struct buf out = {0};
    foreign_rows(fixture->path, sql, &out);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, expected);
    buf_free(&out);
}

static const char WHOLE[] = "SELECT * FROM consumers ORDER BY id;"
                            "SELECT * FROM allocations ORDER BY id";

static void test_rows_are_those_of_single_statements(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    one_by_one(fixture, store);
    struct buf single = {0};
    foreign_rows(fixture->path, WHOLE, &single);
    buf_append_char(&single, '\0');
    foreign(fixture->path, "DELETE FROM consumers WHERE id > 1;"
                           "DELETE FROM allocations WHERE id > 1");
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    struct change_list list = many_claims(fixture);
    commit_changes(fixture, store, &list);
    expect_rows(fixture, WHOLE, single.data);
    buf_free(&single);
    store_close(store);
}

/* Rows of one statement may have instants that differ from those of the row before. */
static void test_each_row_has_its_instants(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = many_claims(fixture);
    for (size_t i = 0; i < list.count; i++)
        list.items[i].created_at_us = (int64_t)(i % 13 == 12 ? i : 5) * 1000000;
    commit_changes(fixture, store, &list);
    expect_rows(fixture,
                "SELECT sum(created_at = '1970-01-01 00:00:05.000000'), count(*) FROM"
                " (SELECT created_at FROM consumers WHERE id >= 100"
                " UNION ALL SELECT created_at FROM allocations WHERE id >= 1000);"
                "SELECT created_at FROM consumers WHERE id = 112;"
                "SELECT created_at FROM allocations WHERE id = 1004",
                "78|84\n1970-01-01 00:00:12.000000\n1970-01-01 00:00:25.000000\n");
    store_close(store);
}

/* Each consumer is named at most twice: with its row, and with its allocations. */
static void test_the_log_names_each_consumer(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    struct change_list list = many_claims(fixture);
    commit_changes(fixture, store, &list);
    enum { ENTRY_BYTES = 1 + 2 + 1 + 16 };
    long long bytes =
        foreign(fixture->path, "SELECT length(entities) FROM berth_log ORDER BY seq DESC LIMIT 1");
    assert_in_range(bytes, CONSUMERS * ENTRY_BYTES, 2 * CONSUMERS * ENTRY_BYTES + 1);
    struct buf out = {0};
    struct store_stamp stamp;
    assert_int_equal(lock_into(fixture, other, &out), STORE_NEWS_FOLLOW);
    assert_true(end_news(other, &stamp));
    buf_append_char(&out, '\0');
    size_t allocations = 0;
    for (const char *at = out.data; (at = strstr(at, "eeeeeeee-")) != NULL; at++)
        allocations++;
    assert_true(allocations >= CONSUMERS * (1 + CLASSES));
    buf_free(&out);
    store_close(other);
    store_close(store);
}

/* Whichever row of a statement cannot be inserted: the refusal names it, and no row of the
 * statement stays. */
static void test_the_refusal_names_the_row(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    for (size_t at = 0; at < CONSUMERS; at++) {
        struct change_list list = many_claims(fixture);
        list.items[at].consumer.uuid = slice_of(UUID_C);
        const struct store_refusal *why = refuse_changes(fixture, store, &list);
        assert_int_equal(why->change, at);
        assert_true(why->is_duplicate);
        assert_string_equal(why->columns, "consumers.uuid");
        expect_rows(fixture, "SELECT count(*) FROM consumers", "1\n");
    }
    store_close(store);
}

static sqlite3 *opened[8];
static unsigned opened_count;

static int note_opened(sqlite3 *handle, char **message, const struct sqlite3_api_routines *api)
{
    (void)message;
    (void)api;
    assert_true(opened_count < 8);
    opened[opened_count++] = handle;
    return SQLITE_OK;
}

/* How often statements that begin like this have been run; resets the count. */
static int runs_of(const char *begin)
{
    int runs = 0;
    for (unsigned i = 0; i < opened_count; i++)
        for (sqlite3_stmt *at = NULL; (at = sqlite3_next_stmt(opened[i], at)) != NULL;)
            if (strncmp(sqlite3_sql(at), begin, strlen(begin)) == 0)
                runs += sqlite3_stmt_status(at, SQLITE_STMTSTATUS_RUN, 1);
    return runs;
}

/* A statement for each run of eight rows, and one for each remaining row. */
static void test_eight_rows_are_one_statement(void **state)
{
    struct fixture *fixture = *state;
    void (*entry)(void) = (void (*)(void))note_opened;
    opened_count = 0;
    assert_int_equal(sqlite3_auto_extension(entry), SQLITE_OK);
    struct store *store = open_seeded(fixture, NULL);
    assert_int_equal(sqlite3_cancel_auto_extension(entry), 1);
    assert_int_equal(runs_of("INSERT INTO consumers"), 1);
    assert_int_equal(runs_of("INSERT INTO allocations"), 1);
    struct change_list list = many_claims(fixture);
    commit_changes(fixture, store, &list);
    enum { ROWS = CONSUMERS * CLASSES };
    assert_int_equal(runs_of("INSERT OR FAIL INTO consumers"), CONSUMERS / 8);
    assert_int_equal(runs_of("INSERT INTO consumers"), CONSUMERS % 8);
    assert_int_equal(runs_of("INSERT OR FAIL INTO allocations"), ROWS / 8);
    assert_int_equal(runs_of("INSERT INTO allocations"), ROWS % 8);
    store_close(store);
}

/* For providers of which only the root changes, only the root is written. */
static void test_a_root_alone(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    struct change_list list = changes_of(fixture);
    struct change *change = add(&list, CHANGE_PROVIDER_UPDATE);
    change->is_root_only = true;
    change->updated_at_us = 7000000;
    change->provider = (struct change_provider){.id = 2, .root_id = 1};
    commit_changes(fixture, store, &list);
    expect_rows(fixture,
                "SELECT uuid, name, generation, root_provider_id, parent_provider_id, updated_at"
                " FROM resource_providers ORDER BY id",
                UUID_A "|a|0|1|NULL|NULL\n" UUID_B "|b|0|1|NULL|1970-01-01 00:00:07.000000\n");
    expect_news(fixture, other, STORE_NEWS_FOLLOW);
    store_close(other);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows_are_those_of_single_statements, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_each_row_has_its_instants, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_the_log_names_each_consumer, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_the_refusal_names_the_row, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_eight_rows_are_one_statement, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_root_alone, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
