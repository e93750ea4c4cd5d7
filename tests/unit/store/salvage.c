/* Removes the files of an open store, and shows what a crash would leave. */
#include "salvage.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "store/sqlite/internal.h"

struct store *salvage_open_synced(struct fixture *fixture)
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

struct store *salvage_open_first(struct fixture *fixture)
{
    struct store *store = salvage_open_synced(fixture);
    struct change_list list = changes_of(fixture);
    add_provider(&list, 1, 0, 1, UUID_A, "a");
    commit_changes(fixture, store, &list);
    return store;
}

enum store_result salvage_try_commit(struct fixture *fixture, struct store *store, int64_t from)
{
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool foreign;
    add_generation(&list, 1, from, from + 1);
    enum store_result result = take_news_and_commit(fixture, store, &list, &stamp, &foreign);
    assert_int_not_equal(result, STORE_REFUSED);
    return result;
}

/* SQLite calls it once all rows of a transaction are changed and none is in the WAL. */
static int at_commit(void *cls)
{
    struct salvage_meanwhile *meanwhile = cls;
    if (meanwhile->count++ == 0)
        meanwhile->act(meanwhile->cls);
    return 0;
}

enum store_result salvage_commit_meanwhile(struct fixture *fixture, struct store *store,
                                           int64_t from, struct salvage_meanwhile *meanwhile)
{
    sqlite3_commit_hook(sqlite_of(store)->writer.handle, at_commit, meanwhile);
    enum store_result result = salvage_try_commit(fixture, store, from);
    assert_true(meanwhile->count > 0);
    if (sqlite_of(store)->writer.handle != NULL)
        sqlite3_commit_hook(sqlite_of(store)->writer.handle, NULL, NULL);
    return result;
}

void salvage_name_of(const struct fixture *fixture, const char *suffix, char name[static 128])
{
    snprintf(name, 128, "%s%s", fixture->path, suffix);
}

void salvage_take_away(const struct fixture *fixture, int what)
{
    char name[128];
    salvage_name_of(fixture, "-wal", name);
    if ((what & SALVAGE_WAL) != 0)
        assert_int_equal(unlink(name), 0);
    salvage_name_of(fixture, "-shm", name);
    if ((what & SALVAGE_INDEX) != 0)
        assert_int_equal(unlink(name), 0);
}

void salvage_copy_file(const char *from, const char *to)
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

void salvage_expect_after_crash(const struct fixture *fixture, const char *file, int64_t generation)
{
    char name[128];
    char crashed[128];
    snprintf(crashed, sizeof(crashed), "%s/crashed", fixture->dir);
    salvage_copy_file(file, crashed);
    snprintf(name, sizeof(name), "%s-wal", file);
    snprintf(crashed, sizeof(crashed), "%s/crashed-wal", fixture->dir);
    salvage_copy_file(name, crashed);
    snprintf(crashed, sizeof(crashed), "%s/crashed", fixture->dir);
    assert_int_equal(foreign(crashed, "SELECT generation FROM resource_providers"), generation);
    struct buf out = {0};
    foreign_rows(crashed, "PRAGMA integrity_check", &out);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, "ok\n");
    buf_free(&out);
}

void salvage_checkpoint(struct store *store)
{
    assert_int_equal(sqlite3_wal_checkpoint_v2(sqlite_of(store)->writer.handle, "main",
                                               SQLITE_CHECKPOINT_PASSIVE, NULL, NULL),
                     SQLITE_OK);
}
