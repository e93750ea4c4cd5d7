/* Copies of the database: their contents, refusals that change nothing, and a file that is replaced
 * while another process waits for its lock. */
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "await.h"
#include "fake_clock.h"
#include "store/backup.h"
#include "store/sqlite/db.h"

static bool watch_all(void *cls, const char *what, unsigned percent)
{
    unsigned *looks = cls;
    assert_non_null(what);
    assert_true(percent <= 100);
    (*looks)++;
    return true;
}

static bool watch_none(void *cls, const char *what, unsigned percent)
{
    (void)cls;
    (void)what;
    (void)percent;
    return false;
}

static unsigned looks;
static const struct backup_watch watch = {watch_all, &looks};

/* In the fixture's arena. */
static bool make(struct fixture *fixture, const char *file, bool overwrite)
{
    struct backup_facts facts;
    fixture->err = (struct err){.arena = fixture->arena};
    bool ok = backup_make(slice_of(fixture->url), file, overwrite, &watch, &facts, &fixture->err);
    assert_int_equal(ok, !err_is_set(&fixture->err));
    if (ok) {
        assert_string_equal(facts.revision, "a082b8bb98d0");
        assert_true(facts.bytes > 4096);
    }
    return ok;
}

static bool restore(struct fixture *fixture, const char *file, bool keep,
                    struct restore_result *result)
{
    struct restore_result ignored;
    fixture->err = (struct err){.arena = fixture->arena};
    bool ok = backup_restore(slice_of(fixture->url), file, keep, &watch,
                             result == NULL ? &ignored : result, &fixture->err);
    assert_int_equal(ok, !err_is_set(&fixture->err));
    return ok;
}

static void expect_message(const struct fixture *fixture, const char *part)
{
    struct slice message = fixture->err.message;
    if (memmem(message.data, message.len, part, strlen(part)) == NULL)
        fail_msg("not '%s': %.*s", part, SLICE_ARG(message));
    assert_null(memchr(message.data, '\n', message.len));
}

static bool exists(const char *path)
{
    struct stat file;
    return lstat(path, &file) == 0;
}

static void write_file(const char *path, const char *text, size_t len)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void test_copy_is_the_served_state(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    const char *copy = fixture_file(fixture, "copy");
    struct stat file;
    assert_true(make(fixture, copy, false));
    assert_int_equal(stat(copy, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0600);
    assert_false(exists(fixture_file(fixture, "copy.partial")));
    assert_false(exists(fixture_file(fixture, "copy.partial-journal")));
    assert_int_equal(foreign(copy, "SELECT count(*) FROM resource_providers"), 2);
    assert_int_equal(foreign(copy, "SELECT sum(used) FROM allocations"), 3);

    assert_false(make(fixture, copy, false));
    expect_message(fixture, "exists already");
    foreign(fixture->path, "DELETE FROM allocations");
    assert_true(make(fixture, copy, true));
    assert_int_equal(foreign(copy, "SELECT count(*) FROM allocations"), 0);
    store_close(store);
}

static void test_places_that_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    const char *other = fixture_file(fixture, "other");
    static const char *const own[] = {"db", "db-wal", "db-shm", "db-journal"};
    for (size_t i = 0; i < 4; i++) {
        assert_false(make(fixture, fixture_file(fixture, own[i]), true));
        expect_message(fixture, "belongs to the database itself");
    }
    assert_int_equal(link(fixture->path, other), 0);
    assert_false(make(fixture, other, true));
    expect_message(fixture, "belongs to the database itself");
    unlink(other);
    assert_int_equal(symlink("nowhere", other), 0);
    assert_false(make(fixture, other, false));
    assert_false(make(fixture, other, true));
    expect_message(fixture, "is not a regular file");
    unlink(other);
    write_file(fixture_file(fixture, "other-wal"), "x", 1);
    assert_false(make(fixture, other, true));
    expect_message(fixture, "remove it");
    assert_false(exists(other));
    assert_false(make(fixture, fixture_file(fixture, "missing/copy"), false));
    expect_message(fixture, "No such file or directory");
    assert_false(make(fixture, fixture->dir, true));
    assert_false(make(fixture, "", false));
    store_close(store);
}

