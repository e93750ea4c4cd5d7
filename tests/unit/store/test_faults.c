/* Disks that are full, broken or read-only, by a VFS between SQLite and the real one; and a VFS
 * without shared memory, where the store has to ask for the data version. */
#include "fixture.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/sqlite/internal.h"

/* What the VFS is to do; 0: nothing. */
static struct {
    int write_fails; /* an SQLite result code */
    int wal_sync_fails;
    bool once;
    bool read_only;
    bool no_shared_memory;
} fault;

struct shim_file {
    sqlite3_file base;
    bool is_wal;
    sqlite3_file *real; /* behind this struct */
};

static sqlite3_vfs shim_vfs;
static sqlite3_vfs *real_vfs;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct shim_file *)file)->real;
}

#define FORWARD(name, parameters, ...)                                                             \
    static int shim_##name parameters                                                              \
    {                                                                                              \
        return real_of(file)->pMethods->name(real_of(file), ##__VA_ARGS__);                        \
    }

FORWARD(xClose, (sqlite3_file * file))
FORWARD(xRead, (sqlite3_file * file, void *to, int count, sqlite3_int64 at), to, count, at)
FORWARD(xTruncate, (sqlite3_file * file, sqlite3_int64 size), size)
FORWARD(xFileSize, (sqlite3_file * file, sqlite3_int64 *size), size)
FORWARD(xLock, (sqlite3_file * file, int level), level)
FORWARD(xUnlock, (sqlite3_file * file, int level), level)
FORWARD(xCheckReservedLock, (sqlite3_file * file, int *answer), answer)
FORWARD(xFileControl, (sqlite3_file * file, int op, void *argument), op, argument)
FORWARD(xSectorSize, (sqlite3_file * file))
FORWARD(xDeviceCharacteristics, (sqlite3_file * file))
FORWARD(xShmMap, (sqlite3_file * file, int page, int size, int extend, void volatile **to), page,
        size, extend, to)
FORWARD(xShmLock, (sqlite3_file * file, int offset, int n, int flags), offset, n, flags)
FORWARD(xShmUnmap, (sqlite3_file * file, int delete_it), delete_it)

static void shim_xShmBarrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shim_xWrite(sqlite3_file *file, const void *from, int count, sqlite3_int64 at)
{
    if (fault.write_fails != 0)
        return fault.write_fails;
    return real_of(file)->pMethods->xWrite(real_of(file), from, count, at);
}

static int shim_xSync(sqlite3_file *file, int flags)
{
    int rc = fault.wal_sync_fails;
    if (rc != 0 && ((struct shim_file *)file)->is_wal) {
        fault.wal_sync_fails = fault.once ? 0 : rc;
        return rc;
    }
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

#define METHODS(version)                                                                           \
    {                                                                                              \
        .iVersion = version, .xClose = shim_xClose, .xRead = shim_xRead, .xWrite = shim_xWrite,    \
        .xTruncate = shim_xTruncate, .xSync = shim_xSync, .xFileSize = shim_xFileSize,             \
        .xLock = shim_xLock, .xUnlock = shim_xUnlock,                                              \
        .xCheckReservedLock = shim_xCheckReservedLock, .xFileControl = shim_xFileControl,          \
        .xSectorSize = shim_xSectorSize, .xDeviceCharacteristics = shim_xDeviceCharacteristics,    \
        .xShmMap = shim_xShmMap, .xShmLock = shim_xShmLock, .xShmBarrier = shim_xShmBarrier,       \
        .xShmUnmap = shim_xShmUnmap,                                                               \
    }

static const sqlite3_io_methods with_shared_memory = METHODS(2);
static const sqlite3_io_methods without_shared_memory = METHODS(1);

static int shim_xAccess(sqlite3_vfs *vfs, const char *name, int what, int *out)
{
    (void)vfs;
    int rc = real_vfs->xAccess(real_vfs, name, what, out);
    if (rc == SQLITE_OK && what == SQLITE_ACCESS_READWRITE && fault.read_only)
        *out = 0;
    return rc;
}

static int shim_xOpen(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    struct shim_file *shim = (struct shim_file *)file;
    shim->base.pMethods = NULL;
    shim->is_wal = (flags & SQLITE_OPEN_WAL) != 0;
    shim->real = (sqlite3_file *)(shim + 1);
    if (fault.read_only && (flags & SQLITE_OPEN_MAIN_DB) != 0)
        flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    int rc = real_vfs->xOpen(real_vfs, name, shim->real, flags, out);
    if (shim->real->pMethods != NULL)
        shim->base.pMethods = fault.no_shared_memory ? &without_shared_memory : &with_shared_memory;
    return rc;
}

static void install_vfs(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    shim_vfs = *real_vfs;
    shim_vfs.zName = "shim";
    shim_vfs.szOsFile = (int)sizeof(struct shim_file) + real_vfs->szOsFile;
    shim_vfs.xOpen = shim_xOpen;
    shim_vfs.xAccess = shim_xAccess;
    assert_int_equal(sqlite3_vfs_register(&shim_vfs, 1), SQLITE_OK);
}

static int faults_setup(void **state)
{
    memset(&fault, 0, sizeof(fault));
    return fixture_setup(state);
}

static int faults_teardown(void **state)
{
    memset(&fault, 0, sizeof(fault));
    return fixture_teardown(state);
}

/* As in service: with every sync. */
static struct store *open_synced(struct fixture *fixture)
{
    struct store_options options = {.connection = slice_of(fixture->url),
                                    .busy_timeout_ms = 300,
                                    .sync_schema = true,
                                    .create_missing_file = true};
    struct store *store = store_open(&options, &fixture->err);
    assert_non_null(store);
    struct change_list list = changes_of(fixture);
    add_provider(&list, 1, 0, 1, UUID_A, "a");
    commit_changes(fixture, store, &list);
    return store;
}

/* Generation from..from+1 of provider 1 in a transaction of its own. */
static enum store_result try_commit(struct fixture *fixture, struct store *store, int64_t from)
{
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool stranger;
    add_generation(&list, 1, from, from + 1);
    if (begin_into(fixture, store, NULL) == STORE_BEGIN_FAILED)
        return STORE_FAILED;
    enum store_result result = store_apply(store, &list, &fixture->err);
    if (result != STORE_OK)
        store_rollback(store, &stamp);
    else
        result = store_commit(store, &stamp, &stranger, &fixture->err);
    return result;
}

static void expect_generation(struct fixture *fixture, int64_t generation)
{
    assert_int_equal(
        foreign(fixture->path, "SELECT generation FROM resource_providers WHERE id = 1"),
        generation);
}

static void test_disk_full(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    static const int codes[] = {SQLITE_FULL, SQLITE_READONLY};
    for (size_t i = 0; i < 2; i++) {
        fault.write_fails = codes[i];
        assert_int_equal(try_commit(fixture, store, 0), STORE_FAILED);
        assert_int_equal(fixture->err.status, 503);
        assert_int_equal(try_commit(fixture, store, 0), STORE_FAILED);
        store_upkeep(store);
        /* Reads of the store go on: nothing has changed. */
        struct store_stamp stamp;
        assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_UNCHANGED);
        assert_true(store_rollback(store, &stamp));
        fault.write_fails = 0;
        expect_generation(fixture, 0);
    }
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    expect_generation(fixture, 1);
    store_close(store);
}

static void test_disk_full_after_follow(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    struct store *other = fixture_open(fixture);
    struct store_stamp stamp;
    assert_int_equal(try_commit(fixture, other, 0), STORE_OK);
    fault.write_fails = SQLITE_FULL;
    assert_int_equal(try_commit(fixture, store, 1), STORE_FAILED);
    fault.write_fails = 0;
    /* The failed batch had followed; memory dropped that with it. */
    assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_FOLLOW);
    assert_true(store_rollback(store, &stamp));
    assert_int_equal(try_commit(fixture, store, 1), STORE_OK);
    expect_generation(fixture, 2);
    store_close(other);
    store_close(store);
}

