/* What an instance does with the schema at its start, on a real server: also with what a process
 * that was killed has left, and after a failure in the middle. */
#include "sessions.h"

#include "store/mariadb/schema/migrate.h"
#include "store/mariadb/session/session_settings.h"
#include "store/standard.h"

static struct mariadb_session *session;
static struct arena *arena;

static void drop_all(void)
{
    const char *names = value_of(arena, session,
                                 "SELECT GROUP_CONCAT(TABLE_NAME) FROM information_schema.TABLES"
                                 " WHERE TABLE_SCHEMA = DATABASE()");
    if (names != NULL && names[0] != '\0')
        run(session, arena_printf(arena,
                                  "SET foreign_key_checks=0; DROP TABLE %s;"
                                  " SET foreign_key_checks=1",
                                  names)
                         .data);
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    session = open_admin();
    drop_all();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    drop_all();
    mariadb_session_destroy(session);
    arena_destroy(arena);
    return 0;
}

static void value_is(const char *sql, const char *expected)
{
    const char *value = value_of(arena, session, sql);
    assert_non_null(value);
    assert_string_equal(value, expected);
}

/* However it ends, the session is as before. */
static bool start(bool sync, struct slice *message)
{
    struct err err = {.arena = arena};
    bool ok = mariadb_migrate_at_start(session, sync, soon(), &err);
    assert_int_equal(ok, !err_is_set(&err));
    assert_true(mariadb_session_is_open(session));
    assert_false(mariadb_session_in_transaction(session));
    value_is("SELECT @@SESSION.sql_mode = '" MARIADB_SQL_MODE "' OR"
             " NOT FIND_IN_SET('NO_AUTO_VALUE_ON_ZERO', @@SESSION.sql_mode)",
             "1");
    *message = err.message;
    return ok;
}

static void starts(bool sync)
{
    struct slice message;
    if (!start(sync, &message))
        fail_msg("%.*s", SLICE_ARG(message));
}

static void does_not_start(bool sync, const char *because)
{
    struct slice message;
    assert_false(start(sync, &message));
    if (strstr(arena_printf(arena, "%.*s", SLICE_ARG(message)).data, because) == NULL)
        fail_msg("%.*s", SLICE_ARG(message));
}

static void has_everything(const char *revision)
{
    value_is("SELECT version_num FROM alembic_version", revision);
    value_is("SELECT COUNT(*) FROM traits",
             arena_printf(arena, "%d", standard_trait_names_count).data);
    value_is("SELECT COUNT(*) FROM resource_classes",
             arena_printf(arena, "%d", standard_class_names_count).data);
    value_is("SELECT MIN(id) FROM resource_classes", "0");
    value_is("SELECT name FROM resource_classes WHERE id = 0", standard_class_names[0]);
    value_is("SELECT GROUP_CONCAT(name ORDER BY name) FROM berth_locks", "batches");
    value_is("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
             " AND TABLE_NAME = 'berth_creating'",
             "0");
    value_is("SELECT COUNT(*) FROM information_schema.STATISTICS WHERE"
             " TABLE_SCHEMA = DATABASE() AND INDEX_NAME IN ('resource_providers_name_idx',"
             " 'ix_placement_aggregates_uuid', 'inventories_resource_provider_id_idx')",
             "0");
}

static void test_from_nothing(void **state)
{
    (void)state;
    does_not_start(false, "has no schema: run \"placement-manage db sync\"");
    value_is("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()", "0");
    starts(true);
    has_everything("a082b8bb98d0");
    starts(false);
    starts(true);
    has_everything("a082b8bb98d0");
}

static void test_names_completed(void **state)
{
    (void)state;
    starts(true);
    run(session, "DELETE FROM resource_classes WHERE id IN (0, 3); DELETE FROM traits WHERE"
                 " id > 5");
    starts(false);
    has_everything("a082b8bb98d0");
    run(session, "DELETE FROM resource_classes WHERE id = 0");
    starts(false);
    has_everything("a082b8bb98d0");
}

/* Nothing of a transaction that fails in the middle is left. */
static void test_names_refused(void **state)
{
    (void)state;
    starts(true);
    run(session, "DELETE FROM resource_classes WHERE id = 0; DELETE FROM traits WHERE id = 2");
    run(session, "CREATE TRIGGER refuse BEFORE INSERT ON traits FOR EACH ROW"
                 " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not now'");
    does_not_start(false, "cannot be given its standard classes and traits: not now");
    value_is("SELECT COUNT(*) FROM resource_classes WHERE id = 0", "0");
    run(session, "DROP TRIGGER refuse");
    starts(false);
    has_everything("a082b8bb98d0");
}

/* Everything that a killed process has done is there already. */
static void test_resumed(void **state)
{
    (void)state;
    starts(true);
    run(session, "UPDATE alembic_version SET version_num = 'b5c396305c25'");
    does_not_start(false, "is at the old schema revision b5c396305c25");
    starts(true);
    has_everything("a082b8bb98d0");
    run(session, "DELETE FROM alembic_version; DROP TABLE resource_provider_traits;"
                 " ALTER TABLE consumers DROP FOREIGN KEY consumers_consumer_type_id_fkey");
    does_not_start(true, "has tables but no schema revision");
    run(session, "CREATE TABLE berth_creating (id INTEGER NOT NULL PRIMARY KEY)");
    does_not_start(false, "has no schema");
    starts(true);
    has_everything("a082b8bb98d0");
    value_is("SELECT GROUP_CONCAT(CONSTRAINT_NAME ORDER BY HEX(CONSTRAINT_NAME)) FROM"
             " information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()",
             "consumers_consumer_type_id_fkey,resource_provider_traits_ibfk_1,"
             "resource_provider_traits_ibfk_2,resource_providers_ibfk_1,resource_providers_ibfk_2");
    run(session, "CREATE TABLE berth_creating (id INTEGER NOT NULL PRIMARY KEY)");
    starts(true);
    has_everything("a082b8bb98d0");
}

static void test_served(void **state)
{
    (void)state;
    char revision[33];
    struct err err = {.arena = arena};
    starts(true);
    run(session, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
    assert_true(mariadb_migrate_check_served(session, revision, soon(), &err));
    assert_string_equal(revision, "a082b8bb98d0");
    assert_true(mariadb_session_in_transaction(session));
    run(session, "ROLLBACK; UPDATE alembic_version SET version_num = '0123456789ab'");
    assert_false(mariadb_migrate_check_served(session, revision, soon(), &err));
    does_not_start(true, "is at schema revision 0123456789ab, which this version does not know");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_from_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_completed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_resumed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_served, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
