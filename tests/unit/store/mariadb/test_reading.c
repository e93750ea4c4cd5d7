/* Which rows are read, and in which order. */
#include "changes.h"

#include "store/mariadb/exchange/rows_sql.h"

/* ---- reading ---- */

/* What clients cannot see is not read. */
static void test_visible(void **state)
{
    struct server server;
    (void)state;
    begin(&server, "utf8mb4");
    run(server.mysql, "UPDATE consumers SET project_id=9 WHERE id=1;"
                      "UPDATE resource_providers SET uuid='a\"b' WHERE id=3;"
                      "INSERT INTO allocations(id,resource_provider_id,consumer_id,"
                      "resource_class_id,used)VALUES(50,1,'CONSUMER-2',1,1),"
                      "(51,1,'consumer-2 ',1,1),(52,1,'nobody',1,1),(53,1,'consumer-2',9,1)");
    assert_int_equal(count_rows(&server, ROWS_CONSUMERS, 1), 0);
    assert_int_equal(count_rows(&server, ROWS_CONSUMERS, 2), 1);
    assert_int_equal(count_rows(&server, ROWS_PROVIDERS, 3), 0);
    assert_int_equal(count_rows(&server, ROWS_ALLOCATIONS, 2), 1); /* only byte by byte */
    assert_int_equal(count_rows(&server, ROWS_ALLOCATIONS, 3), 0); /* of an invisible provider */
    assert_int_equal(count_rows(&server, ROWS_HOLDERS, 1), 4);     /* also of those without a row */
    static const char *const uuids[] = {"a\\b", "\xc5\xbf", "\x7f", "", "\t", "\xc3\xb6"};
    for (size_t i = 0; i < sizeof(uuids) / sizeof(uuids[0]); i++) {
        struct buf sql = {0};
        buf_printf(&sql,
                   "SET sql_mode='NO_BACKSLASH_ESCAPES';UPDATE resource_providers SET"
                   " uuid='%s' WHERE id=2%c",
                   uuids[i], 0);
        run(server.mysql, sql.data);
        buf_free(&sql);
        assert_int_equal(count_rows(&server, ROWS_ALLOCATIONS, 2), 0);
    }
    run(server.mysql, "UPDATE resource_providers SET uuid=' !#[]~' WHERE id=2");
    assert_int_equal(count_rows(&server, ROWS_ALLOCATIONS, 2), 1);
    server_end(&server);
}

/* Whole tables, those in the order of the ids that have some, and what is above an id. */
static void test_tables(void **state)
{
    struct server server;
    struct change rows[8];
    (void)state;
    begin(&server, "utf8mb3");
    run(server.mysql, "INSERT INTO allocations(id,resource_provider_id,consumer_id,"
                      "resource_class_id,used)VALUES(50,1,'CONSUMER-2',1,1)");
    for (int table = 0; table < ROWS_HOLDERS; table++) {
        struct buf sql = {0};
        size_t expected =
            table >= ROWS_RECORDS && table < ROWS_PARENTS                                   ? 0
            : table == ROWS_INVENTORIES                                                     ? 6
            : table == ROWS_PROJECTS || table == ROWS_USERS || table == ROWS_CONSUMER_TYPES ? 1
                                                                                            : 3;
        mariadb_rows_sql_all((enum rows_table)table, &sql);
        size_t count = read_rows(&server, (enum rows_table)table, &sql, rows, 8);
        if (table == ROWS_ALLOCATIONS) {
            assert_int_equal(count, 0); /* the reader knows the consumers */
            continue;
        }
        assert_int_equal(count, expected);
        if (table == ROWS_INVENTORIES || table == ROWS_PROVIDER_TRAITS ||
            table == ROWS_PROVIDER_AGGREGATES || expected == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            assert_int_equal(rows[i].catalog.id, i + 1);
    }
    server_end(&server);
}

/* More ids than the server takes as one list. */
static void test_many_ids(void **state)
{
    enum { IDS = 1001 };
    struct server server;
    int64_t ids[IDS];
    struct change rows[8];
    (void)state;
    begin(&server, "utf8mb3");
    add_provider(&server, IDS - 1, 0, IDS - 1);
    add_consumer(&server, CHANGE_CONSUMER_INSERT, 700, 0, 0);
    add_allocation(&server, 700, 700, IDS - 1, 1);
    expect_written(&server);
    for (int64_t i = 0; i < IDS; i++)
        ids[i] = i;
    struct buf sql = {0};
    mariadb_rows_sql_of_ids(ROWS_PROVIDERS, ids, IDS, &MARIADB_ALL_INDEXES, &sql);
    assert_int_equal(read_rows(&server, ROWS_PROVIDERS, &sql, rows, 8), 4);
    assert_int_equal(rows[3].provider.id, IDS - 1);
    mariadb_rows_sql_of_ids(ROWS_ALLOCATIONS, ids, IDS, &MARIADB_ALL_INDEXES, &sql);
    assert_int_equal(read_rows(&server, ROWS_ALLOCATIONS, &sql, rows, 8), 4);
    assert_int_equal(rows[3].allocation.consumer_id, 700);
    mariadb_rows_sql_of_ids(ROWS_HOLDERS, ids, IDS, &MARIADB_ALL_INDEXES, &sql);
    assert_int_equal(read_rows(&server, ROWS_HOLDERS, &sql, rows, 8), 4);
    mariadb_rows_sql_of_ids(ROWS_PROVIDER_TRAITS, ids, IDS, &MARIADB_ALL_INDEXES, &sql);
    assert_int_equal(read_rows(&server, ROWS_PROVIDER_TRAITS, &sql, rows, 8), 3);
    server_end(&server);
}

/* A database may have indexes under other names. */
static void test_without_indexes(void **state)
{
    static const struct mariadb_indexes none = {false, false, false};
    struct server server;
    struct change rows[8];
    const int64_t ids[] = {1, 3};
    (void)state;
    begin(&server, "utf8mb3");
    run(server.mysql, "ALTER TABLE allocations DROP INDEX " MARIADB_CONSUMER_INDEX
                      ", DROP INDEX " MARIADB_PROVIDER_INDEX ";"
                      "ALTER TABLE inventories DROP INDEX " MARIADB_INVENTORY_INDEX);
    struct buf sql = {0};
    mariadb_rows_sql_of_ids(ROWS_ALLOCATIONS, ids, 2, &none, &sql);
    assert_int_equal(read_rows(&server, ROWS_ALLOCATIONS, &sql, rows, 8), 2);
    mariadb_rows_sql_of_ids(ROWS_HOLDERS, ids, 2, &none, &sql);
    assert_int_equal(read_rows(&server, ROWS_HOLDERS, &sql, rows, 8), 2);
    mariadb_rows_sql_of_ids(ROWS_INVENTORIES, ids, 2, &none, &sql);
    assert_int_equal(read_rows(&server, ROWS_INVENTORIES, &sql, rows, 8), 4);
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visible),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_many_ids),
        cmocka_unit_test(test_without_indexes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