static void test_an_interrupted_copy_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct backup_facts facts;
    const struct backup_watch stop = {watch_none, NULL};
    store_close(open_seeded(fixture, NULL));
    /* More pages than are copied at once. */
    foreign(fixture->path, "CREATE TABLE ballast (x)");
    foreign(fixture->path, "INSERT INTO ballast VALUES (zeroblob(20000000))");
    assert_false(backup_make(slice_of(fixture->url), fixture_file(fixture, "copy"), false, &stop,
                             &facts, &fixture->err));
    expect_message(fixture, "interrupted");
    assert_false(exists(fixture_file(fixture, "copy")));
    assert_false(exists(fixture_file(fixture, "copy.partial")));
}

static void test_a_left_partial_file_is_used_again(void **state)
{
    struct fixture *fixture = *state;
    store_close(open_seeded(fixture, NULL));
    write_file(fixture_file(fixture, "copy.partial"), "rest", 4);
    write_file(fixture_file(fixture, "copy.partial-wal"), "rest", 4);
    assert_true(make(fixture, fixture_file(fixture, "copy"), false));
    assert_false(exists(fixture_file(fixture, "copy.partial")));
    assert_false(exists(fixture_file(fixture, "copy.partial-wal")));

    /* Unless it is a link: its target stays. */
    write_file(fixture_file(fixture, "precious"), "rest", 4);
    assert_int_equal(link(fixture_file(fixture, "precious"), fixture_file(fixture, "two.partial")),
                     0);
    assert_true(make(fixture, fixture_file(fixture, "two"), false));
    assert_int_equal(symlink("precious", fixture_file(fixture, "three.partial")), 0);
    assert_false(make(fixture, fixture_file(fixture, "three"), false));
    struct stat file;
    assert_int_equal(stat(fixture_file(fixture, "precious"), &file), 0);
    assert_int_equal(file.st_size, 4);
}

static void test_the_database_is_replaced_and_kept(void **state)
{
    struct fixture *fixture = *state;
    struct restore_result result;
    struct stat before;
    struct stat after;
    const char *copy = fixture_file(fixture, "copy");
    store_close(open_seeded(fixture, NULL));
    assert_true(make(fixture, copy, false));
    foreign(fixture->path, "DELETE FROM allocations");
    assert_int_equal(chmod(fixture->path, 0664), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(fixture->path, 65534, 65533), 0);
    assert_int_equal(stat(fixture->path, &before), 0);
    assert_true(restore(fixture, copy, true, &result));
    assert_int_equal(result.facts.providers, 2);
    assert_int_equal(stat(fixture->path, &after), 0);
    assert_int_equal(before.st_mode, after.st_mode);
    assert_int_equal(before.st_uid, after.st_uid);
    assert_int_equal(before.st_gid, after.st_gid);
    assert_false(exists(fixture_file(fixture, "db-wal")));
    assert_int_equal(foreign(result.kept, "SELECT count(*) FROM allocations"), 0);
    assert_int_equal(foreign(fixture->path, "SELECT sum(used) FROM allocations"), 3);

    /* And back, without keeping the replaced file; the second file name of the same moment is
     * another one. */
    char first[PATH_MAX];
    snprintf(first, sizeof(first), "%s", result.kept);
    assert_true(restore(fixture, first, false, &result));
    assert_string_equal(result.kept, "");
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM allocations"), 0);
    assert_true(restore(fixture, copy, true, &result));
    assert_true(strcmp(result.kept, first) != 0);

    struct store *store = fixture_open(fixture);
    struct buf out = {0};
    dump_store(fixture, store, &out);
    assert_true(out.len > 0);
    buf_free(&out);
    store_close(store);
}

