/* berth's own tables on a real server: what is created, completed, and left alone. */
#include "sessions.h"

#include "store/mariadb/schema/own_tables.h"

static struct mariadb_session *session;
static struct arena *arena;

#define COUNT_OWN                                                                                  \
    "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"               \
    " AND TABLE_NAME LIKE 'berth%'"

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    session = open_session();
    return 0;
}

/* As an operator removes berth from a database. */
static int tear_down(void **state)
{
    (void)state;
    run(session, "DROP TABLE IF EXISTS berth_log, berth_epochs, berth_instances, berth_foreign,"
                 " berth_locks, berth_nodes, berth_node_allocations, berth_valet_groups,"
                 " berth_valet_members, berth_valet_claims, berth_valet_plans,"
                 " berth_valet_placements");
    assert_string_equal(value_of(arena, session, COUNT_OWN), "0");
    mariadb_session_destroy(session);
    arena_destroy(arena);
    return 0;
}

static struct mariadb_own_statements compare(void)
{
    struct attempt tried = begin_attempt();
    struct mariadb_own_statements statements = {0};
    enum server_outcome outcome =
        mariadb_own_tables_compare(session, arena, &statements, soon(), &tried.err);
    expect_outcome(&tried, session, outcome, SERVER_OK, NULL);
    return statements;
}

static void create_missing(void)
{
    struct mariadb_own_statements statements = compare();
    for (size_t i = 0; i < statements.count; i++)
        run(session, statements.sql[i]);
    assert_int_equal(compare().count, 0);
}

/* After a change, exactly one statement is made, and it completes the tables. */
static void completed_by(const char *change, const char *expected)
{
    run(session, change);
    struct mariadb_own_statements statements = compare();
    assert_int_equal(statements.count, 1);
    assert_string_equal(statements.sql[0], expected);
    create_missing();
}

static void test_from_nothing(void **state)
{
    (void)state;
    assert_int_equal(compare().count, 13); /* twelve tables, and the row of the lock */
    create_missing();
    assert_string_equal(value_of(arena, session, COUNT_OWN), "12");
    assert_string_equal(value_of(arena, session,
                                 "SELECT GROUP_CONCAT(DISTINCT CONCAT_WS(' ', ENGINE,"
                                 " TABLE_COLLATION)) FROM information_schema.TABLES"
                                 " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'berth%'"),
                        "InnoDB utf8mb4_bin");
    assert_string_equal(value_of(arena, session, "SELECT GROUP_CONCAT(name) FROM berth_locks"),
                        "batches");
    assert_string_equal(
        value_of(arena, session,
                 "SELECT COUNT(DISTINCT TABLE_NAME) FROM information_schema.STATISTICS"
                 " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'berth%'"
                 " AND INDEX_NAME = 'PRIMARY'"),
        "12");
}

static void test_values(void **state)
{
    (void)state;
    create_missing();
    run(session, "INSERT INTO berth_log VALUES (9223372036854775807,"
                 " x'00000000000000000000000000000000', x'20202020202020202020202020202020',"
                 " '9999-12-31 23:59:59.999999', x'00')");
    assert_string_equal(value_of(arena, session,
                                 "SELECT CONCAT_WS(' ', number, LENGTH(mark), HEX(digest),"
                                 " written_at, HEX(entries)) FROM berth_log"),
                        "9223372036854775807 16 20202020202020202020202020202020"
                        " 9999-12-31 23:59:59.999999 00");
    run(session, "INSERT INTO berth_nodes (uuid, name) VALUES ('u', 'm3'), ('v', 'm3 '),"
                 " ('w', 'M3')");
    assert_string_equal(value_of(arena, session, "SELECT COUNT(*) FROM berth_nodes"), "3");
}

static void test_completed(void **state)
{
    (void)state;
    create_missing();
    run(session, "INSERT INTO berth_nodes (uuid, name) VALUES ('u', 'n')");
    completed_by("ALTER TABLE berth_nodes DROP COLUMN driver",
                 "ALTER TABLE berth_nodes ADD COLUMN `driver` LONGTEXT");
    completed_by("ALTER TABLE berth_valet_plans DROP KEY berth_valet_plans_uuid",
                 "ALTER TABLE berth_valet_plans ADD UNIQUE KEY berth_valet_plans_uuid (`uuid`)");
    completed_by("DELETE FROM berth_locks", "INSERT INTO berth_locks (name) VALUES ('batches')");
    completed_by("DROP TABLE berth_epochs",
                 "CREATE TABLE berth_epochs (`epoch` BIGINT NOT NULL, `number` BIGINT NOT NULL,"
                 " `began_at` DATETIME(6) NOT NULL, `reason` VARCHAR(1000) NOT NULL,"
                 " PRIMARY KEY (`epoch`)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
                 " COLLATE=utf8mb4_bin");
    run(session, "ALTER TABLE berth_nodes ADD COLUMN later TEXT;"
                 " CREATE TABLE berth_later (id INT PRIMARY KEY);"
                 " INSERT INTO berth_locks VALUES ('later')");
    assert_int_equal(compare().count, 0);
    run(session, "DROP TABLE berth_later");
    assert_string_equal(value_of(arena, session, "SELECT name FROM berth_nodes"), "n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_from_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_completed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
