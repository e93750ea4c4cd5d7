/* The length of the WAL, and which connections copy it back into the file. */
#include "fixture.h"
#include "salvage.h"
#include "shim.h"

#include <stdio.h>
#include <sys/stat.h>

#include "await.h"
#include "fake_clock.h"
#include "store/sqlite/internal.h"

enum {
    AT_ONCE_MAX = 2100, /* pages: slightly more than 8 MiB */
    CUT_TO = 2 * 24000 * 4120,
    CUT_AT_ONCE = 4 << 20,
};

static off_t wal_bytes(const struct fixture *fixture)
{
    char wal[128];
    struct stat file;
    snprintf(wal, sizeof(wal), "%s-wal", fixture->path);
    assert_int_equal(stat(wal, &file), 0);
    return file.st_size;
}

/* Batch number i (from 0 on) of a store opened by open_seeded: eight allocations. */
static void commit_batch(struct fixture *fixture, struct store *store, int64_t i)
{
    arena_reset(fixture->arena);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, i, i + 1);
    for (int64_t n = 0; n < 8; n++)
        add_allocation(&list, 2 + i * 8 + n, 1, UUID_C, 1 + n % 2, 0, 1 + i % 5);
    commit_changes(fixture, store, &list);
}

static void expect_batches(struct fixture *fixture, int64_t count)
{
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM allocations"), 1 + count * 8);
}

/* A reader of the present state, until the handle is closed. */
static sqlite3 *open_reader(struct fixture *fixture)
{
    sqlite3 *reader;
    assert_int_equal(sqlite3_open(fixture->path, &reader), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM allocations", NULL, NULL, NULL),
        SQLITE_OK);
    return reader;
}

/* However fast commits arrive, none waits until much has been copied. */
static void test_wal_stays_small(void **state)
{
    enum { BATCHES = 20000 };
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    off_t largest = 0;
    unsigned most = 0;
    uint32_t frames = 0;
    int restarts = 0;
    for (int64_t i = 0; i < BATCHES; i++) {
        unsigned before = shim_database_writes;
        commit_batch(fixture, store, i);
        if (i < BATCHES / 2)
            store_upkeep(store); /* later there is never time for it */
        unsigned writes = shim_database_writes - before;
        most = writes > most ? writes : most;
        uint32_t frames_before = frames;
        frames = (uint32_t)(store_figures(store).wal_bytes / 4120);
        restarts += frames < frames_before;
        off_t size = wal_bytes(fixture);
        assert_true(size >=
                    largest); /* started over, not truncated: growing again would cost time */
        largest = size;
    }
    print_message("WAL of %ld MiB, started over %d times; %u pages at once\n",
                  (long)(largest >> 20), restarts, most);
    assert_true(restarts >= 4);
    assert_in_range(most, 0, 400); /* of more than 800 in a WAL */
    assert_true(largest > 8 << 20);
    /* 98 MiB on a quiet disk; on a slow one, more arrives before the brake stops it. */
    assert_true(largest < CUT_TO);
    expect_batches(fixture, BATCHES);
    assert_true(foreign(fixture->path, "SELECT count(*) FROM berth_log") < 4096 + 64);
    store_close(store);
}

/* A reader holds one state during many commits: the WAL grows, the commits continue. After the
 * reader has gone, the WAL starts over, and its file is truncated gradually. */
static void test_wal_behind_a_reader(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    sqlite3 *reader = open_reader(fixture);
    off_t size = 0;
    off_t largest = 0;
    int64_t released_at = 0;
    int64_t i = 0;
    for (; released_at == 0 || size > CUT_TO; i++) {
        assert_true(i < 120000);
        commit_batch(fixture, store, i);
        store_upkeep(store);
        off_t before = size;
        size = wal_bytes(fixture);
        assert_true(before - size <= CUT_AT_ONCE);
        largest = size > largest ? size : largest;
        if (released_at == 0 && size > CUT_TO + (24 << 20)) {
            assert_int_equal(sqlite3_close(reader), SQLITE_OK);
            released_at = i;
        }
    }
    print_message("WAL of %ld MiB, within the limit %ld commits after the reader had gone\n",
                  (long)(largest >> 20), (long)(i - released_at));
    expect_batches(fixture, i);
    store_close(store);
    expect_batches(fixture, i);
}

