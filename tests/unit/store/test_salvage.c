/* The WAL, its index or the file itself taken away while the store has them open: what was
 * acknowledged outlives a crash at any moment after that. */
#include "fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/sqlite/internal.h"

enum { WAL = 1, INDEX = 2 };

static struct store *open_synced(struct fixture *fixture)
{
    struct store_options options = {.connection = slice_of(fixture->url),
                                    .busy_timeout_ms = 5000,
                                    .sync_schema = true,
                                    .create_missing_file = true};
    struct store *store = store_open(&options, &fixture->err);
    if (store == NULL)
        print_error("%.*s\n", SLICE_ARG(fixture->err.message));
    assert_non_null(store);
    return store;
}

static struct store *open_first(struct fixture *fixture)
{
    struct store *store = open_synced(fixture);
    struct change_list list = changes_of(fixture);
    add_provider(&list, 1, 0, 1, UUID_A, "a");
    commit_changes(fixture, store, &list);
    return store;
}

/* Generation from..from+1 in a transaction of its own. */
static enum store_result try_commit(struct fixture *fixture, struct store *store, int64_t from)
{
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool stranger;
    add_generation(&list, 1, from, from + 1);
    if (begin_into(fixture, store, NULL) == STORE_BEGIN_FAILED)
        return STORE_FAILED;
    assert_int_equal(store_apply(store, &list, &fixture->err), STORE_OK);
    return store_commit(store, &stamp, &stranger, &fixture->err);
}

static void name_of(const struct fixture *fixture, const char *suffix, char name[static 128])
{
    snprintf(name, 128, "%s%s", fixture->path, suffix);
}

static void take_away(const struct fixture *fixture, int what)
{
    char name[128];
    name_of(fixture, "-wal", name);
    if ((what & WAL) != 0)
        assert_int_equal(unlink(name), 0);
    name_of(fixture, "-shm", name);
    if ((what & INDEX) != 0)
        assert_int_equal(unlink(name), 0);
}

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 16];
    size_t count;
    FILE *source = fopen(from, "rb");
    unlink(to);
    if (source == NULL)
        return;
    FILE *target = fopen(to, "wb");
    assert_non_null(target);
    while ((count = fread(bytes, 1, sizeof(bytes), source)) > 0)
        assert_int_equal(fwrite(bytes, 1, count, target), count);
    fclose(source);
    fclose(target);
}

/* What a crash at this moment would leave. */
static void expect_after_crash(const struct fixture *fixture, const char *file, int64_t generation)
{
    char name[128];
    char crashed[128];
    snprintf(crashed, sizeof(crashed), "%s/crashed", fixture->dir);
    copy_file(file, crashed);
    snprintf(name, sizeof(name), "%s-wal", file);
    snprintf(crashed, sizeof(crashed), "%s/crashed-wal", fixture->dir);
    copy_file(name, crashed);
    snprintf(crashed, sizeof(crashed), "%s/crashed", fixture->dir);
    assert_int_equal(foreign(crashed, "SELECT generation FROM resource_providers"), generation);
    struct buf out = {0};
    foreign_rows(crashed, "PRAGMA integrity_check", &out);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, "ok\n");
    buf_free(&out);
}

static void test_taken_away_between_commits(void **state)
{
    struct fixture *fixture = *state;
    for (int what = 1; what <= (WAL | INDEX); what++) {
        struct store *store = open_first(fixture);
        assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
        for (int64_t i = 1; i < 4; i++) {
            take_away(fixture, what);
            assert_int_equal(try_commit(fixture, store, i), STORE_OK);
            expect_after_crash(fixture, fixture->path, i + 1);
            assert_int_equal(try_commit(fixture, store, i + 1), STORE_OK);
            assert_int_equal(foreign(fixture->path, "UPDATE resource_providers SET generation ="
                                                    " generation - 1; SELECT 1"),
                             1);
        }
        store_close(store);
        expect_after_crash(fixture, fixture->path, 4);
        assert_int_equal(remove(fixture->path), 0);
    }
}

static void checkpoint(struct store *store)
{
    assert_int_equal(sqlite3_wal_checkpoint_v2(store->writer.handle, "main",
                                               SQLITE_CHECKPOINT_PASSIVE, NULL, NULL),
                     SQLITE_OK);
}

/* Nobody asks for anything: the upkeep sees it. */
static void test_taken_away_at_rest(void **state)
{
    struct fixture *fixture = *state;
    for (int what = 1; what <= (WAL | INDEX); what++) {
        struct store *store = open_first(fixture);
        assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
        take_away(fixture, what);
        store->file_checked_at_us = 0; /* 100 ms ago */
        store_upkeep(store);
        expect_after_crash(fixture, fixture->path, 1);
        expect_begin(fixture, store, STORE_BEGIN_RELOAD);
        store_close(store);
        assert_int_equal(remove(fixture->path), 0);
    }
}

