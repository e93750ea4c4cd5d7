/* A restore while other processes use the database or the backup, or replace the database. It is
 * refused, and nothing is changed. */
#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/backup.h"

/* A process that opens a file when it is told to, and waits to be ended. It is started before the
 * restore, whose own files it would have open otherwise. */
struct holder {
    pid_t pid;
    int to[2];
    int from[2];
};

static void start_holder(struct holder *holder, const char *path, int flags, bool with_lock)
{
    struct flock lock = {.l_type = F_RDLCK, .l_start = 0x40000002, .l_len = 510};
    char byte;
    assert_int_equal(pipe(holder->to) + pipe(holder->from), 0);
    holder->pid = fork();
    assert_true(holder->pid >= 0);
    if (holder->pid > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool ok = read(holder->to[0], &byte, 1) == 1;
    int fd = open(path, flags);
    ok = ok && fd >= 0 && (!with_lock || fcntl(fd, F_SETLK, &lock) == 0);
    ok = write(holder->from[1], ok ? "y" : "n", 1) == 1 && ok;
    while (ok)
        pause();
    _exit(1);
}

static void open_file(struct holder *holder)
{
    char byte;
    assert_int_equal(write(holder->to[1], "x", 1), 1);
    assert_int_equal(read(holder->from[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
}

static void let_go(struct holder *holder)
{
    assert_int_equal(kill(holder->pid, SIGKILL), 0);
    assert_int_equal(waitpid(holder->pid, NULL, 0), holder->pid);
    for (int i = 0; i < 2; i++) {
        close(holder->to[i]);
        close(holder->from[i]);
    }
}

/* What happens at the first look of that step. */
struct deed {
    struct fixture *fixture;
    const char *step;
    void (*act)(struct deed *deed);
    struct holder holder;
    bool is_done;
};

static bool watch(void *cls, const char *what, unsigned percent)
{
    struct deed *deed = cls;
    (void)percent;
    if (deed->act != NULL && !deed->is_done && strcmp(what, deed->step) == 0) {
        deed->is_done = true;
        deed->act(deed);
    }
    return true;
}

static bool restore(struct deed *deed, bool keep, struct restore_result *result)
{
    struct fixture *fixture = deed->fixture;
    const struct backup_watch watching = {watch, deed};
    fixture->err = (struct err){.arena = fixture->arena};
    bool ok = backup_restore(slice_of(fixture->url), fixture_file(fixture, "copy"), keep, &watching,
                             result, &fixture->err);
    assert_true(deed->act == NULL || deed->is_done);
    return ok;
}

static void refuse(struct deed *deed, const char *part)
{
    struct restore_result result;
    assert_false(restore(deed, true, &result));
    struct slice message = deed->fixture->err.message;
    if (memmem(message.data, message.len, part, strlen(part)) == NULL)
        fail_msg("not '%s': %.*s", part, SLICE_ARG(message));
    assert_int_equal(access(fixture_file(deed->fixture, "db.restoring"), F_OK), -1);
    fixture_shell(deed->fixture, "test $(ls | grep -c replaced) = 0");
}

/* The backup has an allocation, the database does not. */
static void prepare(struct fixture *fixture)
{
    const struct backup_watch watching = {watch, &(struct deed){.fixture = fixture}};
    struct backup_facts facts;
    store_close(open_seeded(fixture, NULL));
    assert_true(backup_make(slice_of(fixture->url), fixture_file(fixture, "copy"), false, &watching,
                            &facts, &fixture->err));
    foreign(fixture->path, "DELETE FROM allocations");
}

static bool is_new(const struct fixture *fixture)
{
    return foreign(fixture->path, "SELECT count(*) FROM allocations") == 1;
}

/* As an idle connection without a WAL has it. */
static void test_a_database_that_is_open_without_a_lock(void **state)
{
    struct deed deed = {.fixture = *state};
    prepare(deed.fixture);
    start_holder(&deed.holder, deed.fixture->path, O_RDWR, false);
    open_file(&deed.holder);
    refuse(&deed, "is in use by process");
    let_go(&deed.holder);
    assert_false(is_new(deed.fixture));
}

static void open_held(struct deed *deed)
{
    open_file(&deed->holder);
}

static void test_a_database_that_is_opened_meanwhile(void **state)
{
    struct deed deed = {.fixture = *state, .step = "copying", .act = open_held};
    prepare(deed.fixture);
    start_holder(&deed.holder, deed.fixture->path, O_RDWR, false);
    refuse(&deed, "is in use by process");
    let_go(&deed.holder);
    assert_false(is_new(deed.fixture));
}

static void replace_database(struct deed *deed)
{
    fixture_shell(deed->fixture, "cp db another && mv another db");
}

static void test_a_database_that_is_replaced_meanwhile(void **state)
{
    struct deed deed = {.fixture = *state, .step = "copying", .act = replace_database};
    prepare(deed.fixture);
    refuse(&deed, "was replaced in the meantime");
    assert_false(is_new(deed.fixture));
}

/* A server has opened it since, and has not written yet. */
static void replace_and_open_database(struct deed *deed)
{
    fixture_shell(deed->fixture, "rm -f db-wal && cp db another && mv another db && : > db-wal");
}

static void test_the_wal_of_the_new_database_is_left(void **state)
{
    struct deed deed = {.fixture = *state, .step = "copying", .act = replace_and_open_database};
    prepare(deed.fixture);
    refuse(&deed, "was replaced in the meantime");
    assert_int_equal(access(fixture_file(deed.fixture, "db-wal"), F_OK), 0);
}

static void remove_database(struct deed *deed)
{
    fixture_shell(deed->fixture, "rm db");
}

static void test_a_database_that_is_removed_meanwhile(void **state)
{
    struct deed deed = {.fixture = *state, .step = "copying", .act = remove_database};
    prepare(deed.fixture);
    refuse(&deed, "was replaced in the meantime");
    assert_int_equal(access(deed.fixture->path, F_OK), -1);
}

/* It may be a copy that is still being written, or a database in use. */
static void test_a_backup_that_is_open(void **state)
{
    struct deed deed = {.fixture = *state};
    struct restore_result result;
    const char *copy = fixture_file(deed.fixture, "copy");
    prepare(deed.fixture);
    start_holder(&deed.holder, copy, O_RDWR, false);
    open_file(&deed.holder);
    refuse(&deed, "is open in another process");
    let_go(&deed.holder);
    /* One that may only read it, and has SQLite's lock. */
    start_holder(&deed.holder, copy, O_RDONLY, true);
    open_file(&deed.holder);
    refuse(&deed, "is open in another process");
    let_go(&deed.holder);
    /* One that reads it, such as another copy. */
    start_holder(&deed.holder, copy, O_RDONLY, false);
    open_file(&deed.holder);
    assert_true(restore(&deed, false, &result));
    let_go(&deed.holder);
    assert_true(is_new(deed.fixture));
}

static void test_a_backup_that_is_opened_meanwhile(void **state)
{
    struct deed deed = {.fixture = *state, .step = "copying", .act = open_held};
    prepare(deed.fixture);
    start_holder(&deed.holder, fixture_file(deed.fixture, "copy"), O_RDWR, false);
    refuse(&deed, "is open in another process");
    let_go(&deed.holder);
    assert_false(is_new(deed.fixture));
}

/* A commit that is only in the -wal, as a crash leaves it. */
static void leave_as_crashed(struct fixture *fixture)
{
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, 9000, "CUSTOM_NEW");
    commit_changes(fixture, store, &list);
    fixture_shell(fixture, "mkdir crashed && cp db db-wal db-shm crashed");
    store_close(store);
    fixture_shell(fixture, "rm db* && mv crashed/* .");
}

static void test_a_refused_restore_leaves_the_wal(void **state)
{
    struct deed deed = {.fixture = *state};
    struct fixture *fixture = deed.fixture;
    struct restore_result result;
    prepare(fixture);
    leave_as_crashed(fixture);
    fixture_shell(fixture, "mv copy good && echo bad > copy");
    refuse(&deed, "is not a usable Placement database");
    fixture_shell(fixture, "mkdir seen && cp db db-wal seen && mv good copy");
    assert_int_equal(foreign(fixture_file(fixture, "seen/db"),
                             "SELECT count(*) FROM traits WHERE name = 'CUSTOM_NEW'"),
                     1);

    assert_true(restore(&deed, true, &result));
    assert_int_equal(access(fixture_file(fixture, "db-wal"), F_OK), -1);
    assert_int_equal(access(fixture_file(fixture, "db-shm"), F_OK), -1);
    assert_int_equal(foreign(result.kept, "SELECT count(*) FROM traits WHERE name = 'CUSTOM_NEW'"),
                     1);
    assert_true(is_new(fixture));
}

static void create_as_crashed(struct deed *deed)
{
    fixture_shell(deed->fixture, "mv ready/* .");
}

/* Its last commit is in the -wal. */
static void check_created_meanwhile(struct fixture *fixture, bool keep)
{
    struct deed deed = {.fixture = fixture, .step = "copying", .act = create_as_crashed};
    struct restore_result result;
    prepare(fixture);
    leave_as_crashed(fixture);
    fixture_shell(fixture, "mkdir ready && mv db* ready");
    assert_false(restore(&deed, keep, &result));
    assert_non_null(memmem(fixture->err.message.data, fixture->err.message.len,
                           "was created in the meantime", 27));
    fixture_shell(fixture, "test $(ls | grep -c replaced) = 0");
    assert_int_equal(access(fixture_file(fixture, "db.restoring"), F_OK), -1);
    assert_int_equal(
        foreign(fixture->path, "SELECT count(*) FROM traits WHERE name = 'CUSTOM_NEW'"), 1);
}

static void test_a_database_that_is_created_meanwhile(void **state)
{
    check_created_meanwhile(*state, false);
}

static void test_one_that_is_created_while_the_old_is_to_be_kept(void **state)
{
    check_created_meanwhile(*state, true);
}

static void test_only_the_group_differs(void **state)
{
    struct deed deed = {.fixture = *state};
    struct restore_result result;
    struct stat file;
    if (geteuid() != 0)
        skip();
    prepare(deed.fixture);
    assert_int_equal(chown(deed.fixture->path, 0, 65533), 0);
    assert_true(restore(&deed, false, &result));
    assert_int_equal(stat(deed.fixture->path, &file), 0);
    assert_int_equal(file.st_uid, 0);
    assert_int_equal(file.st_gid, 65533);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_database_that_is_open_without_a_lock),
        TEST(test_a_database_that_is_opened_meanwhile),
        TEST(test_a_database_that_is_replaced_meanwhile),
        TEST(test_the_wal_of_the_new_database_is_left),
        TEST(test_a_database_that_is_removed_meanwhile),
        TEST(test_a_backup_that_is_open),
        TEST(test_a_backup_that_is_opened_meanwhile),
        TEST(test_a_refused_restore_leaves_the_wal),
        TEST(test_a_database_that_is_created_meanwhile),
        TEST(test_one_that_is_created_while_the_old_is_to_be_kept),
        TEST(test_only_the_group_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