/* A store whose WAL holds about 140 MiB that a reader, which has gone, kept out of the file. */
static struct store *open_with_backlog(struct fixture *fixture)
{
    struct store *store = open_seeded(fixture, NULL);
    sqlite3 *reader = open_reader(fixture);
    foreign(fixture->path,
            "CREATE TABLE others (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
            " FROM n WHERE i < 36000) INSERT INTO others SELECT zeroblob(4000) FROM n");
    assert_true(wal_bytes(fixture) > 135 << 20);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    return store;
}

/* What a reader has long kept out of the file is not copied while claims wait for it, and a
 * connection that copies it is not a foreign writer. */
static void test_backlog_is_copied_beside_the_writer(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_with_backlog(fixture);
    int64_t i = 0;
    for (; store_figures(store).wal_bytes > 128 << 20; i++) {
        assert_true(i < 1000000);
        unsigned before = shim_database_writes;
        store_upkeep(store);
        commit_batch(fixture, store, i);
        expect_news(fixture, store, STORE_NEWS_NONE);
        assert_in_range(shim_database_writes - before, 0, AT_ONCE_MAX);
    }
    print_message("%ld commits while 140 MiB were copied\n", (long)i);
    assert_true(i > 10);
    expect_batches(fixture, i);
    store_close(store);
    expect_batches(fixture, i);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM others"), 36000);
}

static bool copier_has_ended(const struct store *store)
{
    const struct copier *copier = &sqlite_of_const(store)->sentinel->copier;
    return !copier->is_started || atomic_load(&copier->is_done);
}

/* A sync of the file that fails is not repaired by one that succeeds: everything that was copied
 * before is copied again, and until then the WAL keeps it. */
static void test_all_is_copied_again_after_a_failed_sync(void **state)
{
    struct fixture *fixture = *state;
    struct store_options options = {.connection = slice_of(fixture->url),
                                    .busy_timeout_ms = 1000,
                                    .sync_schema = true,
                                    .create_missing_file = true,
                                    .wal_frames = 600};
    store_close(open_seeded(fixture, NULL));
    struct store *store = store_open(&options, &fixture->err);
    assert_non_null(store);
    int64_t batches = 0;
    for (int round = 0; round < 5; round++) {
        shim.database_sync_fails_once = SQLITE_IOERR_FSYNC;
        while (shim.database_sync_fails_once != 0) {
            assert_true(batches < 20000);
            commit_batch(fixture, store, batches++);
            store_upkeep(store);
        }
        /* First nothing counts as copied, then the WAL may start over. */
        bool is_forgotten = false;
        uint64_t bytes = 0;
        uint64_t before;
        do {
            assert_true(batches < 20000);
            before = bytes;
            commit_batch(fixture, store, batches++);
            store_upkeep(store);
            is_forgotten |= sentinel_backfilled(sqlite_of(store)->sentinel) == 0;
            bytes = store_figures(store).wal_bytes;
            AWAIT(copier_has_ended(store));
            fake_clock_advance_ms(1); /* the pause after an attempt is over */
        } while (bytes >= before);
        assert_true(is_forgotten);
    }
    store_close(store);
    expect_batches(fixture, batches);
}

static void lock_writing(sqlite3 *other, bool lock)
{
    assert_int_equal(sqlite3_exec(other, lock ? "BEGIN IMMEDIATE" : "ROLLBACK", NULL, NULL, NULL),
                     SQLITE_OK);
}