static void test_sync_fails(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    fault.wal_sync_fails = SQLITE_IOERR_FSYNC;
    enum store_result result = try_commit(fixture, store, 0);
    /* The disk stays broken: the store cannot tell. */
    assert_int_equal(result, STORE_UNKNOWN);
    assert_int_equal(fixture->err.status, 503);
    fault.wal_sync_fails = 0;
    struct buf out = {0};
    struct store_stamp stamp;
    assert_int_equal(begin_into(fixture, store, &out), STORE_BEGIN_RELOAD);
    assert_non_null(memmem(out.data, out.len, "root=1 gen=0)", 13));
    buf_free(&out);
    assert_true(store_rollback(store, &stamp));
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    expect_generation(fixture, 1);
    store_close(store);
    expect_generation(fixture, 1);
}

static void test_sync_fails_once(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    fault.wal_sync_fails = SQLITE_IOERR_FSYNC;
    fault.once = true;
    /* The connection was dropped, the batch's mark looked for and not found. */
    assert_int_equal(try_commit(fixture, store, 0), STORE_FAILED);
    assert_int_equal(fault.wal_sync_fails, 0);
    expect_generation(fixture, 0);
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    expect_generation(fixture, 1);
    store_close(store);
    expect_generation(fixture, 1);
}

static void test_find_mark(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    assert_int_equal(try_commit(fixture, store, 1), STORE_OK);
    unsigned char mark[MARK_LEN];
    bool found = false;
    memcpy(mark, store->instance, sizeof(store->instance));
    for (uint64_t batch = 0; batch < 4; batch++) {
        memcpy(mark + sizeof(store->instance), &batch, sizeof(batch));
        assert_true(store_find_mark(store, mark, &found, &fixture->err));
        assert_int_equal(found, batch < 3);
    }
    store_close(store);
}

