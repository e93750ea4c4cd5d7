/* Disks that are full, broken or read-only; and one without shared memory, where the store has to
 * query the data version. */
#include "fixture.h"
#include "shim.h"

#include "store/sqlite/internal.h"

#include "store/sqlite/internal.h"

/* As in service: with every sync. */
static struct store *open_synced(struct fixture *fixture)
{
    struct store_options options = {.connection = slice_of(fixture->url),
                                    .busy_timeout_ms = 300,
                                    .sync_schema = true,
                                    .create_missing_file = true};
    struct store *store = store_open(&options, &fixture->err);
    assert_non_null(store);
    struct change_list list = changes_of(fixture);
    add_provider(&list, 1, 0, 1, UUID_A, "a");
    commit_changes(fixture, store, &list);
    return store;
}

/* Raises the generation of provider 1 from `from` to `from` + 1, in a transaction of its own. */
static enum store_result try_commit(struct fixture *fixture, struct store *store, int64_t from)
{
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool foreign;
    add_generation(&list, 1, from, from + 1);
    return take_news_and_commit(fixture, store, &list, &stamp, &foreign);
}

static void expect_generation(struct fixture *fixture, int64_t generation)
{
    assert_int_equal(
        foreign(fixture->path, "SELECT generation FROM resource_providers WHERE id = 1"),
        generation);
}

static void test_disk_full(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    static const int codes[] = {SQLITE_FULL, SQLITE_READONLY};
    for (size_t i = 0; i < 2; i++) {
        shim.write_fails = codes[i];
        assert_int_equal(try_commit(fixture, store, 0), STORE_FAILED);
        assert_int_equal(fixture->err.status, 503);
        assert_int_equal(try_commit(fixture, store, 0), STORE_FAILED);
        store_upkeep(store);
        /* The store still reads: nothing has changed. */
        struct store_stamp stamp;
        assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_NONE);
        assert_true(end_news(store, &stamp));
        shim.write_fails = 0;
        expect_generation(fixture, 0);
    }
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    expect_generation(fixture, 1);
    store_close(store);
}

static void test_disk_full_after_follow(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    struct store *other = fixture_open(fixture);
    struct store_stamp stamp;
    assert_int_equal(try_commit(fixture, other, 0), STORE_OK);
    shim.write_fails = SQLITE_FULL;
    assert_int_equal(try_commit(fixture, store, 1), STORE_FAILED);
    shim.write_fails = 0;
    /* The failed batch had followed: memory has kept that. */
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_NONE);
    assert_true(end_news(store, &stamp));
    assert_int_equal(try_commit(fixture, store, 1), STORE_OK);
    expect_generation(fixture, 2);
    store_close(other);
    store_close(store);
}

static void test_sync_fails(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    shim.wal_sync_fails = SQLITE_IOERR_FSYNC;
    enum store_result result = try_commit(fixture, store, 0);
    /* The disk stays broken: the store cannot know. */
    assert_int_equal(result, STORE_UNKNOWN);
    assert_int_equal(fixture->err.status, 503);
    shim.wal_sync_fails = 0;
    struct buf out = {0};
    struct store_stamp stamp;
    assert_int_equal(lock_into(fixture, store, &out), STORE_NEWS_RELOAD);
    assert_non_null(memmem(out.data, out.len, "root=1 gen=0)", 13));
    buf_free(&out);
    assert_true(end_news(store, &stamp));
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    expect_generation(fixture, 1);
    store_close(store);
    expect_generation(fixture, 1);
}

static void test_sync_fails_once(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    shim.wal_sync_fails = SQLITE_IOERR_FSYNC;
    shim.once = true;
    /* The connection was dropped; the batch's mark was looked for and not found. */
    assert_int_equal(try_commit(fixture, store, 0), STORE_FAILED);
    assert_int_equal(shim.wal_sync_fails, 0);
    expect_generation(fixture, 0);
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    expect_generation(fixture, 1);
    store_close(store);
    expect_generation(fixture, 1);
}

static void test_find_mark(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    assert_int_equal(try_commit(fixture, store, 1), STORE_OK);
    unsigned char mark[MARK_LEN];
    bool found = false;
    memcpy(mark, sqlite_of(store)->instance, sizeof(sqlite_of(store)->instance));
    for (uint64_t batch = 0; batch < 4; batch++) {
        memcpy(mark + sizeof(sqlite_of(store)->instance), &batch, sizeof(batch));
        assert_true(sqlite_find_mark(sqlite_of(store), mark, &found, &fixture->err));
        assert_int_equal(found, batch < 3);
    }
    store_close(store);
}

