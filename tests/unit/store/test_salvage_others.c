/* The same while other processes have the files open, read them, or write to them. */
#include "salvage.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_clock.h"
#include "store/sqlite/internal.h"

/* Meanwhile a shell opens the file, reads and closes it, or keeps it open. */
static void test_others_come_meanwhile(void **state)
{
    struct fixture *fixture = *state;
    for (int what = 1; what <= (SALVAGE_WAL | SALVAGE_INDEX); what++) {
        for (int stays = 0; stays < 2; stays++) {
            struct store *store = salvage_open_first(fixture);
            assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_OK);
            salvage_take_away(fixture, what);
            sqlite3 *shell;
            assert_int_equal(sqlite3_open_v2(fixture->path, &shell, SQLITE_OPEN_READWRITE, "unix"),
                             SQLITE_OK);
            sqlite3_exec(shell, "SELECT count(*) FROM traits", NULL, NULL, NULL);
            if (!stays)
                sqlite3_close(shell);
            assert_int_equal(salvage_try_commit(fixture, store, 1), STORE_OK);
            salvage_expect_after_crash(fixture, fixture->path, 2);
            if (stays)
                sqlite3_close(shell);
            assert_int_equal(salvage_try_commit(fixture, store, 2), STORE_OK);
            salvage_expect_after_crash(fixture, fixture->path, 3);
            store_close(store);
            assert_int_equal(remove(fixture->path), 0);
        }
    }
}

/* A process reads an old state of the WAL that was removed: nothing more is acknowledged until
 * everything can be copied. */
static void test_a_reader_in_the_way(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = salvage_open_first(fixture);
    sqlite3 *reader;
    assert_int_equal(sqlite3_open(fixture->path, &reader), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM traits", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_OK);
    salvage_take_away(fixture, SALVAGE_WAL);
    for (int i = 0; i < 3; i++) {
        fixture->err = (struct err){.arena = fixture->arena};
        assert_int_equal(salvage_try_commit(fixture, store, 1), STORE_FAILED);
        assert_int_equal(fixture->err.status, 503);
        fake_clock_advance_ms(25); /* it is tried again */
    }
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    fake_clock_advance_ms(25);
    assert_int_equal(salvage_try_commit(fixture, store, 1), STORE_OK);
    salvage_expect_after_crash(fixture, fixture->path, 2);
    store_close(store);
}

/* Another connection writes to the WAL that was taken away: its write counts. */
static void test_a_writer_in_the_way(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = salvage_open_first(fixture);
    sqlite3 *writer;
    assert_int_equal(sqlite3_open(fixture->path, &writer), SQLITE_OK);
    assert_int_equal(sqlite3_exec(writer,
                                  "BEGIN IMMEDIATE; UPDATE resource_providers SET name = 'b'", NULL,
                                  NULL, NULL),
                     SQLITE_OK);
    salvage_take_away(fixture, SALVAGE_WAL);
    for (int i = 0; i < 3; i++) { /* it is not tried each time */
        fixture->err = (struct err){.arena = fixture->arena};
        assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_FAILED);
        assert_int_equal(fixture->err.status, 503);
    }
    fake_clock_advance_ms(25);
    assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_FAILED);
    assert_int_equal(sqlite3_exec(writer, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    fake_clock_advance_ms(25);
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_OK);
    salvage_expect_after_crash(fixture, fixture->path, 1);
    assert_int_equal(foreign(fixture->path, "SELECT name = 'b' FROM resource_providers"), 1);
    assert_int_equal(sqlite3_close(writer), SQLITE_OK);
    store_close(store);
}

static void take_wal_away(void *cls)
{
    salvage_take_away(cls, SALVAGE_WAL);
}

/* The WAL is taken away in a transaction, and somebody reads an old state: it cannot be known
 * whether the commit lasts. */
static void test_a_reader_in_the_way_of_a_commit(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = salvage_open_first(fixture);
    struct salvage_meanwhile meanwhile = {take_wal_away, fixture, 0};
    sqlite3 *reader;
    sqlite_of(store)->db_options.busy_timeout_ms = 50; /* so long it is tried */
    assert_int_equal(sqlite3_open(fixture->path, &reader), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM traits", NULL, NULL, NULL),
                     SQLITE_OK);
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_int_equal(salvage_commit_meanwhile(fixture, store, 0, &meanwhile), STORE_UNKNOWN);
    assert_int_equal(fixture->err.status, 503);
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    fake_clock_advance_ms(25);
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(salvage_try_commit(fixture, store, 1), STORE_OK);
    salvage_expect_after_crash(fixture, fixture->path, 2);
    store_close(store);
}

