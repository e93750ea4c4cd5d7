/* store/sqlite/joined_wal: a few calls write the same bytes as many would. */
#include "store/sqlite/joined_wal.h"

#include <stdio.h>

#include "fixture.h"
#include "shim.h"
#include "store/sqlite/db.h"

enum { ROWS = 400 };

static void open_joined(struct fixture *fixture, struct db *db, int page_size)
{
    struct db_options options = {.path = fixture->path, .create = true, .joins_wal = true};
    struct db made;
    char pragma[64];
    assert_true(db_open(
        &made, &(struct db_options){.path = fixture->path, .create = true, .keep_journal = true},
        &fixture->err));
    snprintf(pragma, sizeof(pragma), "PRAGMA page_size = %d", page_size);
    assert_true(db_exec(&made, pragma, &fixture->err));
    assert_true(db_exec(&made, "CREATE TABLE t (a TEXT UNIQUE, b BLOB)", &fixture->err));
    db_close(&made, false);
    assert_true(db_open(db, &options, &fixture->err));
}

static void insert_rows(struct fixture *fixture, struct db *db, const char *begin, const char *end)
{
    char sql[256];
    snprintf(sql, sizeof(sql),
             "%s; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             "INSERT INTO t SELECT hex(randomblob(16)), zeroblob(1000) FROM n; %s",
             begin, ROWS, end);
    assert_true(db_exec(db, sql, &fixture->err));
}

/* Another connection, served by SQLite's own VFS, sees everything, complete. */
static void expect_rows(struct fixture *fixture, long long rows)
{
    struct buf out = {0};
    foreign_rows(fixture->path, "PRAGMA integrity_check", &out);
    assert_int_equal(out.len, 3);
    assert_memory_equal(out.data, "ok\n", 3);
    buf_free(&out);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM t"), rows);
}

static void test_few_calls(void **state)
{
    struct fixture *fixture = *state;
    struct db db;
    open_joined(fixture, &db, 4096);
    insert_rows(fixture, &db, "BEGIN", "COMMIT");
    expect_rows(fixture, ROWS);
    shim_wal_writes = 0;
    insert_rows(fixture, &db, "BEGIN", "COMMIT");
    /* about 130 pages of 4 KiB, 128 KiB at once */
    assert_in_range(shim_wal_writes, 1, 8);
    expect_rows(fixture, 2 * ROWS);
    /* What a killed process leaves is complete, too. */
    db_close(&db, true);
    expect_rows(fixture, 2 * ROWS);
}

static void test_pages_of_all_sizes(void **state)
{
    struct fixture *fixture = *state;
    static const int sizes[] = {512, 4096, 65536};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct db db;
        open_joined(fixture, &db, sizes[i]);
        assert_int_equal(foreign(fixture->path, "PRAGMA page_size"), sizes[i]);
        for (long long n = 1; n <= 3; n++) {
            insert_rows(fixture, &db, "BEGIN", "COMMIT");
            expect_rows(fixture, n * ROWS);
        }
        assert_true(db_exec(&db, "PRAGMA wal_checkpoint(TRUNCATE)", &fixture->err));
        expect_rows(fixture, 3 * ROWS);
        db_close(&db, false);
        assert_int_equal(remove(fixture->path), 0);
    }
}

/* A cache of ten pages writes pages to the WAL before the commit, and reads them back from it. */
static void test_read_before_commit(void **state)
{
    struct fixture *fixture = *state;
    struct db db;
    int64_t count = 0;
    open_joined(fixture, &db, 4096);
    assert_true(db_exec(&db, "PRAGMA cache_size = 10", &fixture->err));
    insert_rows(fixture, &db, "BEGIN", "SELECT 1");
    assert_true(
        db_query_int(&db, "SELECT count(*) FROM t WHERE length(b) = 1000", &count, &fixture->err));
    assert_int_equal(count, ROWS);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM t"), 0);
    assert_true(db_exec(&db, "ROLLBACK", &fixture->err));
    expect_rows(fixture, 0);
    insert_rows(fixture, &db, "BEGIN", "COMMIT");
    expect_rows(fixture, ROWS);
    db_close(&db, false);
}

static void test_write_fails(void **state)
{
    struct fixture *fixture = *state;
    static const int codes[] = {SQLITE_FULL, SQLITE_IOERR_WRITE};
    struct db db;
    open_joined(fixture, &db, 4096);
    insert_rows(fixture, &db, "BEGIN", "COMMIT");
    for (size_t i = 0; i < 2; i++) {
        insert_rows(fixture, &db, "BEGIN", "SELECT 1");
        shim.write_fails = codes[i];
        assert_int_equal(sqlite3_exec(db.handle, "COMMIT", NULL, NULL, NULL), codes[i] & 0xff);
        shim.write_fails = 0;
        if (!sqlite3_get_autocommit(db.handle))
            assert_true(db_exec(&db, "ROLLBACK", &fixture->err));
        expect_rows(fixture, ROWS * (long long)(i + 1));
        insert_rows(fixture, &db, "BEGIN", "COMMIT");
        expect_rows(fixture, ROWS * (long long)(i + 2));
    }
    db_close(&db, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_few_calls, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_pages_of_all_sizes, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_read_before_commit, shim_setup, shim_teardown),
        cmocka_unit_test_setup_teardown(test_write_fails, shim_setup, shim_teardown),
    };
    shim_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