/* The WAL lies elsewhere, and a link to it in its place: SQLite follows none there. */
static void test_a_link_in_its_place(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_first(fixture);
    char name[128];
    char elsewhere[128];
    name_of(fixture, "-wal", name);
    name_of(fixture, "-elsewhere", elsewhere);
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    assert_int_equal(rename(name, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, name), 0);
    store->file_checked_at_us = 0; /* 100 ms ago */
    store_upkeep(store);
    unlink(name); /* as an operator would after a crash */
    expect_after_crash(fixture, fixture->path, 1);
    expect_begin(fixture, store, STORE_BEGIN_RELOAD);
    assert_int_equal(try_commit(fixture, store, 1), STORE_OK);
    expect_after_crash(fixture, fixture->path, 2);
    store_close(store);
    unlink(elsewhere);
}

/* A copy from before the last commits takes the place of the WAL: it is not played into the file,
 * whether or not that had everything already. */
static void test_an_older_copy_in_its_place(void **state)
{
    struct fixture *fixture = *state;
    char name[128];
    char older[128];
    name_of(fixture, "-wal", name);
    name_of(fixture, "-older", older);
    for (int is_copied = 0; is_copied < 2; is_copied++) {
        struct store *store = open_first(fixture);
        for (int64_t i = 0; i < 8; i += 4) {
            assert_int_equal(try_commit(fixture, store, i), STORE_OK);
            copy_file(name, older);
            assert_int_equal(try_commit(fixture, store, i + 1), STORE_OK);
            if (is_copied)
                checkpoint(store);
            assert_int_equal(rename(older, name), 0);
            if (i == 0) {
                store->file_checked_at_us = 0; /* 100 ms ago */
                store_upkeep(store);
                expect_after_crash(fixture, fixture->path, i + 2);
            }
            assert_int_equal(try_commit(fixture, store, i + 2), STORE_OK);
            expect_after_crash(fixture, fixture->path, i + 3);
            assert_int_equal(try_commit(fixture, store, i + 3), STORE_OK);
        }
        store_close(store);
        expect_after_crash(fixture, fixture->path, 8);
        assert_int_equal(remove(fixture->path), 0);
    }
}

/* Somebody empties the WAL, or takes its last byte: what it had is lost, but nothing is
 * acknowledged behind the gap. */
static void test_cut_off(void **state)
{
    struct fixture *fixture = *state;
    char name[128];
    name_of(fixture, "-wal", name);
    for (int how = 0; how < 4; how++) {
        bool is_emptied = how % 2 == 0;
        bool is_in_transaction = how / 2 == 0;
        struct store *store = open_first(fixture);
        struct change_list list = changes_of(fixture);
        struct store_stamp stamp;
        bool stranger;
        checkpoint(store);
        assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
        assert_true(sentinel_read(store->sentinel, &stamp));
        off_t missing = is_in_transaction ? (off_t)sentinel_stamp_frame_bytes(&stamp) : 1;
        off_t left = is_emptied ? 0 : (off_t)sentinel_stamp_wal_bytes(&stamp) - missing;
        add_generation(&list, 1, 1, 2);
        if (is_in_transaction) {
            begin_into(fixture, store, NULL);
            assert_int_equal(store_apply(store, &list, &fixture->err), STORE_OK);
            assert_int_equal(truncate(name, left), 0);
            assert_int_equal(store_commit(store, &stamp, &stranger, &fixture->err), STORE_UNKNOWN);
        } else {
            assert_int_equal(truncate(name, left), 0);
        }
        fixture->err = (struct err){.arena = fixture->arena};
        expect_begin(fixture, store, STORE_BEGIN_RELOAD);
        expect_after_crash(fixture, fixture->path, 0);
        for (int64_t i = 0; i < 3; i++) {
            assert_int_equal(try_commit(fixture, store, i), STORE_OK);
            expect_after_crash(fixture, fixture->path, i + 1);
        }
        store_close(store);
        assert_int_equal(remove(fixture->path), 0);
    }
}

static void test_taken_away_in_a_transaction(void **state)
{
    struct fixture *fixture = *state;
    for (int what = 1; what <= (WAL | INDEX); what++) {
        struct store *store = open_first(fixture);
        struct change_list list = changes_of(fixture);
        struct store_stamp stamp;
        bool stranger;
        add_generation(&list, 1, 0, 1);
        begin_into(fixture, store, NULL);
        assert_int_equal(store_apply(store, &list, &fixture->err), STORE_OK);
        take_away(fixture, what);
        assert_int_equal(store_commit(store, &stamp, &stranger, &fixture->err), STORE_OK);
        expect_after_crash(fixture, fixture->path, 1);
        assert_int_equal(try_commit(fixture, store, 1), STORE_OK);
        expect_after_crash(fixture, fixture->path, 2);
        store_close(store);
        assert_int_equal(remove(fixture->path), 0);
    }
}

