/* Other writers at the file: another store, a stranger, a checkpoint, a lock, another file. */
#include "fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void seed(struct change_list *list)
{
    add_catalog(list, CHANGE_PROJECT_INSERT, 1, "project");
    add_catalog(list, CHANGE_USER_INSERT, 1, "user");
    add_catalog(list, CHANGE_CONSUMER_TYPE_INSERT, 1, "INSTANCE");
    add_catalog(list, CHANGE_CLASS_INSERT, 10000, "CUSTOM_GOLD");
    add_provider(list, 1, 0, 1, UUID_A, "a");
    add_provider(list, 2, 0, 2, UUID_B, "b");
    add_inventory(list, CHANGE_INVENTORY_INSERT, 1, 0, 8);
    add_inventory(list, CHANGE_INVENTORY_INSERT, 2, 0, 8);
    add_consumer(list, CHANGE_CONSUMER_INSERT, 1, UUID_C, 1);
    add_allocation(list, 1, 1, UUID_C, 1, 0, 3);
}

/* Two stores on one file, `first` has written the seed, both have everything. */
static void open_two(struct fixture *fixture, struct store **first, struct store **second)
{
    struct store_stamp stamp;
    struct change_list list = changes_of(fixture);
    *first = fixture_open(fixture);
    *second = fixture_open(fixture);
    seed(&list);
    commit_changes(fixture, *first, &list);
    assert_int_equal(begin_into(fixture, *second, NULL), STORE_BEGIN_RELOAD);
    assert_true(store_rollback(*second, &stamp));
}

static void expect_follow(struct fixture *fixture, struct store *store, const char *text)
{
    struct buf out = {0};
    struct store_stamp stamp;
    assert_int_equal(begin_into(fixture, store, &out), STORE_BEGIN_FOLLOW);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, text);
    buf_free(&out);
    assert_true(store_rollback(store, &stamp));
    assert_true(store_is_current(store, &stamp));
    assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_UNCHANGED);
    assert_true(store_rollback(store, &stamp));
}

static void expect_begin(struct fixture *fixture, struct store *store, enum store_begun begun)
{
    struct store_stamp stamp;
    assert_int_equal(begin_into(fixture, store, NULL), begun);
    assert_true(store_rollback(store, &stamp));
}

static void test_follow_claim(void **state)
{
    struct fixture *fixture = *state;
    struct store *first;
    struct store *second;
    open_two(fixture, &first, &second);
    struct change_list list = changes_of(fixture);
    add_consumer(&list, CHANGE_CONSUMER_INSERT, 2, UUID_D, 1);
    add_allocation(&list, 2, 2, UUID_D, 2, 0, 5);
    add_allocation(&list, 3, 2, UUID_D, 1, 0, 1);
    add_generation(&list, 1, 0, 1);
    add_generation(&list, 2, 0, 1);
    commit_changes(fixture, second, &list);
    expect_follow(fixture, first,
                  "consumer_reset(2 " UUID_D ") 0 0\n"
                  "generation(1 1 1) 1790000000123456 1790000000123458\n"
                  "generation(2 1 1) 1790000000123456 1790000000123458\n"
                  "consumer(2 " UUID_D " 1 1 type=1 gen=1) 1790000000123456 0\n"
                  "allocation(2 2 " UUID_D " 2 0 5) 1790000000123456 0\n"
                  "allocation(3 2 " UUID_D " 1 0 1) 1790000000123456 0\n");
    /* And back, over several batches, of which one undoes the other. */
    list = changes_of(fixture);
    add_allocations_of(&list, 2, UUID_D);
    add_consumer(&list, CHANGE_CONSUMER_DELETE, 2, UUID_D, 0);
    commit_changes(fixture, first, &list);
    list = changes_of(fixture);
    add_inventory(&list, CHANGE_INVENTORY_UPDATE, 1, 0, 10);
    add_link(&list, CHANGE_PROVIDER_TRAIT_INSERT, 1, 5);
    add_generation(&list, 1, 1, 2);
    commit_changes(fixture, first, &list);
    expect_follow(fixture, second,
                  "consumer_reset(2 " UUID_D ") 0 0\n"
                  "provider_reset(1) 0 0\n"
                  "generation(1 2 2) 1790000000123456 1790000000123458\n"
                  "inventory(1 0 10 1 2 3 4 1.5) 1790000000123456 1790000000123459\n"
                  "has_trait(1 5) 1790000000123456 0\n");
    store_close(first);
    store_close(second);
}

