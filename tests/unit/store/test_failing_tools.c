/* Each call of SQLite or of the system by the tools fails in turn: they report it in one line, the
 * database is then either unchanged or completely changed, and the next attempt succeeds. */
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "failing_calls.h"
#include "fixture.h"

#include "store/backup.h"
#include "store/repair.h"
#include "store/schema.h"

enum { CALLS_MOST = 5000 };

#define UNSYNCED "PRAGMA synchronous = OFF;"
#define CONTENTS                                                                                   \
    "PRAGMA integrity_check; SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2;"             \
    " SELECT * FROM alembic_version; SELECT id, name, root_provider_id FROM resource_providers;"   \
    " SELECT uuid, project_id, generation FROM consumers; SELECT external_id FROM projects"

struct tool {
    const char *prepare; /* the difference of the database beforehand */
    bool (*run)(struct fixture *fixture, struct err *err);
    bool is_from_nothing; /* there is no database beforehand */
};

static bool watch_all(void *cls, const char *what, unsigned percent)
{
    (void)cls;
    return what != NULL && percent <= 100;
}

static const struct backup_watch watch = {watch_all, NULL};

static bool open_store(struct fixture *fixture, struct err *err)
{
    const struct store_options options = {.connection = slice_of(fixture->url),
                                          .busy_timeout_ms = 5,
                                          .sync_schema = true,
                                          .create_missing_file = true,
                                          .synchronous_off = true};
    struct store *store = store_open(&options, err);
    if (store != NULL)
        store_close(store);
    return store != NULL;
}

static bool sync_schema(struct fixture *fixture, struct err *err)
{
    return schema_sync(slice_of(fixture->url), err);
}

static bool stamp_schema(struct fixture *fixture, struct err *err)
{
    return schema_stamp(slice_of(fixture->url), SLICE_LIT("422ece571366"), err);
}

static bool set_roots(struct fixture *fixture, struct err *err)
{
    int64_t done = 0;
    bool found = true;
    bool ok = repair_set_roots(slice_of(fixture->url), 50, &done, err) &&
              repair_find_missing_roots(slice_of(fixture->url), &found, err);
    assert_true(!ok || !found);
    return ok;
}

static bool create_consumers(struct fixture *fixture, struct err *err)
{
    const struct repair_owner owner = {SLICE_LIT("nobody"), SLICE_LIT("nobody")};
    int64_t done = 0;
    int64_t count = 1;
    bool ok = repair_create_consumers(slice_of(fixture->url), &owner, 50, &done, err) &&
              repair_count_missing_consumers(slice_of(fixture->url), &count, err);
    assert_true(!ok || count == 0);
    return ok;
}

static bool restore_seed(struct fixture *fixture, struct err *err)
{
    struct restore_result result;
    return backup_restore(slice_of(fixture->url), fixture_file(fixture, "seed"), true, &watch,
                          &result, err);
}

static void read_contents(const char *path, struct buf *out)
{
    out->len = 0;
    foreign_rows(path, CONTENTS, out);
    buf_append_char(out, '\0');
    assert_memory_equal(out->data, "ok\n", 3);
}

static void copy_file(const char *from_path, const char *to_path)
{
    static char bytes[1 << 20];
    FILE *from = fopen(from_path, "r");
    FILE *to = fopen(to_path, "w");
    assert_true(from != NULL && to != NULL);
    size_t count = fread(bytes, 1, sizeof(bytes), from);
    assert_true(count > 4096 && count < sizeof(bytes));
    assert_int_equal(fwrite(bytes, 1, count, to), count);
    assert_int_equal(fclose(from) + fclose(to), 0);
}

/* Copies the seed's file to the database's path. */
static void prepare(struct fixture *fixture, const struct tool *tool)
{
    static const char *const files[] = {"db", "db-wal", "db-shm", "db-journal"};
    for (size_t i = 0; i < 4; i++)
        unlink(fixture_file(fixture, files[i]));
    if (tool->is_from_nothing)
        return;
    copy_file(fixture_file(fixture, "seed"), fixture->path);
    if (tool->prepare != NULL)
        foreign(fixture->path, tool->prepare);
}

