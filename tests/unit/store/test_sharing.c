/* Several processes and threads that want the write lock of one file: waiting for it, alternating,
 * dying while holding it. */
#include "fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "await.h"
#include "base/clock.h"
#include "fake_clock.h"

static void test_busy(void **state)
{
    struct fixture *fixture = *state;
    fixture->busy_timeout_ms = 300;
    struct store *store = fixture_open(fixture);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    fake_clock_stop();
    fake_clock_rush(true);
    uint64_t began_us = clock_monotonic_us();
    struct store_stamp stamp;
    bool foreign_write;
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_PROJECT_INSERT, 1, "project");
    assert_int_equal(commit_list(store, &list, &stamp, &foreign_write, &fixture->err),
                     STORE_FAILED);
    assert_int_equal(fixture->err.status, 503);
    assert_in_range(clock_monotonic_us() - began_us, 300000, 302000);
    /* In small steps it is the same in all of them, and reads continue in between. */
    int busy = 0;
    enum store_lock locked;
    fixture->err = (struct err){.arena = fixture->arena};
    began_us = clock_monotonic_us();
    while ((locked = store_lock(store, &fixture->err)) == STORE_LOCK_HELD) {
        assert_false(err_is_set(&fixture->err));
        busy++;
        assert_int_equal(read_into(fixture, store, NULL), STORE_NEWS_NONE);
        assert_true(end_news(store, &stamp));
    }
    assert_in_range(clock_monotonic_us() - began_us, 300000, 302000);
    assert_int_equal(locked, STORE_LOCK_FAILED);
    assert_int_equal(fixture->err.status, 503);
    assert_in_range(busy, 2, 30);
    fake_clock_rush(false);
    fake_clock_run();
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(store_lock(store, &fixture->err), STORE_LOCKED);
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_NONE);
    assert_true(store_end_read(store, &stamp));
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_BUSY);
    store_unlock(store);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    store_close(store);
}

struct writer {
    struct store *store;
    atomic_bool *stop;
    pthread_barrier_t *start; /* both have seen the file, and one of them the other */
    bool locks;
    atomic_int commits;
    int taken;
    int failed;
};

static void *write_in_loop(void *cls)
{
    struct writer *writer = cls;
    struct arena *arena = arena_create();
    while (!*writer->stop) {
        arena_reset(arena);
        struct err err = {.arena = arena};
        struct store_stamp stamp;
        bool foreign_write;
        struct change_list list = {.arena = arena};
        enum store_news begun = writer->locks ? lock_and_read(writer->store, &err)
                                              : store_begin_read(writer->store, &err);
        if (begun == STORE_NEWS_FAILED) {
            writer->failed++;
            continue;
        }
        struct buf out = {0};
        if (begun == STORE_NEWS_RELOAD)
            writer->failed += store_load(writer->store, dump_change, &out, &err) != STORE_OK;
        if (begun == STORE_NEWS_FOLLOW)
            writer->failed +=
                store_follow(writer->store, NULL, dump_change, &out, &err) != STORE_OK;
        buf_free(&out);
        writer->failed += !store_end_read(writer->store, &stamp) && writer->locks;
        add_catalog(&list, CHANGE_PROJECT_INSERT, store_next_id(writer->store, STORE_PROJECTS),
                    arena_printf(arena, "p%p-%d", (void *)writer, writer->commits).data);
        enum store_result result = commit_list(writer->store, &list, &stamp, &foreign_write, &err);
        writer->commits += result == STORE_OK;
        writer->taken += result == STORE_TAKEN;
        writer->failed += result != STORE_OK && result != STORE_TAKEN;
        if (result == STORE_OK && writer->commits == 1)
            pthread_barrier_wait(writer->start);
    }
    arena_destroy(arena);
    return NULL;
}

enum { FEWEST = 300 }; /* commits of each, while both write */

static void share(struct fixture *fixture, bool locks)
{
    atomic_bool stop = false;
    struct writer writers[2];
    pthread_t threads[2];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++)
        writers[i] = (struct writer){
            .store = fixture_open(fixture), .stop = &stop, .start = &start, .locks = locks};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, write_in_loop, &writers[i]);
    AWAIT(writers[0].commits >= FEWEST && writers[1].commits >= FEWEST);
    stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    int sum = writers[0].commits + writers[1].commits;
    print_message("commits of two writers: %d and %d; too late: %d and %d\n", writers[0].commits,
                  writers[1].commits, writers[0].taken, writers[1].taken);
    assert_int_equal(writers[0].failed + writers[1].failed, 0);
    if (locks)
        assert_int_equal(writers[0].taken + writers[1].taken, 0);
    /* About two fifths each if the machine has time for both. On a busy one the sleeper is woken
     * late; without the time that is left free for it, it would get one in a thousand. */
    assert_true(writers[0].commits * 20 >= sum && writers[1].commits * 20 >= sum);
    pthread_barrier_destroy(&start);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM projects"), sum);
    store_close(writers[0].store);
    store_close(writers[1].store);
}

