/* Foreign writers write into the file whatever SQLite takes: after a merge memory is what a load
 * makes of the same file, and what it derives is sound. Each column of each table is written to,
 * alone and together with others, with values of other rows, with none, with odd ones; rows are
 * copied, deleted, and get other ids. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/compare.h"
#include "replica/replica.h"
#include "rounds.h"
#include "store/store.h"
#include "unit.h"
#include "version_text.h"

enum { COLUMNS_MAX = 128, SQL_MAX = 1024, ROUNDS = ROUNDS_OF(500) };

static const char *const tables[] = {
    "resource_classes",
    "traits",
    "placement_aggregates",
    "projects",
    "users",
    "consumer_types",
    "resource_providers",
    "inventories",
    "resource_provider_traits",
    "resource_provider_aggregates",
    "consumers",
    "allocations",
    "berth_nodes",
    "berth_node_allocations",
    "berth_valet_groups",
    "berth_valet_members",
    "berth_valet_claims",
    "berth_valet_plans",
    "berth_valet_placements",
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

struct world {
    char dir[64];
    char path[96];
    struct arena *arena;
    struct err err;
    struct store *merging; /* its memory is `replica` */
    struct store *loading; /* which loads everything each time */
    struct replica *replica;
    sqlite3 *foreign;
    struct columns {
        unsigned count;
        char name[COLUMNS_MAX][64];
    } columns[TABLES];
    uint64_t seed;
    struct buf log; /* what the foreign writer did in this round */
};

static unsigned below(struct world *world, unsigned sides)
{
    world->seed = world->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(world->seed >> 33) % sides;
}

/* False: SQLite does not take it. */
static bool try(struct world *world, const char *sql)
{
    bool ok = sqlite3_exec(world->foreign, sql, NULL, NULL, NULL) == SQLITE_OK;
    if (ok && sqlite3_changes(world->foreign) > 0)
        buf_printf(&world->log, "%s\n", sql);
    return ok;
}

static void run(struct world *world, const char *sql)
{
    if (!try(world, sql))
        fail_msg("%s: %s", sql, sqlite3_errmsg(world->foreign));
}

static struct store *open_store(struct world *world)
{
    struct store_options options = {.connection =
                                        arena_printf(world->arena, "sqlite:///%s", world->path),
                                    .busy_timeout_ms = 5000,
                                    .sync_schema = true,
                                    .create_missing_file = true,
                                    .synchronous_off = true};
    struct store *store = store_open(&options, &world->err);
    assert_non_null(store);
    return store;
}

static void read_columns(struct world *world)
{
    for (unsigned i = 0; i < TABLES; i++) {
        char sql[SQL_MAX];
        sqlite3_stmt *rows;
        struct columns *columns = &world->columns[i];
        snprintf(sql, sizeof(sql), "SELECT name FROM pragma_table_info('%s')", tables[i]);
        assert_int_equal(sqlite3_prepare_v2(world->foreign, sql, -1, &rows, NULL), SQLITE_OK);
        while (sqlite3_step(rows) == SQLITE_ROW)
            snprintf(columns->name[columns->count++], sizeof(columns->name[0]), "%s",
                     (const char *)sqlite3_column_text(rows, 0));
        sqlite3_finalize(rows);
        assert_int_not_equal(columns->count, 0);
    }
}