/* Another process with the same files open, which notices it by itself. */
static void test_two_processes(void **state)
{
    struct fixture *fixture = *state;
    for (int what = 1; what <= (SALVAGE_WAL | SALVAGE_INDEX); what++) {
        int to_child[2];
        int to_parent[2];
        store_close(salvage_open_first(fixture));
        assert_int_equal(pipe(to_child) + pipe(to_parent), 0);
        pid_t child = fork();
        if (child == 0) {
            close(to_child[1]); /* so that it ends with this process */
            alarm(60);
            struct store *store = salvage_open_synced(fixture);
            int64_t from;
            while (read(to_child[0], &from, sizeof(from)) == sizeof(from)) {
                enum store_result result = salvage_try_commit(fixture, store, from);
                if (write(to_parent[1], &result, sizeof(result)) != sizeof(result))
                    break;
            }
            _exit(0);
        }
        close(to_child[0]);
        struct store *store = salvage_open_synced(fixture);
        enum store_result result;
        for (int64_t i = 0; i < 12; i += 2) {
            if (i % 4 == 2)
                salvage_take_away(fixture, what);
            assert_int_equal(salvage_try_commit(fixture, store, i), STORE_OK);
            salvage_expect_after_crash(fixture, fixture->path, i + 1);
            int64_t from = i + 1;
            assert_int_equal(write(to_child[1], &from, sizeof(from)), sizeof(from));
            assert_int_equal(read(to_parent[0], &result, sizeof(result)), sizeof(result));
            assert_int_equal(result, STORE_OK);
            salvage_expect_after_crash(fixture, fixture->path, i + 2);
        }
        close(to_child[1]);
        close(to_parent[0]);
        close(to_parent[1]);
        store_close(store);
        assert_int_equal(remove(fixture->path), 0);
        unlink(arena_printf(fixture->arena, "%s-wal", fixture->path).data);
        unlink(arena_printf(fixture->arena, "%s-shm", fixture->path).data);
    }
}

/* The database file is moved: it has everything, without the WAL that stayed at the old path. */
static void test_file_moved(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = salvage_open_first(fixture);
    char moved[128];
    salvage_name_of(fixture, ".moved", moved);
    assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_OK);
    assert_int_equal(rename(fixture->path, moved), 0);
    sqlite_of(store)->file_checked_at_us = 0;
    store_upkeep(store);
    salvage_expect_after_crash(fixture, moved, 1);
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(salvage_try_commit(fixture, store, 1), STORE_FAILED);
    assert_int_equal(rename(moved, fixture->path), 0);
    assert_int_equal(salvage_try_commit(fixture, store, 1), STORE_OK);
    salvage_expect_after_crash(fixture, fixture->path, 2);
    store_close(store);
}

/* Both are removed, and another process has written before it was noticed: the present contents of
 * the file are kept, complete. */
static void test_somebody_else_has_gone_on(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = salvage_open_first(fixture);
    salvage_checkpoint(store);
    assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_OK);
    salvage_take_away(fixture, SALVAGE_WAL | SALVAGE_INDEX);
    pid_t child = fork();
    if (child == 0) {
        setenv("DATABASE", fixture->path, 1);
        execlp("/usr/bin/python3", "python3", "-c",
               "import os, sqlite3\n"
               "file = sqlite3.connect(os.environ['DATABASE'], isolation_level=None)\n"
               "file.execute(\"UPDATE resource_providers SET name = 'b'\")\n"
               "os._exit(0)\n",
               (char *)NULL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    struct buf out = {0};
    assert_int_equal(lock_into(fixture, store, &out), STORE_NEWS_RELOAD);
    struct store_stamp stamp;
    end_news(store, &stamp);
    buf_append_char(&out, '\0');
    assert_non_null(strstr(out.data, " b parent=0 root=1 gen=0)"));
    buf_free(&out);
    assert_int_equal(salvage_try_commit(fixture, store, 0), STORE_OK);
    salvage_expect_after_crash(fixture, fixture->path, 1);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_others_come_meanwhile, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_reader_in_the_way, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_writer_in_the_way, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_reader_in_the_way_of_a_commit, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_two_processes, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_file_moved, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_somebody_else_has_gone_on, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