static void test_follow_providers_and_catalogs(void **state)
{
    struct fixture *fixture = *state;
    struct store *first;
    struct store *second;
    open_two(fixture, &first, &second);
    struct change_list list = changes_of(fixture);
    /* A new parent (id 3) for b, and a tree that is deleted again. */
    add_catalog(&list, CHANGE_TRAIT_INSERT, 1000, "CUSTOM_A");
    add_catalog(&list, CHANGE_TRAIT_INSERT, 1001, "CUSTOM_B");
    add_catalog(&list, CHANGE_TRAIT_DELETE, 1001, "");
    add_catalog(&list, CHANGE_CLASS_RENAME, 10000, "CUSTOM_TIN");
    add_catalog(&list, CHANGE_AGGREGATE_INSERT, 1, UUID_D);
    add_provider(&list, 3, 0, 3, "33333333-0000-4000-8000-000000000003", "c");
    add_link(&list, CHANGE_PROVIDER_TRAIT_INSERT, 3, 1000);
    add_link(&list, CHANGE_PROVIDER_AGGREGATE_INSERT, 3, 1);
    struct change *update = add(&list, CHANGE_PROVIDER_UPDATE);
    update->provider =
        (struct change_provider){.id = 2, .parent_id = 3, .root_id = 3, .name = SLICE_LIT("moved")};
    commit_changes(fixture, second, &list);
    expect_follow(fixture, first,
                  "class_rename(10000 CUSTOM_TIN) 1790000000123456 1790000000123457\n"
                  "trait(1000 CUSTOM_A) 1790000000123456 0\n"
                  "aggregate(1 " UUID_D ") 1790000000123456 0\n"
                  "provider(3 33333333-0000-4000-8000-000000000003 c parent=0 root=3 gen=0)"
                  " 1790000000123456 0\n"
                  "provider_update(2 " UUID_B " moved parent=3 root=3 gen=0) 1790000000123456 0\n"
                  "generation(2 0 0) 1790000000123456 0\n"
                  "has_trait(3 1000) 1790000000123456 0\n"
                  "in_aggregate(3 1) 1790000000123456 0\n");
    /* Deleted, and its id and uuid used again for another one. */
    list = changes_of(fixture);
    add_link(&list, CHANGE_PROVIDER_TRAIT_DELETE, 3, 1000);
    add_inventory(&list, CHANGE_INVENTORY_DELETE, 2, 0, 0);
    add(&list, CHANGE_PROVIDER_DELETE)->provider.id = 2;
    add_catalog(&list, CHANGE_TRAIT_DELETE, 1000, "");
    add_catalog(&list, CHANGE_CLASS_DELETE, 10000, "");
    add_provider(&list, 2, 1, 1, UUID_B, "again");
    commit_changes(fixture, first, &list);
    expect_follow(fixture, second,
                  "provider_reset(2) 0 0\n"
                  "provider_reset(3) 0 0\n"
                  "provider_delete(2) 0 0\n"
                  "class_delete(10000 ) 0 0\n"
                  "trait_delete(1000 ) 0 0\n"
                  "provider(2 " UUID_B " again parent=1 root=1 gen=0) 1790000000123456 0\n"
                  "generation(3 0 0) 1790000000123456 0\n"
                  "in_aggregate(3 1) 1790000000123456 0\n");
    /* A deletion beside a move is not told in pieces. */
    list = changes_of(fixture);
    update = add(&list, CHANGE_PROVIDER_UPDATE);
    update->provider = (struct change_provider){.id = 1, .root_id = 1, .name = SLICE_LIT("x")};
    add(&list, CHANGE_PROVIDER_DELETE)->provider.id = 2;
    commit_changes(fixture, first, &list);
    expect_begin(fixture, second, STORE_BEGIN_RELOAD);
    store_close(first);
    store_close(second);
}