/* Whether a call has failed. */
static bool try_tool(struct fixture *fixture, const struct tool *tool, unsigned nth,
                     enum failing_way way, const struct buf *done)
{
    struct err err = {.arena = fixture->arena};
    struct err next = {.arena = fixture->arena};
    struct buf before = {0};
    struct buf after = {0};
    prepare(fixture, tool);
    if (!tool->is_from_nothing)
        read_contents(fixture->path, &before);
    failing_arm(nth, way, SQLITE_IOERR);
    bool ok = tool->run(fixture, &err);
    bool fired = failing_disarm();
    assert_true(fired || ok);
    assert_int_equal(ok, !err_is_set(&err));
    if (!ok)
        assert_true(err.status == 503 && err.message.len > 0 &&
                    memchr(err.message.data, '\n', err.message.len) == NULL);
    if (!tool->is_from_nothing) {
        read_contents(fixture->path, &after);
        bool is_done = strcmp(after.data, done->data) == 0;
        assert_true(is_done || (!ok && strcmp(after.data, before.data) == 0));
    }
    assert_true(ok || tool->run(fixture, &next));
    read_contents(fixture->path, &after);
    assert_string_equal(after.data, done->data);
    buf_free(&before);
    buf_free(&after);
    return fired;
}

static void try_all(struct fixture *fixture, const struct tool *tool)
{
    struct buf done = {0};
    fixture->err = (struct err){.arena = fixture->arena};
    prepare(fixture, tool);
    assert_true(tool->run(fixture, &fixture->err));
    read_contents(fixture->path, &done);
    for (int way = FAILING_ONCE; way < FAILING_WAYS; way++) {
        /* Failures that persist from a call on need not begin at each call. */
        unsigned step = way == FAILING_FROM_THEN_ON ? 7 : FAILING_STEP;
        unsigned nth = 1;
        for (; try_tool(fixture, tool, nth, (enum failing_way)way, &done); nth += step)
            assert_true(nth < CALLS_MOST);
        assert_true(nth > 4 || way == FAILING_AFTER_COMMIT);
    }
    buf_free(&done);
}

static void test_tools(void **state)
{
    struct fixture *fixture = *state;
    static const struct tool tools[] = {
        {.run = open_store, .is_from_nothing = true},
        {.run = open_store, .prepare = UNSYNCED "DROP TABLE berth_log"},
        {.run = sync_schema,
         .prepare = UNSYNCED "UPDATE alembic_version SET version_num = '422ece571366'"},
        {.run = stamp_schema},
        {.run = set_roots,
         .prepare = UNSYNCED "UPDATE resource_providers SET root_provider_id = NULL WHERE id = 1"},
        {.run = create_consumers, .prepare = UNSYNCED "DELETE FROM consumers"},
        {.run = restore_seed,
         .prepare = UNSYNCED "UPDATE resource_providers SET name = 'old-' || id"},
        {.run = restore_seed, .is_from_nothing = true},
    };
    store_close(open_seeded(fixture, NULL));
    assert_int_equal(rename(fixture->path, fixture_file(fixture, "seed")), 0);
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        print_message("tool %zu\n", i);
        try_all(fixture, &tools[i]);
    }
}

/* The copy is complete, or there is none. */
static void test_backup(void **state)
{
    struct fixture *fixture = *state;
    struct buf wanted = {0};
    struct buf found = {0};
    const char *copy = fixture_file(fixture, "copy");
    store_close(open_seeded(fixture, NULL));
    read_contents(fixture->path, &wanted);
    for (int way = FAILING_ONCE; way <= FAILING_FROM_THEN_ON; way++) {
        for (unsigned nth = 1, fired = 1; fired; nth += FAILING_STEP) {
            struct backup_facts facts;
            struct err err = {.arena = fixture->arena};
            unlink(copy);
            failing_arm(nth, (enum failing_way)way, SQLITE_IOERR);
            bool ok = backup_make(slice_of(fixture->url), copy, way == FAILING_ONCE, &watch, &facts,
                                  &err);
            fired = failing_disarm();
            assert_true(fired || ok);
            assert_int_equal(ok, !err_is_set(&err));
            assert_true(access(copy, F_OK) == 0 || !ok);
            if (access(copy, F_OK) == 0) {
                read_contents(copy, &found);
                assert_string_equal(found.data, wanted.data);
            }
        }
    }
    buf_free(&wanted);
    buf_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tools, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_backup, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