/* A shell opens the file meanwhile, reads and goes, or stays. */
static void test_others_come_meanwhile(void **state)
{
    struct fixture *fixture = *state;
    for (int what = 1; what <= (WAL | INDEX); what++) {
        for (int stays = 0; stays < 2; stays++) {
            struct store *store = open_first(fixture);
            assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
            take_away(fixture, what);
            sqlite3 *shell;
            assert_int_equal(sqlite3_open_v2(fixture->path, &shell, SQLITE_OPEN_READWRITE, "unix"),
                             SQLITE_OK);
            sqlite3_exec(shell, "SELECT count(*) FROM traits", NULL, NULL, NULL);
            if (!stays)
                sqlite3_close(shell);
            assert_int_equal(try_commit(fixture, store, 1), STORE_OK);
            expect_after_crash(fixture, fixture->path, 2);
            if (stays)
                sqlite3_close(shell);
            assert_int_equal(try_commit(fixture, store, 2), STORE_OK);
            expect_after_crash(fixture, fixture->path, 3);
            store_close(store);
            assert_int_equal(remove(fixture->path), 0);
        }
    }
}

/* Somebody reads an old state of the WAL that was taken away: nothing more is acknowledged until
 * all can be copied. */
static void test_a_reader_in_the_way(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_first(fixture);
    sqlite3 *reader;
    assert_int_equal(sqlite3_open(fixture->path, &reader), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM traits", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    take_away(fixture, WAL);
    for (int i = 0; i < 3; i++) {
        fixture->err = (struct err){.arena = fixture->arena};
        assert_int_equal(try_commit(fixture, store, 1), STORE_FAILED);
        assert_int_equal(fixture->err.status, 503);
        usleep(25000);
    }
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    usleep(25000);
    assert_int_equal(try_commit(fixture, store, 1), STORE_OK);
    expect_after_crash(fixture, fixture->path, 2);
    store_close(store);
}

/* Another process with the same files open, which notices by itself. */
static void test_two_processes(void **state)
{
    struct fixture *fixture = *state;
    for (int what = 1; what <= (WAL | INDEX); what++) {
        int to_child[2];
        int to_parent[2];
        store_close(open_first(fixture));
        assert_int_equal(pipe(to_child) + pipe(to_parent), 0);
        pid_t child = fork();
        if (child == 0) {
            close(to_child[1]); /* so that it ends with this process */
            alarm(60);
            struct store *store = open_synced(fixture);
            int64_t from;
            while (read(to_child[0], &from, sizeof(from)) == sizeof(from)) {
                enum store_result result = try_commit(fixture, store, from);
                if (write(to_parent[1], &result, sizeof(result)) != sizeof(result))
                    break;
            }
            _exit(0);
        }
        close(to_child[0]);
        struct store *store = open_synced(fixture);
        enum store_result result;
        for (int64_t i = 0; i < 12; i += 2) {
            if (i % 4 == 2)
                take_away(fixture, what);
            assert_int_equal(try_commit(fixture, store, i), STORE_OK);
            expect_after_crash(fixture, fixture->path, i + 1);
            int64_t from = i + 1;
            assert_int_equal(write(to_child[1], &from, sizeof(from)), sizeof(from));
            assert_int_equal(read(to_parent[0], &result, sizeof(result)), sizeof(result));
            assert_int_equal(result, STORE_OK);
            expect_after_crash(fixture, fixture->path, i + 2);
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

/* The file is moved away: it has everything, without the WAL that stayed behind. */
static void test_file_moved(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_first(fixture);
    char moved[128];
    name_of(fixture, ".moved", moved);
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    assert_int_equal(rename(fixture->path, moved), 0);
    store->file_checked_at_us = 0;
    store_upkeep(store);
    expect_after_crash(fixture, moved, 1);
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(try_commit(fixture, store, 1), STORE_FAILED);
    assert_int_equal(rename(moved, fixture->path), 0);
    assert_int_equal(try_commit(fixture, store, 1), STORE_OK);
    expect_after_crash(fixture, fixture->path, 2);
    store_close(store);
}

/* Both are taken away, and somebody has written before it was seen: what stands in the file now is
 * kept, and whole. */
static void test_somebody_else_has_gone_on(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_first(fixture);
    checkpoint(store);
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    take_away(fixture, WAL | INDEX);
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
    assert_int_equal(begin_into(fixture, store, &out), STORE_BEGIN_RELOAD);
    struct store_stamp stamp;
    store_rollback(store, &stamp);
    buf_append_char(&out, '\0');
    assert_non_null(strstr(out.data, " b parent=0 root=1 gen=0)"));
    buf_free(&out);
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    expect_after_crash(fixture, fixture->path, 1);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_taken_away_between_commits, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_taken_away_at_rest, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_link_in_its_place, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_an_older_copy_in_its_place, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_cut_off, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_taken_away_in_a_transaction, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_others_come_meanwhile, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_reader_in_the_way, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_two_processes, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_file_moved, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_somebody_else_has_gone_on, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