/* When nothing can be written, reads continue, including changes by other processes. */
static void test_renews_without_room(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    struct store *other = fixture_open(fixture);
    static const int codes[] = {SQLITE_FULL, SQLITE_READONLY, SQLITE_IOERR_WRITE};
    for (int64_t i = 0; i < 3; i++) {
        struct buf out = {0};
        struct store_stamp stamp;
        assert_int_equal(try_commit(fixture, other, i), STORE_OK);
        shim.write_fails = codes[i];
        assert_int_equal(read_into(fixture, store, &out), STORE_NEWS_FOLLOW);
        assert_true(end_news(store, &stamp));
        buf_append_char(&out, '\0');
        assert_string_equal(out.data, arena_printf(fixture->arena,
                                                   "generation(1 %ld %ld) 1790000000123456"
                                                   " 1790000000123458\n",
                                                   i + 1, i + 1)
                                          .data);
        buf_free(&out);
        assert_int_not_equal(try_commit(fixture, store, i + 1), STORE_OK);
        shim.write_fails = 0;
    }
    store_close(other);
    store_close(store);
}

/* By a process that may write the file. */
static void foreign_all_the_same(struct fixture *fixture, const char *sql)
{
    shim.read_only = false;
    foreign(fixture->path, sql);
    shim.read_only = true;
}

static void test_read_only_file(void **state)
{
    struct fixture *fixture = *state;
    store_close(open_synced(fixture));
    shim.read_only = true;
    struct store *store = fixture_try(fixture, fixture->url, true, false);
    if (store == NULL)
        print_error("%.*s\n", SLICE_ARG(fixture->err.message));
    assert_non_null(store);
    struct buf out = {0};
    struct store_stamp stamp;
    assert_int_equal(read_into(fixture, store, &out), STORE_NEWS_RELOAD);
    assert_non_null(memmem(out.data, out.len, "root=1 gen=0)", 13));
    buf_free(&out);
    /* Nothing signals a change: each read queries it. */
    assert_false(end_news(store, &stamp));
    assert_false(store_is_current(store, &stamp));
    assert_int_equal(read_into(fixture, store, NULL), STORE_NEWS_NONE);
    end_news(store, &stamp);
    assert_int_equal(try_commit(fixture, store, 0), STORE_FAILED);
    assert_int_equal(fixture->err.status, 503);
    store_upkeep(store);
    foreign_all_the_same(fixture, "UPDATE resource_providers SET name = 'x'");
    assert_int_equal(read_into(fixture, store, NULL), STORE_NEWS_RELOAD);
    end_news(store, &stamp);
    assert_int_equal(read_into(fixture, store, NULL), STORE_NEWS_NONE);
    end_news(store, &stamp);
    /* As soon as the file can be written, it is. */
    shim.read_only = false;
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    assert_int_equal(read_into(fixture, store, NULL), STORE_NEWS_NONE);
    assert_true(end_news(store, &stamp));
    expect_generation(fixture, 1);
    store_close(store);
}

static void test_read_only_file_is_not_ready(void **state)
{
    struct fixture *fixture = *state;
    store_close(open_synced(fixture));
    foreign(fixture->path, "DROP TABLE berth_log");
    shim.read_only = true;
    assert_null(fixture_try(fixture, fixture->url, true, false));
    assert_non_null(memmem(fixture->err.message.data, fixture->err.message.len, "read-only", 9));
    foreign_all_the_same(fixture, "DELETE FROM alembic_version");
    assert_null(fixture_try(fixture, fixture->url, true, false));
    assert_non_null(memmem(fixture->err.message.data, fixture->err.message.len, "no schema", 9));
}

static void test_without_shared_memory(void **state)
{
    struct fixture *fixture = *state;
    shim.no_shared_memory = true;
    struct store *store = open_synced(fixture);
    assert_null(sqlite_of(store)->sentinel->index);
    struct store_stamp stamp;
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_NONE);
    assert_true(end_news(store, &stamp));
    assert_true(store_is_current(store, &stamp));
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    assert_false(store_is_current(store, &stamp));
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_NONE);
    assert_true(end_news(store, &stamp));
    foreign(fixture->path, "UPDATE resource_providers SET name = 'x'");
    assert_false(store_is_current(store, &stamp));
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_RELOAD);
    assert_true(end_news(store, &stamp));
    /* Another instance's batches cannot be distinguished from a foreign writer's. */
    struct store *other = fixture_open(fixture);
    assert_int_equal(try_commit(fixture, other, 1), STORE_OK);
    assert_false(store_is_current(store, &stamp));
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_RELOAD);
    assert_true(end_news(store, &stamp));
    /* Not while another connection keeps all others out. */
    sqlite3 *alone;
    assert_int_equal(sqlite3_open(fixture->path, &alone), SQLITE_OK);
    assert_true(store_is_current(store, &stamp));
    assert_int_equal(sqlite3_exec(alone, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    assert_false(store_is_current(store, &stamp));
    assert_int_equal(sqlite3_close(alone), SQLITE_OK);
    assert_true(store_is_current(store, &stamp));
    store_upkeep(store);
    store_close(other);
    store_close(store);
}

int main(void)
{
    shim_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_disk_full, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_disk_full_after_follow, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_sync_fails, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_sync_fails_once, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_find_mark, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_renews_without_room, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_read_only_file, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_read_only_file_is_not_ready, shim_setup,
                                        shim_teardown),
        cmocka_unit_test_setup_teardown(test_without_shared_memory, shim_setup, shim_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
