/* Copies and restores that are refused for what they are given, interrupted, or find something in
 * their way: the database stays as it was. */
#include "fixture.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/backup.h"

/* Goes on except at the step of that name; NULL: always. */
static bool go_on(void *cls, const char *what, unsigned percent)
{
    const char *last = cls;
    assert_true(percent <= 100);
    return last == NULL || strcmp(what, last) != 0;
}

static void expect_error(struct fixture *fixture, bool ok, const char *text)
{
    struct slice message = fixture->err.message;
    assert_false(ok);
    assert_int_equal(fixture->err.status, 503);
    if (memmem(message.data, message.len, text, strlen(text)) == NULL)
        fail_msg("%.*s", SLICE_ARG(message));
    assert_null(memchr(message.data, '\n', message.len));
    fixture->err = (struct err){.arena = fixture->arena};
}

static void make(struct fixture *fixture, const char *file)
{
    const struct backup_watch watch = {go_on, NULL};
    struct backup_facts facts;
    assert_true(backup_make(slice_of(fixture->url), file, false, &watch, &facts, &fixture->err));
}

static void expect_restore(struct fixture *fixture, const char *url, const char *file,
                           const char *last, const char *text)
{
    const struct backup_watch watch = {go_on, (void *)(uintptr_t)last};
    struct restore_result result;
    expect_error(fixture,
                 backup_restore(slice_of(url), file, false, &watch, &result, &fixture->err), text);
    assert_int_not_equal(access(fixture_file(fixture, "db.restoring"), F_OK), 0);
}

static void expect_same(struct fixture *fixture)
{
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM allocations"), 0);
}

/* A copy whose database has lost its allocation since. */
static const char *prepare(struct fixture *fixture)
{
    const char *copy = fixture_file(fixture, "copy");
    store_close(open_seeded(fixture, NULL));
    make(fixture, copy);
    foreign(fixture->path, "DELETE FROM allocations");
    return copy;
}

static void test_no_such_place(void **state)
{
    struct fixture *fixture = *state;
    const struct backup_watch watch = {go_on, NULL};
    struct backup_facts facts;
    static char url[PATH_MAX + 100] = "sqlite:////";
    char other[128];
    const char *copy = prepare(fixture);
    memset(url + strlen(url), 'x', PATH_MAX);
    expect_restore(fixture, "mysql://host/placement", copy, NULL, "mysql");
    expect_restore(fixture, "sqlite://", copy, NULL, "the database is in memory");
    expect_restore(fixture, url, copy, NULL, "the path of the database is too long");
    expect_error(fixture,
                 backup_make(SLICE_LIT("sqlite://"), fixture_file(fixture, "new"), false, &watch,
                             &facts, &fixture->err),
                 "the database is in memory: there is no file to back up");
    snprintf(other, sizeof(other), "sqlite:///%s/fifo", fixture->dir);
    assert_int_equal(mkfifo(fixture_file(fixture, "fifo"), 0600), 0);
    expect_restore(fixture, other, copy, NULL, "is not a regular file");
    expect_restore(fixture, fixture->url, fixture_file(fixture, "missing"), NULL,
                   "cannot be read: No such file or directory");
    expect_same(fixture);
}

static void test_interrupted(void **state)
{
    struct fixture *fixture = *state;
    const char *copy = prepare(fixture);
    expect_restore(fixture, fixture->url, copy, "copying", "interrupted");
    foreign(copy, "CREATE TABLE ballast (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT"
                  " i + 1 FROM n WHERE i < 200000) INSERT INTO ballast SELECT i FROM n");
    expect_restore(fixture, fixture->url, copy, "checking", "interrupted");
    expect_same(fixture);
}

static void test_in_the_way(void **state)
{
    struct fixture *fixture = *state;
    const char *copy = prepare(fixture);
    const char *wal = fixture_file(fixture, "copy-wal");
    const char *ours = fixture_file(fixture, "db.restoring-wal");
    assert_int_equal(mkdir(wal, 0700), 0);
    expect_restore(fixture, fixture->url, copy, NULL, "copy-wal' is not a regular file");
    assert_int_equal(rmdir(wal), 0);
    FILE *file = fopen(wal, "w");
    assert_non_null(file);
    assert_true(fputs("a WAL", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(mkdir(ours, 0700), 0);
    expect_restore(fixture, fixture->url, copy, NULL, "db.restoring-wal' cannot be written");
    assert_int_equal(rmdir(ours), 0);
    expect_same(fixture);
}

/* The header counts free pages that there are not: SQLite says so in two lines. */
static void test_damage_in_several_lines(void **state)
{
    struct fixture *fixture = *state;
    const char *copy = prepare(fixture);
    FILE *file = fopen(copy, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 36, SEEK_SET), 0);
    assert_int_equal(fwrite("\0\0\0\5", 1, 4, file), 4);
    assert_int_equal(fclose(file), 0);
    expect_restore(fixture, fixture->url, copy, NULL, "is not a usable Placement database: ***");
    expect_same(fixture);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_such_place),
        TEST(test_interrupted),
        TEST(test_in_the_way),
        TEST(test_damage_in_several_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
