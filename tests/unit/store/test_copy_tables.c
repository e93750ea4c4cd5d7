/* The description of what is copied, compared with the tables of a new database: a column that it
 * lacked would be lost. */
#include "fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "store/copy_tables.h"
#include "store/schema.h"

static sqlite3 *open_new(struct fixture *fixture)
{
    char url[160];
    sqlite3 *db;
    snprintf(url, sizeof(url), "sqlite:///%s", fixture->path);
    struct store *store = fixture_try(fixture, url, true, true);
    assert_non_null(store);
    store_close(store);
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    return db;
}

static const struct copy_column *find(const struct copy_table *table, const char *name)
{
    for (unsigned i = 0; i < table->count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return &table->columns[i];
    return NULL;
}

static bool is_in_key(const struct copy_table *table, const struct copy_column *column)
{
    for (unsigned i = 0; i < table->key_count; i++)
        if (&table->columns[table->key[i]] == column)
            return true;
    return false;
}

static void expect_same_columns(sqlite3 *db, const struct copy_table *table)
{
    sqlite3_stmt *columns;
    unsigned count = 0;
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT name, \"notnull\", pk FROM pragma_table_info(?1)",
                                        -1, &columns, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(columns, 1, table->name, -1, SQLITE_STATIC);
    for (; sqlite3_step(columns) == SQLITE_ROW; count++) {
        const char *name = (const char *)sqlite3_column_text(columns, 0);
        const struct copy_column *column = find(table, name);
        if (column == NULL)
            fail_msg("%s.%s is not copied", table->name, name);
        if (!rows_is_record(table->rows) &&
            column->is_needed != (sqlite3_column_int(columns, 1) == 1))
            fail_msg("%s.%s: NOT NULL", table->name, name);
        if (is_in_key(table, column) != (sqlite3_column_int(columns, 2) > 0))
            fail_msg("%s.%s: key", table->name, name);
    }
    sqlite3_finalize(columns);
    assert_int_equal(count, table->count);
}

static void all_columns(void **state)
{
    sqlite3 *db = open_new(*state);
    for (unsigned i = 0; i < COPY_TABLES; i++) {
        struct copy_table table;
        copy_table_describe((enum rows_table)i, &table);
        expect_same_columns(db, &table);
    }
    sqlite3_close(db);
}

/* Apart from the schema's revision and the log. */
static void all_tables(void **state)
{
    sqlite3 *db = open_new(*state);
    sqlite3_stmt *names;
    assert_int_equal(
        sqlite3_prepare_v2(db,
                           "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN"
                           " ('alembic_version', 'berth_head', 'berth_log')",
                           -1, &names, NULL),
        SQLITE_OK);
    while (sqlite3_step(names) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(names, 0);
        unsigned i = 0;
        while (i < COPY_TABLES && strcmp(rows_name((enum rows_table)i), name) != 0)
            i++;
        if (i == COPY_TABLES)
            fail_msg("%s is not copied", name);
    }
    sqlite3_finalize(names);
    sqlite3_close(db);
}

static int64_t count(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* Every foreign key and every unique text of the schema is in a list. */
static void references_and_unique_texts(void **state)
{
    sqlite3 *db = open_new(*state);
    assert_int_equal(count(db, "SELECT count(*) FROM sqlite_master m,"
                               " pragma_foreign_key_list(m.name) WHERE m.type = 'table'"),
                     COPY_REFERENCES);
    assert_int_equal(count(db, "SELECT count(*) FROM sqlite_master m, pragma_index_list(m.name) l,"
                               " pragma_index_info(l.name) c, pragma_table_info(m.name) t"
                               " WHERE m.type = 'table' AND l.\"unique\" AND t.name = c.name"
                               " AND t.type LIKE 'VARCHAR%' AND m.name <> 'alembic_version'"),
                     COPY_UNIQUES);
    for (unsigned i = 0; i < COPY_UNIQUES; i++) {
        struct copy_table table;
        copy_table_describe(copy_uniques[i].table, &table);
        const struct copy_column *column = find(&table, copy_uniques[i].column);
        assert_non_null(column);
        assert_int_not_equal(column->in_rows, COPY_NOT_IN_ROWS);
    }
    sqlite3_close(db);
}

static void keys(void **state)
{
    static const struct cell one[] = {
        {.integer = 7}, {.is_null = true}, {.is_null = true}, {.integer = 3}};
    static const struct cell other[] = {
        {.integer = 8}, {.is_null = true}, {.is_null = true}, {.integer = 2}};
    struct fixture *fixture = *state;
    struct copy_table table;
    copy_table_describe(ROWS_PROVIDER_TRAITS, &table);
    struct slice name = copy_table_row_name(&table, one, fixture->arena);
    assert_string_equal(name.data,
                        "resource_provider_traits with trait_id 3 and resource_provider_id 7");
    assert_true(copy_table_compare_keys(&table, one, other) > 0);
    copy_table_describe(ROWS_PROVIDER_AGGREGATES, &table);
    assert_true(copy_table_compare_keys(&table, one, other) < 0);
    assert_int_equal(copy_table_compare_keys(&table, one, one), 0);
    copy_table_describe(ROWS_CLASSES, &table);
    name = copy_table_row_name(&table, one, fixture->arena);
    assert_string_equal(name.data, "resource_classes with id 7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_columns, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(all_tables, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(references_and_unique_texts, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(keys, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