/* Reading goes on when nothing can be written, news of others included. */
static void test_renews_without_room(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    struct store *other = fixture_open(fixture);
    static const int codes[] = {SQLITE_FULL, SQLITE_READONLY, SQLITE_IOERR_WRITE};
    for (int64_t i = 0; i < 3; i++) {
        struct buf out = {0};
        struct store_stamp stamp;
        assert_int_equal(try_commit(fixture, other, i), STORE_OK);
        fault.write_fails = codes[i];
        assert_int_equal(begin_to_read(fixture, store, &out), STORE_BEGIN_FOLLOW);
        assert_true(store_rollback(store, &stamp));
        buf_append_char(&out, '\0');
        assert_string_equal(out.data, arena_printf(fixture->arena,
                                                   "generation(1 %ld %ld) 1790000000123456"
                                                   " 1790000000123458\n",
                                                   i + 1, i + 1)
                                          .data);
        buf_free(&out);
        assert_int_not_equal(try_commit(fixture, store, i + 1), STORE_OK);
        fault.write_fails = 0;
    }
    store_close(other);
    store_close(store);
}

/* By somebody who may write the file. */
static void foreign_all_the_same(struct fixture *fixture, const char *sql)
{
    fault.read_only = false;
    foreign(fixture->path, sql);
    fault.read_only = true;
}

static void test_read_only_file(void **state)
{
    struct fixture *fixture = *state;
    store_close(open_synced(fixture));
    fault.read_only = true;
    struct store *store = fixture_try(fixture, fixture->url, true, false);
    if (store == NULL)
        print_error("%.*s\n", SLICE_ARG(fixture->err.message));
    assert_non_null(store);
    struct buf out = {0};
    struct store_stamp stamp;
    assert_int_equal(begin_to_read(fixture, store, &out), STORE_BEGIN_RELOAD);
    assert_non_null(memmem(out.data, out.len, "root=1 gen=0)", 13));
    buf_free(&out);
    /* Nobody tells when it changes: each read asks. */
    assert_false(store_rollback(store, &stamp));
    assert_false(store_is_current(store, &stamp));
    assert_int_equal(begin_to_read(fixture, store, NULL), STORE_BEGIN_UNCHANGED);
    store_rollback(store, &stamp);
    assert_int_equal(try_commit(fixture, store, 0), STORE_FAILED);
    assert_int_equal(fixture->err.status, 503);
    store_upkeep(store);
    foreign_all_the_same(fixture, "UPDATE resource_providers SET name = 'x'");
    assert_int_equal(begin_to_read(fixture, store, NULL), STORE_BEGIN_RELOAD);
    store_rollback(store, &stamp);
    assert_int_equal(begin_to_read(fixture, store, NULL), STORE_BEGIN_UNCHANGED);
    store_rollback(store, &stamp);
    /* Once it can be written, it is. */
    fault.read_only = false;
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    assert_int_equal(begin_to_read(fixture, store, NULL), STORE_BEGIN_UNCHANGED);
    assert_true(store_rollback(store, &stamp));
    expect_generation(fixture, 1);
    store_close(store);
}

static void test_read_only_file_is_not_ready(void **state)
{
    struct fixture *fixture = *state;
    store_close(open_synced(fixture));
    foreign(fixture->path, "DROP TABLE berth_log");
    fault.read_only = true;
    assert_null(fixture_try(fixture, fixture->url, true, false));
    assert_non_null(memmem(fixture->err.message.data, fixture->err.message.len, "read-only", 9));
    foreign_all_the_same(fixture, "DELETE FROM alembic_version");
    assert_null(fixture_try(fixture, fixture->url, true, false));
    assert_non_null(memmem(fixture->err.message.data, fixture->err.message.len, "no schema", 9));
}

static void test_without_shared_memory(void **state)
{
    struct fixture *fixture = *state;
    fault.no_shared_memory = true;
    struct store *store = open_synced(fixture);
    assert_null(store->sentinel->index);
    struct store_stamp stamp;
    assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_UNCHANGED);
    assert_true(store_rollback(store, &stamp));
    assert_true(store_is_current(store, &stamp));
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    assert_false(store_is_current(store, &stamp));
    assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_UNCHANGED);
    assert_true(store_rollback(store, &stamp));
    foreign(fixture->path, "UPDATE resource_providers SET name = 'x'");
    assert_false(store_is_current(store, &stamp));
    assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_RELOAD);
    assert_true(store_rollback(store, &stamp));
    /* Another instance's batches cannot be told from a stranger's. */
    struct store *other = fixture_open(fixture);
    assert_int_equal(try_commit(fixture, other, 1), STORE_OK);
    assert_false(store_is_current(store, &stamp));
    assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_RELOAD);
    assert_true(store_rollback(store, &stamp));
    store_upkeep(store);
    store_close(other);
    store_close(store);
}