/* A row of each kind and some more, all visible. */
static void fill(struct world *world)
{
    static const char at[] = "'2026-01-02 03:04:05.000006', NULL";
    char sql[SQL_MAX];
    for (int i = 1; i <= 9; i++) {
        snprintf(
            sql, sizeof(sql),
            "INSERT OR IGNORE INTO resource_classes (created_at, updated_at, id, name) VALUES"
            " (%s, %d, 'CUSTOM_%d');"
            "INSERT OR IGNORE INTO placement_aggregates (created_at, updated_at, id, uuid) VALUES"
            " (%s, %d, 'a%d');"
            "INSERT OR IGNORE INTO projects (created_at, updated_at, id, external_id) VALUES"
            " (%s, %d, 'p%d');"
            "INSERT OR IGNORE INTO users (created_at, updated_at, id, external_id) VALUES"
            " (%s, %d, 'u%d');"
            "INSERT OR IGNORE INTO consumer_types (created_at, updated_at, id, name) VALUES"
            " (%s, %d, 'T%d')",
            at, 10000 + i, i, at, i, i, at, i, i, at, i, i, at, i, i);
        run(world, sql);
        snprintf(
            sql, sizeof(sql),
            "INSERT OR IGNORE INTO resource_providers (created_at, updated_at, id, uuid, name,"
            " generation, root_provider_id, parent_provider_id) VALUES"
            " (%s, %d, 'r%d', 'host%d', %d, %d, nullif(%d, 0));"
            "INSERT OR IGNORE INTO inventories (created_at, updated_at, resource_provider_id,"
            " resource_class_id, total, reserved, min_unit, max_unit, step_size,"
            " allocation_ratio) SELECT %s, %d, id, 8, 0, 1, 8, 1, 1.5 FROM resource_classes"
            " WHERE id %% 5 = %d AND id > 9998 OR id < 2;"
            "INSERT OR IGNORE INTO resource_provider_traits (created_at, resource_provider_id, "
            "trait_id)"
            " SELECT '2026-01-02 03:04:05', %d, id FROM traits WHERE id %% 97 = %d;"
            "INSERT OR IGNORE INTO resource_provider_aggregates (created_at, resource_provider_id,"
            " aggregate_id) VALUES (NULL, %d, %d), (NULL, %d, %d)",
            at, i, i, i, i, i < 4 ? i : i / 3, i < 4 ? 0 : i / 3, at, i, i % 5, i, i, i, i, i,
            1 + i % 9);
        run(world, sql);
        snprintf(sql, sizeof(sql),
                 "INSERT OR IGNORE INTO consumers (created_at, updated_at, id, uuid, project_id, "
                 "user_id,"
                 " generation, consumer_type_id) VALUES (%s, %d, 'c%d', %d, %d, %d, nullif(%d, 1));"
                 "INSERT OR IGNORE INTO allocations (created_at, updated_at, consumer_id,"
                 " resource_provider_id, resource_class_id, used) VALUES (%s, 'c%d', %d, 0, 2),"
                 " (NULL, NULL, 'c%d', %d, 1, 3)",
                 at, i, i, 1 + i % 3, 1 + i % 4, i, i, at, i, i, i, 1 + i % 9);
        run(world, sql);
        snprintf(sql, sizeof(sql),
                 "INSERT OR IGNORE INTO berth_nodes (id, uuid, name) VALUES (%d, 'n%d', 'node%d');"
                 "INSERT OR IGNORE INTO berth_node_allocations (id, uuid, name, node_id) VALUES"
                 " (%d, 'c%d', 'of%d', %d);"
                 "INSERT OR IGNORE INTO berth_valet_groups (id, uuid, name) VALUES (%d, 'g%d', "
                 "'group%d');"
                 "INSERT OR IGNORE INTO berth_valet_members (id, group_id, project_id) VALUES"
                 " (%d, %d, 'p%d');"
                 "INSERT OR IGNORE INTO berth_valet_claims (id, group_id, provider_uuid) VALUES"
                 " (%d, %d, 'r%d')",
                 i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i);
        run(world, sql);
        snprintf(sql, sizeof(sql),
                 "INSERT OR IGNORE INTO berth_valet_plans (id, uuid, name, stack_id, project_id,"
                 " user_id) VALUES (%d, 's%d', 'plan', 'stack%d', 'p%d', 'u1');"
                 "INSERT OR IGNORE INTO berth_valet_placements (id, uuid, plan_id, name,"
                 " orchestration_id) VALUES (%d, 'h%d', %d, 'server', 'o%d')",
                 i, i, i, i, i, i, i, i);
        run(world, sql);
    }
}

/* Lest everything decays: the rows that were deleted come back, those that are there stay. */
static void refill(struct world *world)
{
    for (unsigned t = 0; t < TABLES; t++) {
        char sql[SQL_MAX];
        bool is_standard = strcmp(tables[t], "traits") == 0;
        snprintf(sql, sizeof(sql), "DELETE FROM %s %s", tables[t],
                 strcmp(tables[t], "resource_classes") == 0 ? "WHERE id > 10000" : "");
        if (!is_standard)
            run(world, sql);
    }
    fill(world);
}

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    snprintf(world->dir, sizeof(world->dir), "/tmp/berth-merge-XXXXXX");
    assert_non_null(mkdtemp(world->dir));
    snprintf(world->path, sizeof(world->path), "%s/db", world->dir);
    world->arena = arena_create();
    world->err.arena = world->arena;
    world->merging = open_store(world);
    world->loading = open_store(world);
    world->replica = replica_create();
    assert_int_equal(sqlite3_open(world->path, &world->foreign), SQLITE_OK);
    run(world, "PRAGMA synchronous = OFF");
    read_columns(world);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    char command[128];
    sqlite3_close(world->foreign);
    replica_destroy(world->replica);
    store_close(world->merging);
    store_close(world->loading);
    snprintf(command, sizeof(command), "rm -r %s", world->dir);
    assert_int_equal(system(command), 0);
    arena_destroy(world->arena);
    buf_free(&world->log);
    free(world);
    return 0;
}

