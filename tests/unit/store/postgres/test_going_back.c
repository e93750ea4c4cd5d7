/* A database that went back, and one that was copied to another cluster, on a real server. */
#include "store/fixture.h"

#include "store/postgres/store_internal.h"

static void run_sql(const struct fixture *fixture, const char *sql)
{
    const char *name = strrchr(fixture->url, '/') + 1;
    fixture_shell(fixture, arena_printf(fixture->arena, "psql -qAtX -d %s -c \"%s\" >/dev/null%c",
                                        name, sql, '\0')
                               .data);
}

static void delete_log_after(const struct fixture *fixture, int64_t number)
{
    run_sql(fixture, arena_printf(fixture->arena, "DELETE FROM berth_log WHERE number > %lld%c",
                                  (long long)number, '\0')
                         .data);
}

/* Batches until the log has that many rows. */
static void commit_until(struct fixture *fixture, struct store *store, int64_t number)
{
    while (postgres_of(store)->followed.number < number) {
        struct change_list list = changes_of(fixture);
        int64_t id = store_next_id(store, STORE_PROJECTS);
        add_catalog(&list, CHANGE_PROJECT_INSERT, id,
                    arena_printf(fixture->arena, "p%lld%c", (long long)id, '\0').data);
        commit_changes(fixture, store, &list);
    }
}

static void found(struct fixture *fixture, struct store *store, int64_t had, int64_t has)
{
    expect_news(fixture, store, STORE_NEWS_WENT_BACK);
    assert_int_equal(store_why_went_back(store).had, had);
    assert_int_equal(store_why_went_back(store).has, has);
}

/* Each time is told, also if memory had a state of the same number each time. */
static void test_twice(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    commit_until(fixture, store, 9);
    delete_log_after(fixture, 5);
    found(fixture, store, 9, 5);
    expect_news(fixture, store, STORE_NEWS_NONE);
    commit_until(fixture, store, 9);
    delete_log_after(fixture, 6);
    found(fixture, store, 9, 6);
    store_close(store);
}

static struct store *open_remembering(struct fixture *fixture)
{
    const struct store_options options = {.connection = slice_of(fixture->url),
                                          .busy_timeout_ms = fixture->busy_timeout_ms,
                                          .state_directory = slice_of(fixture->dir)};
    struct store *store = store_open(&options, &fixture->err);
    assert_non_null(store);
    return store;
}

/* What a process would find that began now. */
static int64_t remembered(struct fixture *fixture, struct store *store)
{
    struct acknowledged file;
    struct epoch_row epoch;
    fixture_shell(fixture, "rm -rf copy && mkdir copy && cp acknowledged-* copy/");
    int64_t number = acknowledged_open(&file, slice_of(fixture_file(fixture, "copy")),
                                       postgres_of(store)->url.target, &epoch)
                         .number;
    acknowledged_close(&file);
    return number;
}

/* The file has the state that is gone until what is gone has been named, which is done between two
 * reads: a process that is killed meanwhile finds out again. */
static void test_killed_meanwhile(void **state)
{
    struct fixture *fixture = *state;
    store_close(open_seeded(fixture, NULL));
    struct store *store = open_remembering(fixture);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    commit_until(fixture, store, 9);
    assert_int_equal(remembered(fixture, store), 9);
    delete_log_after(fixture, 5);
    found(fixture, store, 9, 5);
    assert_int_equal(remembered(fixture, store), 9);
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_int_equal(remembered(fixture, store), 5);
    commit_until(fixture, store, 9);
    delete_log_after(fixture, 6);
    found(fixture, store, 9, 6);
    commit_until(fixture, store, 7);
    assert_int_equal(remembered(fixture, store), 7);
    store_close(store);
}

/* ---- another cluster ---- */

static void ignore_change(void *cls, const struct change *change)
{
    (void)cls;
    (void)change;
}

static bool has_count(void *cls, enum entity entity, uint64_t rows)
{
    (void)cls;
    (void)entity;
    (void)rows;
    return true;
}

/* Whether memory counts as having the newest state after a look for what others have written. */
static bool stays_current(struct fixture *fixture, struct store *store)
{
    const struct store_examiner examiner = {ignore_change, has_count, NULL, NULL};
    struct store_stamp stamp;
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_NONE);
    assert_true(store_examine(store, &examiner, &fixture->err));
    return store_end_read(store, &stamp);
}

/* The tables are the same, and so is the log: but all transactions have lower numbers there than
 * those that have been looked at, so that nothing would ever seem to be new. */
static void test_lower_numbers(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_true(stays_current(fixture, store));
    postgres_of(store)->examined_from += 1000000;
    assert_false(stays_current(fixture, store));
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_true(stays_current(fixture, store));
    store_close(store);
}

/* Whatever the numbers are. */
static void test_other_cluster(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    expect_news(fixture, store, STORE_NEWS_NONE);
    postgres_of(store)->examined_system++;
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    expect_news(fixture, store, STORE_NEWS_NONE);
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_twice),
        TEST(test_killed_meanwhile),
        TEST(test_lower_numbers),
        TEST(test_other_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