/* What was followed or loaded in a transaction that fails is not counted: memory drops it, too. */
static void test_failed_follow_is_followed_again(void **state)
{
    struct fixture *fixture = *state;
    struct store *first;
    struct store *second;
    struct store_stamp stamp;
    open_two(fixture, &first, &second);
    for (int strange = 0; strange < 2; strange++) {
        enum store_begun begun = strange ? STORE_BEGIN_RELOAD : STORE_BEGIN_FOLLOW;
        struct change_list list = changes_of(fixture);
        add_catalog(&list, CHANGE_TRAIT_INSERT, 1000 + strange, strange ? "CUSTOM_A" : "CUSTOM_B");
        commit_changes(fixture, second, &list);
        if (strange)
            foreign(fixture->path, "UPDATE resource_providers SET name = 'n' WHERE id = 2");
        list = changes_of(fixture);
        add_catalog(&list, CHANGE_TRAIT_INSERT, 1002, "VERY WRONG");
        add_catalog(&list, CHANGE_TRAIT_INSERT, 1002, "AND AGAIN");
        for (int i = 0; i < 2; i++) {
            assert_int_equal(begin_into(fixture, first, NULL), i == 0 ? begun : STORE_BEGIN_RELOAD);
            assert_int_equal(store_apply(first, &list, &fixture->err), STORE_FAILED);
            assert_false(store_rollback(first, &stamp));
        }
        expect_begin(fixture, first, STORE_BEGIN_RELOAD);
        expect_begin(fixture, first, STORE_BEGIN_UNCHANGED);
    }
    store_close(first);
    store_close(second);
}

static void test_stranger(void **state)
{
    struct fixture *fixture = *state;
    struct store *first;
    struct store *second;
    open_two(fixture, &first, &second);
    struct store_stamp stamp;
    assert_int_equal(begin_into(fixture, first, NULL), STORE_BEGIN_UNCHANGED);
    assert_true(store_rollback(first, &stamp));
    foreign(fixture->path, "UPDATE resource_providers SET generation = 7 WHERE id = 1");
    assert_false(store_is_current(first, &stamp));
    expect_begin(fixture, first, STORE_BEGIN_RELOAD);
    expect_begin(fixture, first, STORE_BEGIN_UNCHANGED);
    expect_begin(fixture, second, STORE_BEGIN_RELOAD);

    /* A stranger and another instance, in either order: the log does not account for both. */
    for (int stranger_first = 0; stranger_first < 2; stranger_first++) {
        struct change_list list = changes_of(fixture);
        add_generation(&list, 1, 7 + stranger_first * 2, 8 + stranger_first * 2);
        add_generation(&list, 2, stranger_first * 2, 1 + stranger_first * 2);
        if (stranger_first)
            foreign(fixture->path, "UPDATE resource_providers SET name = 'n' WHERE id = 2");
        commit_changes(fixture, second, &list);
        if (!stranger_first)
            foreign(fixture->path, "UPDATE resource_providers SET name = 'm' WHERE id = 2");
        list = changes_of(fixture);
        add_generation(&list, 1, 8 + stranger_first * 2, 9 + stranger_first * 2);
        add_generation(&list, 2, 1 + stranger_first * 2, 2 + stranger_first * 2);
        commit_changes(fixture, second, &list);
        expect_begin(fixture, first, STORE_BEGIN_RELOAD);
    }
    store_close(first);
    store_close(second);
}