static void sink_apply(void *cls, const struct change *change)
{
    apply_change(cls, change);
}

static const struct differences *end_comparison(void *cls)
{
    return compare_end(cls);
}

static void begin(struct world *world, struct store *store)
{
    assert_int_equal(store_begin_read(store, &world->err), STORE_NEWS_RELOAD);
}

static void publish(struct world *world, struct replica *replica, struct store *store,
                    struct edit *edit)
{
    struct store_stamp ignored;
    struct version_stamp stamp = {{0}};
    (void)world;
    apply_flush(edit);
    assert_true(store_end_read(store, &ignored));
    replica_publish(replica, edit, &stamp);
}

static void load(struct world *world, struct replica *replica, struct store *store)
{
    struct edit *edit = replica_edit_empty(replica);
    begin(world, store);
    assert_int_equal(store_load(store, sink_apply, edit, &world->err), STORE_OK);
    publish(world, replica, store, edit);
}

/* How many entities differed. */
static size_t merge(struct world *world)
{
    const struct version *before = replica_newest(world->replica);
    struct comparison *comparison = compare_begin(before, SIZE_MAX);
    struct store_comparer comparer = {compare_change, end_comparison, comparison};
    struct edit *edit = replica_edit(world->replica);
    bool merged = false;
    begin(world, world->merging);
    enum store_result result =
        store_merge(world->merging, &comparer, sink_apply, edit, &merged, &world->err);
    assert_int_equal(result, STORE_OK);
    assert_true(merged);
    size_t count = compare_end(comparison)->count;
    compare_free(comparison);
    publish(world, world->replica, world->merging, edit);
    return count;
}

static void tell(const struct buf *merged, const struct buf *loaded)
{
    size_t at = 0;
    while (at < merged->len && at < loaded->len && merged->data[at] == loaded->data[at])
        at++;
    while (at > 0 && merged->data[at - 1] != '\n')
        at--;
    print_error("merged: %.*s\nloaded: %.*s\n",
                (int)(merged->len - at > 300 ? 300 : merged->len - at), merged->data + at,
                (int)(loaded->len - at > 300 ? 300 : loaded->len - at), loaded->data + at);
}

/* What is free and what is taken by rows that were left out. */
static void expect_same_ids(struct world *world)
{
    struct store_stamp ignored;
    assert_int_equal(store_begin_read(world->merging, &world->err), STORE_NEWS_NONE);
    assert_int_equal(store_begin_read(world->loading, &world->err), STORE_NEWS_NONE);
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        assert_int_equal(store_next_id(world->merging, (enum store_table)table),
                         store_next_id(world->loading, (enum store_table)table));
    for (int i = 1; i <= 9; i++) {
        struct slice name = arena_printf(world->arena, "host%d", i);
        assert_int_equal(store_is_taken(world->merging, CHANGE_PROVIDER_INSERT, 0, name),
                         store_is_taken(world->loading, CHANGE_PROVIDER_INSERT, 0, name));
    }
    assert_int_equal(store_figures(world->merging).skipped_rows,
                     store_figures(world->loading).skipped_rows);
    store_end_read(world->merging, &ignored);
    store_end_read(world->loading, &ignored);
}

/* Merges, and compares with a load. */
static size_t expect_as_loaded(struct world *world)
{
    struct buf merged = {0};
    struct buf loaded = {0};
    struct buf why = {0};
    struct replica *replica = replica_create();
    size_t count = merge(world);
    load(world, replica, world->loading);
    /* Two names that are none are alike in both. */
    bool is_sound = audit_version(replica_newest(replica), &why);
    why.len = 0;
    if (is_sound && !audit_version(replica_newest(world->replica), &why))
        fail_msg("after %.*s: %.*s", (int)world->log.len, world->log.data, (int)why.len, why.data);
    version_write_text(replica_newest(world->replica), &merged);
    version_write_text(replica_newest(replica), &loaded);
    if (merged.len != loaded.len || memcmp(merged.data, loaded.data, merged.len) != 0) {
        tell(&merged, &loaded);
        fail_msg("after %.*s", (int)world->log.len, world->log.data);
    }
    expect_same_ids(world);
    replica_destroy(replica);
    buf_free(&merged);
    buf_free(&loaded);
    buf_free(&why);
    world->log.len = 0;
    return count;
}