/* Rows as no service writes them: read without harm, what cannot be shown left out. */
static void test_odd_rows(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_synced(fixture);
    foreign(
        fixture->path,
        "INSERT INTO projects (id, external_id) VALUES (1, 'p');"
        "INSERT INTO users (id, external_id) VALUES (1, 'u');"
        "UPDATE resource_providers SET root_provider_id = NULL, generation = NULL,"
        " created_at = 'yesterday', name = NULL;"
        "INSERT INTO resource_providers (id, uuid, name, parent_provider_id, root_provider_id)"
        " VALUES (2, '" UUID_B "', 'child', 1, NULL), (3, '" UUID_C "', 'ring', 4, 4),"
        " (4, '" UUID_D "', 'ring2', 3, 3), (5, '5', 'orphan', 99, 99),"
        " (6, '" UUID_D "-too-long', 'x', NULL, 6);"
        "INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved,"
        " min_unit, max_unit, step_size, allocation_ratio) VALUES"
        " (1, 0, 99999999999, -99999999999, 'x', 1, 1, 'nan'), (77, 0, 1, 1, 1, 1, 1, 1),"
        " (1, 77, 1, 1, 1, 1, 1, 1), (6, 0, 1, 1, 1, 1, 1, 1);"
        "INSERT INTO resource_provider_traits (trait_id, resource_provider_id) VALUES (9999, 1),"
        " (1, 77), (1, 2);"
        "INSERT INTO resource_provider_aggregates (aggregate_id, resource_provider_id)"
        " VALUES (9, 1);"
        "INSERT INTO placement_aggregates (id, uuid) VALUES (1, NULL);"
        "INSERT INTO consumers (id, uuid, project_id, user_id, generation, consumer_type_id)"
        " VALUES (1, '" UUID_A "', 1, 1, 2, 77), (2, '" UUID_B "', 9, 1, 2, NULL);"
        "INSERT INTO allocations (id, resource_provider_id, consumer_id, resource_class_id, used)"
        " VALUES (1, 1, '" UUID_A "', 0, 5), (2, 1, '" UUID_B "', 0, 5), (3, 1, 'none', 0, 5),"
        " (4, 77, '" UUID_A "', 0, 5), (5, 1, '" UUID_A "', 77, 5), (6, 6, '" UUID_A "', 0, 5);");
    struct buf out = {0};
    dump_store(fixture, store, &out);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, "project(1 p) 0 0\n"
                                  "user(1 u) 0 0\n"
                                  "provider(1 " UUID_A "  parent=0 root=1 gen=0) 0 0\n"
                                  "provider(2 " UUID_B " child parent=1 root=1 gen=0) 0 0\n"
                                  "provider(3 " UUID_C " ring parent=4 root=4 gen=0) 0 0\n"
                                  "provider(4 " UUID_D " ring2 parent=0 root=4 gen=0) 0 0\n"
                                  "provider(5 5 orphan parent=0 root=5 gen=0) 0 0\n"
                                  "end() 0 0\n"
                                  "inventory(1 0 2147483647 -2147483648 0 1 1 0) 0 0\n"
                                  "has_trait(2 1) 0 0\n"
                                  "consumer(1 " UUID_A " 1 1 type=0 gen=2) 0 0\n"
                                  "allocation(1 1 " UUID_A " 1 0 5) 0 0\n");
    buf_free(&out);
    /* NULL counts as generation 0. */
    assert_int_equal(try_commit(fixture, store, 0), STORE_OK);
    expect_generation(fixture, 1);
    store_close(store);
}

int main(void)
{
    install_vfs();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_disk_full, faults_setup, faults_teardown),
        cmocka_unit_test_setup_teardown(test_disk_full_after_follow, faults_setup, faults_teardown),
        cmocka_unit_test_setup_teardown(test_sync_fails, faults_setup, faults_teardown),
        cmocka_unit_test_setup_teardown(test_sync_fails_once, faults_setup, faults_teardown),
        cmocka_unit_test_setup_teardown(test_find_mark, faults_setup, faults_teardown),
        cmocka_unit_test_setup_teardown(test_renews_without_room, faults_setup, faults_teardown),
        cmocka_unit_test_setup_teardown(test_read_only_file, faults_setup, faults_teardown),
        cmocka_unit_test_setup_teardown(test_read_only_file_is_not_ready, faults_setup,
                                        faults_teardown),
        cmocka_unit_test_setup_teardown(test_without_shared_memory, faults_setup, faults_teardown),
        cmocka_unit_test_setup_teardown(test_odd_rows, faults_setup, faults_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