static void test_stamp(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    seed(&list);
    struct store_stamp first = commit_changes(fixture, store, &list);
    list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    struct store_stamp second = commit_changes(fixture, store, &list);
    assert_false(store_is_current(store, &first));
    /* An empty transaction, a reader, a rolled back write alter nothing. */
    expect_begin(fixture, store, STORE_BEGIN_UNCHANGED);
    foreign(fixture->path, "SELECT count(*) FROM traits; BEGIN IMMEDIATE;"
                           "DELETE FROM traits; ROLLBACK");
    assert_true(store_is_current(store, &second));
    /* A checkpoint without a new commit may cost the stamp, never a reload. */
    foreign(fixture->path, "PRAGMA wal_checkpoint(PASSIVE)");
    expect_begin(fixture, store, STORE_BEGIN_UNCHANGED);
    foreign(fixture->path, "PRAGMA wal_checkpoint(TRUNCATE)");
    expect_begin(fixture, store, STORE_BEGIN_UNCHANGED);
    list = changes_of(fixture);
    add_generation(&list, 1, 1, 2);
    struct store_stamp third = commit_changes(fixture, store, &list);
    assert_false(store_is_current(store, &second));
    assert_true(store_is_current(store, &third));
    store_close(store);
}

static void test_wal_stays_small(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    seed(&list);
    commit_changes(fixture, store, &list);
    char wal[128];
    off_t largest = 0;
    snprintf(wal, sizeof(wal), "%s-wal", fixture->path);
    for (int64_t i = 0; i < 6000; i++) {
        arena_reset(fixture->arena);
        list = changes_of(fixture);
        add_generation(&list, 1, i, i + 1);
        for (int64_t n = 0; n < 8; n++)
            add_allocation(&list, 2 + i * 8 + n, 1, UUID_C, 1 + n % 2, 0, 1 + i % 5);
        commit_changes(fixture, store, &list);
        store_upkeep(store);
        struct stat file;
        assert_int_equal(stat(wal, &file), 0);
        largest = file.st_size > largest ? file.st_size : largest;
    }
    assert_true(largest > 8 << 20);
    assert_true(largest < 64 << 20);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM allocations"), 48001);
    assert_true(foreign(fixture->path, "SELECT count(*) FROM berth_log") < 4096 + 64);
    store_close(store);
}

/* Somebody reads one state while many commits go by: the WAL grows, the commits go on. Once the
 * reader has gone it starts over, within the limit again. */
static void test_wal_behind_a_reader(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    seed(&list);
    commit_changes(fixture, store, &list);
    sqlite3 *reader;
    assert_int_equal(sqlite3_open(fixture->path, &reader), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM allocations", NULL, NULL, NULL),
        SQLITE_OK);
    char wal[128];
    struct stat file = {0};
    off_t largest = 0;
    int64_t released_at = 0;
    int64_t i = 0;
    snprintf(wal, sizeof(wal), "%s-wal", fixture->path);
    for (; released_at == 0 || file.st_size > 64 << 20; i++) {
        assert_true(i < 60000);
        arena_reset(fixture->arena);
        list = changes_of(fixture);
        add_generation(&list, 1, i, i + 1);
        for (int64_t n = 0; n < 8; n++)
            add_allocation(&list, 2 + i * 8 + n, 1, UUID_C, 1 + n % 2, 0, 1 + i % 5);
        commit_changes(fixture, store, &list);
        store_upkeep(store);
        assert_int_equal(stat(wal, &file), 0);
        largest = file.st_size > largest ? file.st_size : largest;
        if (released_at == 0 && file.st_size > 100 << 20) {
            assert_int_equal(sqlite3_close(reader), SQLITE_OK);
            released_at = i;
        }
    }
    print_message("WAL of %ld MiB, within the limit %ld commits after the reader had gone\n",
                  (long)(largest >> 20), (long)(i - released_at));
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM allocations"), 1 + i * 8);
    store_close(store);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM allocations"), 1 + i * 8);
}

static void test_busy(void **state)
{
    struct fixture *fixture = *state;
    fixture->busy_timeout_ms = 300;
    struct store *store = fixture_open(fixture);
    expect_begin(fixture, store, STORE_BEGIN_RELOAD);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    struct timespec began;
    struct timespec ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_FAILED);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    assert_int_equal(fixture->err.status, 503);
    double waited =
        (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) * 1e-9;
    assert_true(waited >= 0.3 && waited < 3);
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    expect_begin(fixture, store, STORE_BEGIN_UNCHANGED);
    sqlite3_close(other);
    store_close(store);
}

