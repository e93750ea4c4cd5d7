/* A write to the file by a program that does not use SQLite is noticed; checkpoints of any
 * connection are not mistaken for one. */
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <unistd.h>

#include "store/sqlite/internal.h"

static void commit_number(struct fixture *fixture, struct store *store, int64_t i)
{
    arena_reset(fixture->arena);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, i, i + 1);
    commit_changes(fixture, store, &list);
}

/* As cp does: the same file, truncated and filled again. */
static void overwrite(struct fixture *fixture)
{
    char bytes[4096];
    int from = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    int fd = open(fixture->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_true(from >= 0 && fd >= 0);
    assert_int_equal(read(from, bytes, sizeof(bytes)), sizeof(bytes));
    assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
    close(from);
    close(fd);
}

static void test_overwritten_once(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct sentinel *sentinel = sqlite_of(store)->sentinel;
    assert_false(sentinel_sees_overwriting(sentinel));
    commit_number(fixture, store, 0);
    assert_false(sentinel_sees_overwriting(sentinel));
    overwrite(fixture);
    assert_true(sentinel_sees_overwriting(sentinel));
    assert_false(sentinel_sees_overwriting(sentinel));
    overwrite(fixture);
    assert_true(sentinel_sees_overwriting(sentinel));
    store_close(store);
}

/* After a checkpoint by another process it is also noticed. */
static void test_behind_a_checkpoint(void **state)
{
    static const char *const checkpoints[] = {"PRAGMA wal_checkpoint(PASSIVE)",
                                              "PRAGMA wal_checkpoint(RESTART)",
                                              "PRAGMA wal_checkpoint(TRUNCATE)"};
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct sentinel *sentinel = sqlite_of(store)->sentinel;
    assert_false(sentinel_sees_overwriting(sentinel));
    for (int64_t i = 0; i < 30; i++) {
        commit_number(fixture, store, i);
        assert_int_equal(foreign(fixture->path, checkpoints[i % 3]), 0);
        assert_false(sentinel_sees_overwriting(sentinel));
        assert_false(sentinel_sees_overwriting(sentinel));
    }
    overwrite(fixture);
    assert_true(sentinel_sees_overwriting(sentinel));
    store_close(store);
}

struct checkpointer {
    const char *path;
    _Atomic bool ends;
    _Atomic unsigned done;
};

static void *make_checkpoints(void *cls)
{
    struct checkpointer *checkpointer = cls;
    sqlite3 *handle;
    check(sqlite3_open(checkpointer->path, &handle) == SQLITE_OK);
    while (!checkpointer->ends)
        checkpointer->done +=
            sqlite3_exec(handle, "PRAGMA wal_checkpoint", NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(handle);
    return NULL;
}

/* At any moment of a checkpoint of another connection. */
static void test_during_checkpoints(void **state)
{
    enum { COMMITS = 300, LOOKS = 200, CHECKPOINTS = 20 };
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct checkpointer checkpointer = {.path = fixture->path};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, make_checkpoints, &checkpointer), 0);
    for (int64_t i = 0; i < COMMITS || checkpointer.done < CHECKPOINTS; i++) {
        commit_number(fixture, store, i);
        for (int look = 0; look < LOOKS; look++)
            assert_false(sentinel_sees_overwriting(sqlite_of(store)->sentinel));
    }
    checkpointer.ends = true;
    pthread_join(thread, NULL);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_overwritten_once, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_behind_a_checkpoint, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_during_checkpoints, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