static void test_two_writers_share(void **state)
{
    share(*state, true);
}

/* Each commit is of the state that the writer read: all others come too late, and are planned
 * again. */
static void test_two_writers_without_a_lock(void **state)
{
    share(*state, false);
}

/* The main program, run again as a process that writes until it is killed: as an instance of berth,
 * or as a foreign writer that knows of no log. It prints how far it has come. */
static int write_until_killed(const char *path, bool is_foreign)
{
    struct fixture fixture = {.arena = arena_create(), .busy_timeout_ms = 10000};
    fixture.err.arena = fixture.arena;
    snprintf(fixture.url, sizeof(fixture.url), "sqlite:///%s", path);
    struct store *store = is_foreign ? NULL : fixture_open(&fixture);
    for (long i = 1;; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%d-%ld", (int)getpid(), i);
        if (is_foreign) {
            char sql[128];
            snprintf(sql, sizeof(sql), "INSERT INTO projects (external_id) VALUES ('%s')", name);
            foreign(path, sql);
        } else {
            struct change_list list = changes_of(&fixture);
            struct store_stamp stamp;
            bool other;
            lock_into(&fixture, store, NULL);
            store_end_read(store, &stamp);
            add_catalog(&list, CHANGE_PROJECT_INSERT, store_next_id(store, STORE_PROJECTS), name);
            if (commit_list(store, &list, &stamp, &other, &fixture.err) != STORE_OK)
                return 1;
        }
        if (write(1, &i, sizeof(i)) != (ssize_t)sizeof(i))
            return 1;
    }
}

static pid_t start_writer(const char *path, bool is_foreign, int *acknowledged)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "writer", path, is_foreign ? "foreign" : "berth", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *acknowledged = ends[0];
    return child;
}

struct projects {
    long count;
};

static void count_projects(void *cls, const struct change *change)
{
    struct projects *projects = cls;
    projects->count += change->kind == CHANGE_PROJECT_INSERT;
}

/* The contents of memory, brought up to date as the news require. */
static enum store_news update_projects(struct fixture *fixture, struct store *store,
                                       struct projects *projects)
{
    struct store_stamp stamp;
    enum store_news begun = lock_and_read(store, &fixture->err);
    if (begun == STORE_NEWS_RELOAD) {
        projects->count = 0;
        assert_int_equal(store_load(store, count_projects, projects, &fixture->err), STORE_OK);
    }
    if (begun == STORE_NEWS_FOLLOW)
        assert_int_equal(store_follow(store, NULL, count_projects, projects, &fixture->err),
                         STORE_OK);
    if (begun == STORE_NEWS_FAILED)
        print_error("%.*s\n", SLICE_ARG(fixture->err.message));
    assert_int_not_equal(begun, STORE_NEWS_FAILED);
    end_news(store, &stamp);
    return begun;
}

static void test_killed_writers(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct projects projects = {0};
    int begun[4] = {0};
    update_projects(fixture, store, &projects);
    for (int round = 0; round < 24; round++) {
        int acknowledged;
        bool is_foreign = round % 4 == 3;
        long before = projects.count;
        long last = 0;
        pid_t child = start_writer(fixture->path, is_foreign, &acknowledged);
        assert_int_equal(read(acknowledged, &last, sizeof(last)), sizeof(last));
        for (int i = 0; i < round % 5; i++) {
            assert_int_equal(read(acknowledged, &last, sizeof(last)), sizeof(last));
            begun[update_projects(fixture, store, &projects)]++;
        }
        /* Killed anywhere in a commit: after a varying number of looks beside it. */
        for (int i = 0; i < round * 7 % 11; i++)
            foreign(fixture->path, "SELECT count(*) FROM projects");
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        while (read(acknowledged, &last, sizeof(last)) == (ssize_t)sizeof(last))
            ;
        close(acknowledged);
        begun[update_projects(fixture, store, &projects)]++;
        assert_int_equal(projects.count, foreign(fixture->path, "SELECT count(*) FROM projects"));
        assert_true(projects.count - before >= last);
    }
    assert_true(begun[STORE_NEWS_FOLLOW] > 0 && begun[STORE_NEWS_RELOAD] > 0);
    store_close(store);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return write_until_killed(argv[1], argv[2][0] == 'f');
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_busy, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_killed_writers, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_two_writers_share, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_two_writers_without_a_lock, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