static void test_replaced(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    seed(&list);
    commit_changes(fixture, store, &list);
    char copy[128];
    char sql[192];
    snprintf(copy, sizeof(copy), "%s.copy", fixture->path);
    snprintf(sql, sizeof(sql), "VACUUM INTO '%s'", copy);
    foreign(fixture->path, sql);
    list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    struct store_stamp stamp = commit_changes(fixture, store, &list);
    foreign(copy, "UPDATE resource_providers SET name = 'other' WHERE id = 1");

    /* The old file's WAL still stands beside the path when the new one comes. */
    assert_int_equal(rename(copy, fixture->path), 0);
    usleep(110000);
    store_upkeep(store);
    assert_false(store_is_current(store, &stamp));
    struct buf out = {0};
    assert_int_equal(begin_into(fixture, store, &out), STORE_BEGIN_RELOAD);
    assert_non_null(memmem(out.data, out.len, " other parent=0 root=1 gen=0", 28));
    buf_free(&out);
    assert_true(store_rollback(store, &stamp));
    list = changes_of(fixture);
    add_generation(&list, 1, 0, 5);
    stamp = commit_changes(fixture, store, &list);
    assert_int_equal(foreign(fixture->path, "SELECT generation FROM resource_providers"), 5);

    /* No file: refused; the next file: served. */
    snprintf(sql, sizeof(sql), "VACUUM INTO '%s'", copy);
    foreign(fixture->path, sql);
    assert_int_equal(unlink(fixture->path), 0);
    assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_FAILED);
    assert_non_null(memmem(fixture->err.message.data, fixture->err.message.len, "gone", 4));
    assert_false(store_is_current(store, &stamp));
    assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_FAILED);
    FILE *garbage = fopen(fixture->path, "w");
    fputs("This is no database, and it is long enough to say so at once.", garbage);
    fclose(garbage);
    assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_FAILED);
    assert_int_equal(rename(copy, fixture->path), 0);
    expect_begin(fixture, store, STORE_BEGIN_RELOAD);
    store_close(store);
    assert_int_equal(foreign(fixture->path, "SELECT generation FROM resource_providers"), 5);
    assert_int_equal(foreign(fixture->path, "PRAGMA integrity_check") +
                         foreign(fixture->path, "SELECT count(*) FROM resource_providers"),
                     2);
}

struct writer {
    struct fixture *fixture;
    struct store *store;
    atomic_bool *stop;
    pthread_barrier_t *start; /* both have seen the file, and one of them the other */
    int commits;
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
        bool stranger;
        struct change_list list = {.arena = arena};
        enum store_begun begun = store_begin(writer->store, STORE_TO_WRITE, &err);
        if (begun == STORE_BEGIN_FAILED) {
            writer->failed++;
            continue;
        }
        struct buf out = {0};
        if (begun == STORE_BEGIN_RELOAD)
            writer->failed += store_load(writer->store, dump_change, &out, &err) != STORE_OK;
        if (begun == STORE_BEGIN_FOLLOW)
            writer->failed += store_follow(writer->store, dump_change, &out, &err) != STORE_OK;
        buf_free(&out);
        add_catalog(&list, CHANGE_PROJECT_INSERT, store_next_id(writer->store, STORE_PROJECTS),
                    arena_printf(arena, "p%p-%d", (void *)writer, writer->commits).data);
        bool ok = store_apply(writer->store, &list, &err) == STORE_OK &&
                  store_commit(writer->store, &stamp, &stranger, &err) == STORE_OK;
        writer->commits += ok;
        writer->failed += !ok;
        if (writer->commits == 1)
            pthread_barrier_wait(writer->start);
    }
    arena_destroy(arena);
    return NULL;
}

static void test_two_writers_share(void **state)
{
    struct fixture *fixture = *state;
    atomic_bool stop = false;
    struct writer writers[2];
    pthread_t threads[2];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++)
        writers[i] = (struct writer){fixture, fixture_open(fixture), &stop, &start, 0, 0};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, write_in_loop, &writers[i]);
    usleep(800000);
    stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    int sum = writers[0].commits + writers[1].commits;
    print_message("commits of two writers: %d and %d\n", writers[0].commits, writers[1].commits);
    assert_int_equal(writers[0].failed + writers[1].failed, 0);
    /* Some two fifths each when the machine has time for both. On a busy one the sleeper is woken
     * late; without the room left free it would get one in a thousand. */
    assert_true(writers[0].commits * 20 >= sum && writers[1].commits * 20 >= sum);
    pthread_barrier_destroy(&start);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM projects"), sum);
    store_close(writers[0].store);
    store_close(writers[1].store);
}