static void begin_filled(struct world *world)
{
    fill(world);
    load(world, world->replica, world->merging);
    struct replica *replica = replica_create();
    load(world, replica, world->loading);
    replica_destroy(replica);
    world->log.len = 0;
}

/* Somebody has written, though nothing that memory keeps. */
static void touch(struct world *world)
{
    run(world, "CREATE TABLE IF NOT EXISTS touched (n); INSERT INTO touched VALUES (1)");
}

static void nothing_differs_after_a_load(void **state)
{
    struct world *world = *state;
    begin_filled(world);
    touch(world);
    assert_int_equal(expect_as_loaded(world), 0);
}

static bool is_ours(const char *table)
{
    return strncmp(table, "berth_", 6) == 0;
}

/* The columns that memory keeps nothing of. */
static bool is_kept(const char *table, const char *column)
{
    bool is_link = strncmp(table, "resource_provider_", 18) == 0;
    bool is_time = strcmp(column, "created_at") == 0 || strcmp(column, "updated_at") == 0;
    if (is_ours(table))
        return true;
    if (is_time && (is_link || strcmp(table, "consumers") == 0))
        return false;
    if (strcmp(table, "allocations") == 0 && strcmp(column, "updated_at") == 0)
        return false;
    if (strcmp(column, "created_at") == 0 && strcmp(table, "resource_providers") == 0)
        return true;
    return strcmp(column, "root_provider_id") != 0;
}

/* Each column by itself: whatever is written there is found, and the next merge finds nothing. */
static void each_column_is_compared(void **state)
{
    struct world *world = *state;
    static const char *const values[] = {
        "7", "77777", "'2027-01-01 00:00:00'", "3.5", "NULL", "'{\"a\": 1}'", "'other'"};
    begin_filled(world);
    for (unsigned t = TABLES; t-- > 0;) { /* what refers to others first */
        for (unsigned c = 0; c < world->columns[t].count; c++) {
            const char *column = world->columns[t].name[c];
            bool is_written = false;
            size_t found = 0;
            refill(world);
            expect_as_loaded(world);
            for (unsigned v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
                char sql[SQL_MAX];
                snprintf(sql, sizeof(sql),
                         "UPDATE %s SET %s = %s WHERE rowid ="
                         " (SELECT min(rowid) FROM %s WHERE %s IS NOT %s)",
                         tables[t], column, values[v], tables[t], column, values[v]);
                if (!try(world, sql) || sqlite3_changes(world->foreign) == 0)
                    continue;
                is_written = true;
                found += expect_as_loaded(world);
                if (found > 0 && is_ours(tables[t])) /* as they are all alike */
                    break;
            }
            touch(world);
            assert_int_equal(expect_as_loaded(world), 0);
            if (!is_written || (is_kept(tables[t], column) && found == 0))
                fail_msg("%s.%s: written %d, found %zu", tables[t], column, is_written, found);
        }
    }
}

static void write_value(struct world *world, const char *table, const char *column, char *out,
                        size_t size)
{
    switch (below(world, 8)) {
    case 0:
        snprintf(out, size, "NULL");
        return;
    case 1:
        snprintf(out, size, "%u", below(world, 12));
        return;
    case 2:
        snprintf(out, size, "'x%u'", below(world, 12));
        return;
    case 3: {
        static const char *const odd[] = {"-3",     "x'00ff'", "2.5",
                                          "''",     "'a\"b'",  "99999999999",
                                          "'HW_X'", "'\xc3'",  "'2026-05-06 07:08:09.5'"};
        snprintf(out, size, "%s", odd[below(world, 9)]);
        return;
    }
    default:
        snprintf(out, size, "(SELECT %s FROM %s ORDER BY (rowid * %u) %% 31 LIMIT 1)", column,
                 table, 1 + below(world, 30));
    }
}