static void test_what_is_no_backup_is_refused(void **state)
{
    struct fixture *fixture = *state;
    char bytes[5000];
    const char *copy = fixture_file(fixture, "copy");
    const char *bad = fixture_file(fixture, "bad");
    store_close(open_seeded(fixture, NULL));
    assert_true(make(fixture, copy, false));
    FILE *file = fopen(copy, "r");
    assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
    fclose(file);

    write_file(bad, "", 0);
    assert_false(restore(fixture, bad, true, NULL));
    expect_message(fixture, "it is empty");
    write_file(bad, "a text, and a long one", 22);
    assert_false(restore(fixture, bad, true, NULL));
    expect_message(fixture, "file is not a database");
    write_file(bad, bytes, sizeof(bytes));
    assert_false(restore(fixture, bad, true, NULL));
    expect_message(fixture, "malformed");
    unlink(bad);
    foreign(bad, "CREATE TABLE t (x)");
    assert_false(restore(fixture, bad, true, NULL));
    expect_message(fixture, "no schema revision");
    foreign(copy, "DROP TABLE traits");
    assert_false(restore(fixture, copy, true, NULL));
    expect_message(fixture, "tables of Placement are missing");
    foreign(copy, "UPDATE alembic_version SET version_num = 'ffffffffffff'");
    assert_false(restore(fixture, copy, true, NULL));
    expect_message(fixture, "ffffffffffff, which this version does not know");
    assert_false(restore(fixture, fixture->path, true, NULL));
    expect_message(fixture, "is the database itself");
    assert_false(restore(fixture, fixture->dir, true, NULL));
    expect_message(fixture, "not a regular file");
    assert_false(exists(fixture_file(fixture, "db.restoring")));
    assert_false(exists(fixture_file(fixture, "db-wal")));
    assert_int_equal(foreign(fixture->path, "SELECT sum(used) FROM allocations"), 3);
}