/* The same where the writer itself copies, and cannot say at once that nothing is copied. */
static void test_writers_own_sync_fails(void **state)
{
    struct fixture *fixture = *state;
    struct store_options options = {.connection = slice_of(fixture->url),
                                    .busy_timeout_ms = 1000,
                                    .sync_schema = true,
                                    .create_missing_file = true,
                                    .wal_frames = 100};
    sqlite3 *other;
    store_close(open_seeded(fixture, NULL));
    struct store *store = store_open(&options, &fixture->err);
    assert_non_null(store);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    foreign(fixture->path, "CREATE TABLE others (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
                           " SELECT i + 1 FROM n WHERE i < 300) INSERT INTO others"
                           " SELECT zeroblob(4000) FROM n");
    shim.database_sync_fails_once = SQLITE_IOERR_FSYNC;
    sqlite_checkpoint(sqlite_of(store));
    assert_int_equal(shim.database_sync_fails_once, 0);
    assert_true(sqlite_of(store)->sentinel->copier.sync_failed);
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    lock_writing(other, true);
    sqlite_checkpoint(sqlite_of(store));
    assert_true(sqlite_of(store)->sentinel->copier.sync_failed);
    lock_writing(other, false);
    sqlite_checkpoint(sqlite_of(store));
    assert_false(sqlite_of(store)->sentinel->copier.sync_failed);
    assert_int_equal(sentinel_backfilled(sqlite_of(store)->sentinel), 0);
    fake_clock_advance_ms(2); /* the pause after an attempt is over */
    sqlite_checkpoint(sqlite_of(store));
    assert_in_range(sentinel_backfilled(sqlite_of(store)->sentinel), 300, 1000);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    store_close(store);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM others"), 300);
}

/* And where the WAL has been taken away, and is copied to save what it has. */
static void test_sync_fails_while_the_wal_is_saved(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = salvage_open_first(fixture);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "SELECT count(*) FROM traits", NULL, NULL, NULL),
                     SQLITE_OK);
    salvage_take_away(fixture, SALVAGE_WAL);
    shim.database_sync_fails_once = SQLITE_IOERR_FSYNC;
    assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_FAILED);
    assert_int_equal(shim.database_sync_fails_once, 0);
    assert_true(sqlite_of(store)->sentinel->copier.sync_failed);
    lock_writing(other, true);
    fake_clock_advance_ms(25); /* it is tried again */
    assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_FAILED);
    assert_true(sqlite_of(store)->sentinel->copier.sync_failed);
    lock_writing(other, false);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    fake_clock_advance_ms(25);
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_OK);
    salvage_expect_after_crash(fixture, fixture->path, 1);
    store_close(store);
}

/* The next upkeep, after the pause that follows an attempt beside a reader. */
static bool is_copying(struct store *store)
{
    fake_clock_advance_ms(100);
    store_upkeep(store);
    return shim.held_database_writes > 0;
}

/* Closed in the middle of it, and removed in the middle of it. */
static void test_end_while_copying(void **state)
{
    struct fixture *fixture = *state;
    for (int taken_away = 0; taken_away < 2; taken_away++) {
        struct store *store = open_with_backlog(fixture);
        shim.holds_database_writes = true;
        AWAIT(is_copying(store));
        commit_batch(fixture, store, 0);
        if (taken_away)
            assert_int_equal(remove(fixture->path), 0);
        shim.holds_database_writes = false; /* what follows waits for the end of the copy */
        if (taken_away)
            assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_FAILED);
        store_close(store);
        if (taken_away)
            continue;
        expect_batches(fixture, 1);
        assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM others"), 36000);
        assert_int_equal(remove(fixture->path), 0);
    }
}

int main(void)
{
    shim_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_wal_stays_small, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_wal_behind_a_reader, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_backlog_is_copied_beside_the_writer, shim_setup,
                                        shim_teardown),
        cmocka_unit_test_setup_teardown(test_all_is_copied_again_after_a_failed_sync, shim_setup,
                                        shim_teardown),
        cmocka_unit_test_setup_teardown(test_writers_own_sync_fails, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_sync_fails_while_the_wal_is_saved, shim_setup,
                                        shim_teardown),
        cmocka_unit_test_setup_teardown(test_end_while_copying, shim_setup, shim_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