/* The rows that others of ours refer to, and not the hundreds of standard ones, mostly. */
static void write_where(struct world *world, const char *table, char *out, size_t size)
{
    bool is_standard = strcmp(table, "traits") == 0 || strcmp(table, "resource_classes") == 0;
    snprintf(out, size, "rowid = (SELECT rowid FROM %s %s ORDER BY (rowid * %u) %% 31 LIMIT 1)",
             table, is_standard && below(world, 2) == 0 ? "WHERE id % 97 < 10" : "",
             1 + below(world, 30));
}

static void write_once(struct world *world)
{
    unsigned t = below(world, TABLES);
    if (is_ours(tables[t]))
        t = below(world, TABLES);
    const char *table = tables[t];
    const char *column = world->columns[t].name[below(world, world->columns[t].count)];
    char where[256];
    char value[256];
    char sql[SQL_MAX];
    write_where(world, table, where, sizeof(where));
    switch (below(world, 10)) {
    case 0:
        snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE %s", table, where);
        break;
    case 1: /* rows that are alike but for one value: most break a constraint */
    case 2: {
        char columns[COLUMNS_MAX * 40] = "";
        char values[COLUMNS_MAX * 40] = "";
        char large[sizeof(columns) + sizeof(values) + 512];
        for (unsigned c = 0; c < world->columns[t].count; c++) {
            const char *name = world->columns[t].name[c];
            bool is_unique = strcmp(name, "uuid") == 0 || strcmp(name, "name") == 0 ||
                             strcmp(name, "external_id") == 0;
            char one[96];
            if (strcmp(name, "id") == 0)
                snprintf(one, sizeof(one), "%u", 1 + below(world, 14));
            else if (is_unique)
                snprintf(one, sizeof(one), "'y%u'", below(world, 30));
            else
                snprintf(one, sizeof(one), "%s", name);
            strcat(strcat(columns, c == 0 ? "" : ", "), name);
            strcat(strcat(values, c == 0 ? "" : ", "), one);
        }
        snprintf(large, sizeof(large), "INSERT OR IGNORE INTO %s (%s) SELECT %s FROM %s WHERE %s",
                 table, columns, values, table, where);
        try(world, large);
        return;
    }
    case 3: /* two rows change names or ids */
        snprintf(sql, sizeof(sql),
                 "BEGIN; CREATE TEMP TABLE two AS SELECT rowid AS r, %s AS v FROM %s"
                 " ORDER BY (rowid * %u) %% 31 LIMIT 2;"
                 "UPDATE OR IGNORE %s SET %s = -%s WHERE rowid IN (SELECT r FROM two);"
                 "UPDATE OR IGNORE %s SET %s = (SELECT v FROM two WHERE r != %s.rowid)"
                 " WHERE rowid IN (SELECT r FROM two); DROP TABLE two; COMMIT",
                 column, table, 1 + below(world, 30), table, column, column, table, column, table);
        if (strcmp(column, "id") == 0 || !try(world, sql))
            try(world, "ROLLBACK; DROP TABLE IF EXISTS two");
        return;
    default:
        write_value(world, table, column, value, sizeof(value));
        snprintf(sql, sizeof(sql), "UPDATE OR IGNORE %s SET %s = %s WHERE %s", table, column, value,
                 where);
    }
    try(world, sql);
}

static void a_merge_is_as_good_as_a_load(void **state)
{
    struct world *world = *state;
    const char *rounds = getenv("BERTH_MERGE_ROUNDS");
    const char *seed = getenv("BERTH_MERGE_SEED");
    unsigned long last = rounds == NULL ? ROUNDS : strtoul(rounds, NULL, 10);
    world->seed = seed == NULL ? 5 : strtoul(seed, NULL, 10);
    size_t found = 0;
    begin_filled(world);
    for (unsigned long round = 1; round <= last; round++) {
        touch(world);
        run(world, "BEGIN");
        if (round % 40 == 0)
            refill(world);
        for (unsigned writes = below(world, 6); writes > 0; writes--)
            write_once(world);
        try(world, "COMMIT");
        found += expect_as_loaded(world);
        arena_reset(world->arena);
    }
    assert_true(found > last);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(nothing_differs_after_a_load, setup, teardown),
        cmocka_unit_test_setup_teardown(each_column_is_compared, setup, teardown),
        cmocka_unit_test_setup_teardown(a_merge_is_as_good_as_a_load, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
