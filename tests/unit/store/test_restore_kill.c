/* A restore that is killed before each of its system calls that change anything: it leaves either
 * the old database, with the contents of its WAL, or the new one. The child is traced, and stopped
 * by a filter of system calls; where that is not allowed, nothing is tested. */
#include "fixture.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/backup.h"

enum { STOPS_MOST = 5000, CANNOT = 3, REFUSED = 4 };

static const unsigned changing[] = {
#ifdef SYS_rename
    SYS_link,   SYS_unlink,   SYS_rename,
#endif
    SYS_linkat, SYS_unlinkat, SYS_renameat2, SYS_fchmod, SYS_fchown,
    SYS_write,  SYS_pwrite64, SYS_ftruncate, SYS_fsync,  SYS_fdatasync,
};
enum { CHANGING_COUNT = sizeof(changing) / sizeof(changing[0]) };

static bool filter_calls(void)
{
    struct sock_filter filter[2 * CHANGING_COUNT + 2];
    unsigned short n = 0;
    filter[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < CHANGING_COUNT; i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, changing[i], 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {n, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool go_on(void *cls, const char *what, unsigned percent)
{
    (void)cls;
    (void)what;
    (void)percent;
    return true;
}

static void copy_file(const struct fixture *fixture, const char *from, const char *to)
{
    char command[512];
    snprintf(command, sizeof(command), "cp %s/%s %s/%s", fixture->dir, from, fixture->dir, to);
    assert_int_equal(system(command), 0);
}

/* The traced child. */
static void restore(const struct fixture *fixture, bool keep)
{
    const struct backup_watch watch = {go_on, NULL};
    struct restore_result result;
    struct err err = {.arena = arena_create()};
    char copy[160];
    snprintf(copy, sizeof(copy), "%s/copy", fixture->dir);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(CANNOT);
    raise(SIGSTOP);
    if (!filter_calls())
        _exit(CANNOT);
    _exit(backup_restore(slice_of(fixture->url), copy, keep, &watch, &result, &err) ? 0 : REFUSED);
}

enum outcome { ENDED, KILLED, NOT_TRACED };

/* Kills it at the stop with that number. */
static enum outcome run(const struct fixture *fixture, bool keep, int stop)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        restore(fixture, keep);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSTOPPED(status))
        assert_int_equal(
            ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL), 0);
    for (int i = 0; WIFSTOPPED(status) && i <= stop; i++) {
        assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    if (WIFEXITED(status)) {
        assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == CANNOT);
        return WEXITSTATUS(status) == 0 ? ENDED : NOT_TRACED;
    }
    assert_true(WIFSTOPPED(status));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    return KILLED;
}

/* The old database with commits in its WAL, and a backup with none of its rows but more others. */
static void prepare(struct fixture *fixture)
{
    const struct backup_watch watch = {go_on, NULL};
    struct backup_facts facts;
    char copy[160];
    store_close(open_seeded(fixture, NULL));
    foreign(fixture->path, "INSERT INTO traits (id, name) VALUES (9000, 'CUSTOM_NEW')");
    snprintf(copy, sizeof(copy), "%s/copy", fixture->dir);
    assert_true(backup_make(slice_of(fixture->url), copy, false, &watch, &facts, &fixture->err));
    foreign(fixture->path, "DELETE FROM traits WHERE id = 9000");
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    add_catalog(&list, CHANGE_TRAIT_INSERT, 9001, "CUSTOM_OLD");
    commit_changes(fixture, store, &list);
    /* As a crash leaves it. */
    copy_file(fixture, "db", "old");
    copy_file(fixture, "db-wal", "old-wal");
    copy_file(fixture, "db-shm", "old-shm");
    store_close(store);
}

static void put_old(const struct fixture *fixture)
{
    char command[256];
    snprintf(command, sizeof(command), "rm -f %s/db*", fixture->dir);
    assert_int_equal(system(command), 0);
    copy_file(fixture, "old", "db");
    copy_file(fixture, "old-wal", "db-wal");
    copy_file(fixture, "old-shm", "db-shm");
}

static bool is_new(const struct fixture *fixture)
{
    long long old = foreign(fixture->path, "SELECT count(*) FROM traits WHERE name = 'CUSTOM_OLD'");
    long long new = foreign(fixture->path, "SELECT count(*) FROM traits WHERE name = 'CUSTOM_NEW'");
    assert_int_equal(old + new, 1);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM pragma_integrity_check"
                                            " WHERE integrity_check = 'ok'"),
                     1);
    return new == 1;
}

static void kill_at_each(struct fixture *fixture, bool keep)
{
    unsigned olds = 0;
    unsigned news = 0;
    enum outcome outcome = KILLED;
    for (int stop = 0; outcome == KILLED && stop < STOPS_MOST; stop++) {
        put_old(fixture);
        outcome = run(fixture, keep, stop);
        if (outcome == NOT_TRACED) {
            print_message("skipped: children cannot be traced here\n");
            skip();
        }
        bool now_new = is_new(fixture);
        /* Once it is the new one, it stays. */
        assert_true(now_new || news == 0);
        now_new ? news++ : olds++;
    }
    assert_int_equal(outcome, ENDED);
    print_message("%u times the old one, %u times the new one\n", olds, news);
    assert_true(olds > 20 && news > 2);
}

static void test_old_or_new(void **state)
{
    struct fixture *fixture = *state;
    prepare(fixture);
    kill_at_each(fixture, true);
}

static void test_old_or_new_without_a_kept_one(void **state)
{
    struct fixture *fixture = *state;
    prepare(fixture);
    kill_at_each(fixture, false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_old_or_new),
        TEST(test_old_or_new_without_a_kept_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