/* The main program again, as a process that writes until it is killed: as an instance of berth or
 * as a stranger who knows of no log. Says on standard output how far it got. */
static int write_until_killed(const char *path, bool stranger)
{
    struct fixture fixture = {.arena = arena_create(), .busy_timeout_ms = 10000};
    fixture.err.arena = fixture.arena;
    snprintf(fixture.url, sizeof(fixture.url), "sqlite:///%s", path);
    struct store *store = stranger ? NULL : fixture_open(&fixture);
    for (long i = 1;; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%d-%ld", (int)getpid(), i);
        if (stranger) {
            char sql[128];
            snprintf(sql, sizeof(sql), "INSERT INTO projects (external_id) VALUES ('%s')", name);
            foreign(path, sql);
        } else {
            struct change_list list = changes_of(&fixture);
            struct store_stamp stamp;
            bool other;
            begin_into(&fixture, store, NULL);
            add_catalog(&list, CHANGE_PROJECT_INSERT, store_next_id(store, STORE_PROJECTS), name);
            if (store_apply(store, &list, &fixture.err) != STORE_OK ||
                store_commit(store, &stamp, &other, &fixture.err) != STORE_OK)
                return 1;
        }
        if (write(1, &i, sizeof(i)) != (ssize_t)sizeof(i))
            return 1;
    }
}

static pid_t start_writer(const char *path, bool stranger, int *acknowledged)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "writer", path, stranger ? "stranger" : "berth", (char *)NULL);
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

/* What memory would hold, brought up to date as begin says. */
static enum store_begun update_projects(struct fixture *fixture, struct store *store,
                                        struct projects *projects)
{
    struct store_stamp stamp;
    enum store_begun begun = store_begin(store, STORE_TO_WRITE, &fixture->err);
    if (begun == STORE_BEGIN_RELOAD) {
        projects->count = 0;
        assert_int_equal(store_load(store, count_projects, projects, &fixture->err), STORE_OK);
    }
    if (begun == STORE_BEGIN_FOLLOW)
        assert_int_equal(store_follow(store, count_projects, projects, &fixture->err), STORE_OK);
    if (begun == STORE_BEGIN_FAILED)
        print_error("%.*s\n", SLICE_ARG(fixture->err.message));
    assert_int_not_equal(begun, STORE_BEGIN_FAILED);
    store_rollback(store, &stamp);
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
        bool stranger = round % 4 == 3;
        long before = projects.count;
        long last = 0;
        pid_t child = start_writer(fixture->path, stranger, &acknowledged);
        assert_int_equal(read(acknowledged, &last, sizeof(last)), sizeof(last));
        for (int i = 0; i < round % 5; i++) {
            usleep(500);
            begun[update_projects(fixture, store, &projects)]++;
        }
        usleep((useconds_t)(round * 137 % 4000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        while (read(acknowledged, &last, sizeof(last)) == (ssize_t)sizeof(last))
            ;
        close(acknowledged);
        begun[update_projects(fixture, store, &projects)]++;
        assert_int_equal(projects.count, foreign(fixture->path, "SELECT count(*) FROM projects"));
        assert_true(projects.count - before >= last);
    }
    assert_true(begun[STORE_BEGIN_FOLLOW] > 0 && begun[STORE_BEGIN_RELOAD] > 0);
    store_close(store);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return write_until_killed(argv[1], argv[2][0] == 's');
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_follow_claim, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_follow_providers_and_catalogs, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_failed_follow_is_followed_again, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_stranger, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_stamp, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_wal_stays_small, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_wal_behind_a_reader, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_busy, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_replaced, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_killed_writers, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_two_writers_share, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
