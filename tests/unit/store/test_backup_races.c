/* A backup while other processes write to the database, replace the file at its name, or change the
 * files beside it. */
#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/backup.h"

/* What a callback does when it is first called. */
struct deed {
    struct fixture *fixture;
    const char *script; /* in the fixture's directory; NULL: none */
    const char *sql;    /* NULL: none */
    unsigned looks;
    unsigned percent;
};

static bool watch(void *cls, const char *what, unsigned percent)
{
    struct deed *deed = cls;
    if (deed->looks++ == 0 && deed->script != NULL)
        fixture_shell(deed->fixture, deed->script);
    if (deed->looks == 1 && deed->sql != NULL)
        foreign(deed->fixture->path, deed->sql);
    if (strcmp(what, "copying") == 0) {
        assert_in_range(percent, deed->percent, 100);
        deed->percent = percent;
    }
    return true;
}

static bool make(const struct deed *wanted, const char *file, bool overwrite)
{
    struct deed deed = *wanted;
    struct fixture *fixture = deed.fixture;
    struct backup_facts facts;
    const struct backup_watch watching = {watch, &deed};
    fixture->err = (struct err){.arena = fixture->arena};
    return backup_make(slice_of(fixture->url), file, overwrite, &watching, &facts, &fixture->err);
}

static void refuse(const struct deed *deed, const char *file, bool overwrite, const char *part)
{
    assert_false(make(deed, file, overwrite));
    struct slice message = deed->fixture->err.message;
    if (memmem(message.data, message.len, part, strlen(part)) == NULL)
        fail_msg("not '%s': %.*s", part, SLICE_ARG(message));
}

/* More pages than are copied at once. */
static void prepare(struct fixture *fixture)
{
    store_close(open_seeded(fixture, NULL));
    foreign(fixture->path, "CREATE TABLE ballast (x); INSERT INTO ballast VALUES "
                           "(zeroblob(20000000))");
}

static void test_what_is_committed_meanwhile_is_not_copied(void **state)
{
    struct fixture *fixture = *state;
    const char *copy = fixture_file(fixture, "copy");
    prepare(fixture);
    struct deed deed = {.fixture = fixture, .sql = "DELETE FROM allocations"};
    assert_true(make(&deed, copy, false));
    assert_int_equal(foreign(copy, "SELECT count(*) FROM allocations"), 1);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM allocations"), 0);
}

static void test_a_name_that_is_taken_meanwhile(void **state)
{
    struct fixture *fixture = *state;
    const char *copy = fixture_file(fixture, "copy");
    struct stat file;
    prepare(fixture);
    struct deed deed = {.fixture = fixture, .script = "echo mine > copy"};
    refuse(&deed, copy, false, "cannot be created: File exists");
    assert_int_equal(stat(copy, &file), 0);
    assert_int_equal(file.st_size, 5);
    assert_int_equal(access(fixture_file(fixture, "copy.partial"), F_OK), -1);
    assert_true(make(&deed, copy, true));
    assert_int_equal(stat(copy, &file), 0);
    assert_true(file.st_size > 20000000);
}

static void test_what_stands_beside_the_name(void **state)
{
    struct fixture *fixture = *state;
    const char *copy = fixture_file(fixture, "copy");
    const struct deed deed = {.fixture = fixture};
    prepare(fixture);
    fixture_shell(fixture, "echo x > copy-journal");
    refuse(&deed, copy, false, "copy-journal' exists");
    fixture_shell(fixture, "rm copy-journal; mkfifo copy-wal");
    refuse(&deed, copy, false, "copy-wal' exists");
    /* Without contents, it belongs to no database. */
    fixture_shell(fixture, "rm copy-wal; : > copy-wal; : > copy-journal");
    assert_true(make(&deed, copy, false));
}

static void test_names_that_lead_to_no_file(void **state)
{
    struct fixture *fixture = *state;
    static const char *const names[] = {"", ".", "..", "there/", "there/.", "there/.."};
    const struct deed deed = {.fixture = fixture};
    prepare(fixture);
    fixture_shell(fixture, "mkdir there");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        refuse(&deed, fixture_file(fixture, names[i]), true, "does not name a file");
    snprintf(fixture->url, sizeof(fixture->url), "sqlite://");
    refuse(&deed, fixture_file(fixture, "copy"), false, "in memory");
}

/* Locks belong to open files, so that this has the same effect as another process that has it. */
static void test_a_partial_file_that_is_being_written(void **state)
{
    struct fixture *fixture = *state;
    const char *copy = fixture_file(fixture, "copy");
    const char *partial = fixture_file(fixture, "copy.partial");
    const struct deed deed = {.fixture = fixture};
    struct stat file;
    prepare(fixture);
    int fd = open(partial, O_RDWR | O_CREAT, 0600);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(write(fd, "x", 1), 1);
    refuse(&deed, copy, false, "another process is writing");
    assert_int_equal(stat(partial, &file), 0);
    assert_int_equal(file.st_size, 1);
    close(fd);
    /* A file that another user owns is not written to: that user could read the copy. */
    if (geteuid() == 0)
        assert_int_equal(chown(partial, 65534, 65533), 0);
    assert_true(make(&deed, copy, false));
    assert_int_equal(stat(copy, &file), 0);
    assert_int_equal(file.st_uid, geteuid());
}

static void test_a_file_that_is_in_use_is_not_replaced(void **state)
{
    struct fixture *fixture = *state;
    const char *copy = fixture_file(fixture, "copy");
    const struct deed deed = {.fixture = fixture};
    int opened[2];
    char byte;
    prepare(fixture);
    assert_int_equal(pipe(opened), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool ok = open(copy, O_RDWR | O_CREAT, 0600) >= 0 && write(opened[1], "x", 1) == 1;
        while (ok)
            pause();
        _exit(1);
    }
    assert_int_equal(read(opened[0], &byte, 1), 1);
    refuse(&deed, copy, true, "is in use by process");
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(opened[0]);
    close(opened[1]);
    assert_true(make(&deed, copy, true));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_committed_meanwhile_is_not_copied),
        TEST(test_a_name_that_is_taken_meanwhile),
        TEST(test_what_stands_beside_the_name),
        TEST(test_names_that_lead_to_no_file),
        TEST(test_a_partial_file_that_is_being_written),
        TEST(test_a_file_that_is_in_use_is_not_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