static void test_a_damaged_or_missing_database_is_replaced(void **state)
{
    struct fixture *fixture = *state;
    struct restore_result result;
    char moved[PATH_MAX];
    const char *copy = fixture_file(fixture, "copy");
    store_close(open_seeded(fixture, NULL));
    assert_true(make(fixture, copy, false));
    write_file(fixture->path, "no database at all", 18);
    write_file(fixture_file(fixture, "db-wal"), "its WAL", 7);
    assert_true(restore(fixture, copy, true, &result));
    assert_false(exists(fixture_file(fixture, "db-wal")));
    snprintf(moved, sizeof(moved), "%.200s-wal", result.kept);
    assert_true(exists(moved));
    assert_int_equal(foreign(fixture->path, "SELECT sum(used) FROM allocations"), 3);

    unlink(fixture->path);
    write_file(fixture_file(fixture, "db-wal"), "its WAL", 7);
    assert_true(restore(fixture, copy, true, &result));
    assert_string_equal(result.kept, "");
    struct stat file;
    assert_int_equal(stat(fixture->path, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0640);
    assert_false(exists(fixture_file(fixture, "db-wal")));
    assert_int_equal(foreign(fixture->path, "SELECT sum(used) FROM allocations"), 3);
}

/* A backup that has its -wal beside it, and a link to it in another directory: SQLite would apply
 * that -wal to the file, wherever the link is. */
static void test_the_wal_is_beside_the_file_that_a_link_leads_to(void **state)
{
    struct fixture *fixture = *state;
    char script[512];
    struct store *store = open_seeded(fixture, NULL);
    snprintf(script, sizeof(script),
             "cd %s && mkdir links && cp db raw && cp db-wal raw-wal && ln -s ../raw links/latest"
             " && echo another > links/latest-wal",
             fixture->dir);
    assert_int_equal(system(script), 0);
    store_close(store);
    foreign(fixture->path, "DELETE FROM allocations");
    assert_true(restore(fixture, fixture_file(fixture, "links/latest"), false, NULL));
    assert_int_equal(foreign(fixture->path, "SELECT sum(used) FROM allocations"), 3);
}

/* Another file takes the name while the first is copied; size and times are the same. The number of
 * the first is free then, and the next file that any process creates may get it: here a process has
 * the first itself open for writing. */
struct replacement {
    const struct fixture *fixture;
    pid_t child;
    int ends[2]; /* the child ends when the second is closed */
};

static bool watch_and_replace(void *cls, const char *what, unsigned percent)
{
    struct replacement *replacement = cls;
    const struct fixture *fixture = replacement->fixture;
    char byte;
    (void)what;
    (void)percent;
    if (replacement->child != 0)
        return true;
    int fd = open(fixture_file(fixture, "copy"), O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pipe2(replacement->ends, O_CLOEXEC), 0);
    replacement->child = fork();
    assert_true(replacement->child >= 0);
    if (replacement->child == 0) {
        close(replacement->ends[1]);
        _exit(read(replacement->ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(fd);
    assert_int_equal(rename(fixture_file(fixture, "twin"), fixture_file(fixture, "copy")), 0);
    return true;
}

static void test_a_backup_that_is_replaced_meanwhile_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct restore_result result;
    char script[512];
    struct replacement replacement = {.fixture = fixture};
    const struct backup_watch replace = {watch_and_replace, &replacement};
    int status;
    store_close(open_seeded(fixture, NULL));
    assert_true(make(fixture, fixture_file(fixture, "copy"), false));
    snprintf(script, sizeof(script), "cd %s && cp -p copy twin", fixture->dir);
    assert_int_equal(system(script), 0);
    fixture->err = (struct err){.arena = fixture->arena};
    assert_false(backup_restore(slice_of(fixture->url), fixture_file(fixture, "copy"), false,
                                &replace, &result, &fixture->err));
    expect_message(fixture, "was changed while it was read");
    close(replacement.ends[0]);
    close(replacement.ends[1]);
    assert_int_equal(waitpid(replacement.child, &status, 0), replacement.child);
    assert_int_equal(status, 0);
    assert_false(exists(fixture_file(fixture, "twin")));
    assert_true(restore(fixture, fixture_file(fixture, "copy"), false, NULL));
}

/* A process whose lock is granted only after another file has taken the name. */
static void *wait_for_lock(void *cls)
{
    struct fixture *fixture = cls;
    const struct db_options options = {.path = fixture->path, .busy_timeout_ms = 5000};
    struct err err = {.arena = arena_create()};
    struct db db;
    bool ok = db_open(&db, &options, &err);
    bool was_moved = db.was_moved;
    if (ok)
        db_close(&db, true);
    arena_destroy(err.arena);
    return !ok && was_moved ? fixture : NULL;
}

static void test_who_waited_does_not_use_the_old_file(void **state)
{
    struct fixture *fixture = *state;
    const struct db_options options = {
        .path = fixture->path, .keep_journal = true, .exclusive = true};
    struct db db;
    pthread_t thread;
    void *result;
    const char *copy = fixture_file(fixture, "copy");
    store_close(open_seeded(fixture, NULL));
    assert_true(make(fixture, copy, false));
    assert_true(db_open(&db, &options, &fixture->err));
    uint64_t sleeps = fake_clock_sleeps();
    fake_clock_stop(); /* however long the rename takes, the wait for the lock goes on */
    assert_int_equal(pthread_create(&thread, NULL, wait_for_lock, fixture), 0);
    AWAIT(fake_clock_sleeps() > sleeps);
    assert_int_equal(rename(copy, fixture->path), 0);
    db_close(&db, true);
    assert_int_equal(pthread_join(thread, &result), 0);
    fake_clock_run();
    assert_ptr_equal(result, fixture);
    assert_int_equal(foreign(fixture->path, "SELECT sum(used) FROM allocations"), 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_copy_is_the_served_state),
        TEST(test_places_that_are_refused),
        TEST(test_an_interrupted_copy_leaves_nothing),
        TEST(test_a_left_partial_file_is_used_again),
        TEST(test_the_database_is_replaced_and_kept),
        TEST(test_what_is_no_backup_is_refused),
        TEST(test_a_damaged_or_missing_database_is_replaced),
        TEST(test_the_wal_is_beside_the_file_that_a_link_leads_to),
        TEST(test_a_backup_that_is_replaced_meanwhile_is_refused),
        TEST(test_who_waited_does_not_use_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
