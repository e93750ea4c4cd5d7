/* Bringing memory up to date without the write lock. */
#include "fixture.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <time.h>

static struct store_stamp add_project(struct fixture *fixture, struct store *store,
                                      const char *name)
{
    struct store_stamp stamp = {0};
    bool foreign;
    assert_int_not_equal(lock_into(fixture, store, NULL), STORE_NEWS_FAILED);
    store_end_read(store, &stamp);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_PROJECT_INSERT, store_next_id(store, STORE_PROJECTS), name);
    assert_int_equal(commit_list(store, &list, &stamp, &foreign, &fixture->err), STORE_OK);
    return stamp;
}

static void expect_renewal(struct fixture *fixture, struct store *store, enum store_news begun)
{
    struct store_stamp stamp;
    assert_int_equal(read_into(fixture, store, NULL), begun);
    assert_true(end_news(store, &stamp));
    assert_true(store_is_current(store, &stamp));
}

static void test_says_what_a_write_would(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = fixture_open(fixture);
    struct store *second = fixture_open(fixture);
    expect_renewal(fixture, first, STORE_NEWS_RELOAD);
    expect_renewal(fixture, second, STORE_NEWS_RELOAD);
    struct store_stamp stamp = add_project(fixture, first, "one");
    expect_renewal(fixture, first, STORE_NEWS_NONE);
    assert_true(store_is_current(first, &stamp));
    expect_renewal(fixture, second, STORE_NEWS_FOLLOW);
    /* What was followed while reading is the base of the next write: its ids come after it. */
    add_project(fixture, second, "two");
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM projects"), 2);
    expect_renewal(fixture, first, STORE_NEWS_FOLLOW);
    foreign(fixture->path, "UPDATE projects SET external_id = 'three' WHERE id = 2");
    expect_renewal(fixture, first, STORE_NEWS_RELOAD);
    add_project(fixture, second, "four");
    foreign(fixture->path, "PRAGMA wal_checkpoint(TRUNCATE)");
    expect_renewal(fixture, first, STORE_NEWS_FOLLOW);
    foreign(fixture->path, "PRAGMA wal_checkpoint(TRUNCATE)");
    expect_renewal(fixture, first, STORE_NEWS_NONE);
    store_close(first);
    store_close(second);
}

/* Another process holds the write lock for as long as it wants. */
static void test_waits_for_no_writer(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct buf out = {0};
    sqlite3 *shell;
    add_project(fixture, store, "one");
    assert_int_equal(sqlite3_open(fixture->path, &shell), SQLITE_OK);
    assert_int_equal(sqlite3_exec(shell,
                                  "INSERT INTO projects (external_id) VALUES ('two');"
                                  "BEGIN IMMEDIATE;"
                                  "INSERT INTO projects (external_id) VALUES ('three')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(read_into(fixture, store, &out), STORE_NEWS_RELOAD);
    struct store_stamp stamp;
    assert_true(end_news(store, &stamp));
    assert_non_null(memmem(out.data, out.len, "project(2 two)", 14));
    assert_null(memmem(out.data, out.len, "three", 5));
    expect_renewal(fixture, store, STORE_NEWS_NONE);
    assert_int_equal(sqlite3_exec(shell, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_false(store_is_current(store, &stamp));
    expect_renewal(fixture, store, STORE_NEWS_RELOAD);
    sqlite3_close(shell);
    buf_free(&out);
    store_close(store);
}

/* What is committed while a snapshot is open is not in it, and its stamp shows that. */
static void test_snapshot_is_not_the_newest(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct store *other = fixture_open(fixture);
    struct buf out = {0};
    struct store_stamp stamp;
    add_project(fixture, store, "one");
    add_project(fixture, other, "two");
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_FOLLOW);
    add_project(fixture, other, "three");
    assert_int_equal(store_follow(store, NULL, dump_change, &out, &fixture->err), STORE_OK);
    assert_false(end_news(store, &stamp));
    assert_false(store_is_current(store, &stamp));
    assert_non_null(memmem(out.data, out.len, "two", 3));
    assert_null(memmem(out.data, out.len, "three", 5));
    out.len = 0;
    assert_int_equal(lock_into(fixture, store, &out), STORE_NEWS_FOLLOW);
    assert_true(end_news(store, &stamp));
    assert_null(memmem(out.data, out.len, "two", 3));
    assert_non_null(memmem(out.data, out.len, "three", 5));
    buf_free(&out);
    store_close(other);
    store_close(store);
}

struct busy {
    struct fixture fixture;
    struct store *store;
    atomic_bool stop;
    atomic_int commits;
};

static void *commit_in_loop(void *cls)
{
    struct busy *busy = cls;
    while (!busy->stop) {
        add_project(&busy->fixture, busy->store,
                    arena_printf(busy->fixture.arena, "p%d", busy->commits).data);
        busy->commits++;
    }
    return NULL;
}

struct projects {
    long long count;
};

static void count_projects(void *cls, const struct change *change)
{
    struct projects *projects = cls;
    projects->count += change->kind == CHANGE_PROJECT_INSERT;
}

/* While a writer commits without a pause, a renewal waits for no gap, has everything that was
 * acknowledged before it, and has the stamp of exactly what it read. */
static void test_beside_a_busy_writer(void **state)
{
    struct fixture *fixture = *state;
    struct busy busy = {.fixture = *fixture};
    struct store *store = fixture_open(fixture);
    struct projects projects = {0};
    int begun[4] = {0};
    int matched = 0;
    pthread_t thread;
    busy.fixture.arena = arena_create();
    busy.fixture.err.arena = busy.fixture.arena;
    busy.store = fixture_open(fixture);
    pthread_create(&thread, NULL, commit_in_loop, &busy);
    for (int i = 0; i < 3000 || (begun[STORE_NEWS_FOLLOW] < 100 && i < 300000); i++) {
        struct store_stamp stamp;
        int acknowledged = busy.commits;
        enum store_news found = store_begin_read(store, &fixture->err);
        assert_int_not_equal(found, STORE_NEWS_FAILED);
        begun[found]++;
        if (found == STORE_NEWS_RELOAD) {
            projects.count = 0;
            assert_int_equal(store_load(store, count_projects, &projects, &fixture->err), STORE_OK);
        }
        if (found == STORE_NEWS_FOLLOW)
            assert_int_equal(store_follow(store, NULL, count_projects, &projects, &fixture->err),
                             STORE_OK);
        end_news(store, &stamp);
        assert_true(projects.count >= acknowledged);
        if (i % 50 == 0) {
            long long count = foreign(fixture->path, "SELECT count(*) FROM projects");
            if (store_is_current(store, &stamp)) {
                assert_int_equal(projects.count, count);
                matched++;
            }
        }
    }
    busy.stop = true;
    pthread_join(thread, NULL);
    print_message("%d commits; renewals: %d nothing new, %d followed, %d loaded; %d compared\n",
                  busy.commits, begun[STORE_NEWS_NONE], begun[STORE_NEWS_FOLLOW],
                  begun[STORE_NEWS_RELOAD], matched);
    assert_true(begun[STORE_NEWS_FOLLOW] >= 100);
    /* The first one; and one that found a commit during each of its attempts. */
    assert_true(begun[STORE_NEWS_RELOAD] <= 2);
    store_close(busy.store);
    store_close(store);
    arena_destroy(busy.fixture.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_says_what_a_write_would, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_waits_for_no_writer, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_snapshot_is_not_the_newest, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_beside_a_busy_writer, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
