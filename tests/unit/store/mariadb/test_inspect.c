/* Reports on a server of its own, or on a node of a Galera cluster. */
#include "store/mariadb/report/inspect.h"

#include <stdio.h>

#include "await.h"
#include "base/clock.h"
#include "sessions.h"
#include "store/mariadb/foreign/coexist.h"
#include "store/mariadb/session/session_state.h"

struct found {
    struct arena *arena;
    struct store_report report;
};

static struct found inspect_as(struct mariadb_session *session, const char *own)
{
    struct attempt attempt = begin_attempt();
    struct found found = {.arena = arena_create()};
    expect_outcome(
        &attempt, session,
        mariadb_inspect(&session->base, own, found.arena, &found.report, soon(), &attempt.err),
        SERVER_OK, NULL);
    assert_false(mariadb_session_in_transaction(session));
    assert_true(found.report.made_us > 0 && found.report.server.seen_us > 0);
    return found;
}

static size_t count_warnings(const struct store_report *report, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < report->warning_count; i++) {
        struct slice one = report->warnings[i];
        count += memmem(one.data, one.len, text, strlen(text)) != NULL;
    }
    return count;
}

/* Exactly one of the warnings has the text. */
static void expect_warning(struct mariadb_session *session, const char *text)
{
    struct found found = inspect_as(session, NULL);
    if (count_warnings(&found.report, text) != 1) {
        for (size_t i = 0; i < found.report.warning_count; i++)
            print_error("%.*s\n", SLICE_ARG(found.report.warnings[i]));
        fail_msg("no warning, or several: %s", text);
    }
    arena_destroy(found.arena);
}

static void expect_only_warning(struct mariadb_session *session, const char *text)
{
    struct found found = inspect_as(session, NULL);
    for (size_t i = 0; found.report.warning_count != 1 && i < found.report.warning_count; i++)
        print_error("%.*s\n", SLICE_ARG(found.report.warnings[i]));
    assert_int_equal(found.report.warning_count, 1);
    arena_destroy(found.arena);
    expect_warning(session, text);
}

static void expect_no_warnings(struct mariadb_session *session)
{
    struct found found = inspect_as(session, NULL);
    for (size_t i = 0; i < found.report.warning_count; i++)
        print_error("%.*s\n", SLICE_ARG(found.report.warnings[i]));
    assert_int_equal(found.report.warning_count, 0);
    arena_destroy(found.arena);
}

/* The copies of data between the nodes of the tests' cluster need nothing that is not installed. */
static bool is_of_cluster(struct mariadb_session *admin)
{
    return mariadb_session_server(admin)->is_galera;
}

/* Settings that the tests' server has for speed. */
static void make_safe(struct mariadb_session *admin)
{
    run(admin, "SET GLOBAL innodb_flush_log_at_trx_commit = 1, GLOBAL sync_binlog = 1,"
               " GLOBAL max_allowed_packet = 16777216");
    if (is_of_cluster(admin))
        run(admin, "SET GLOBAL wsrep_sst_method = 'mariabackup'");
}

static struct mariadb_session *open_own(void)
{
    struct mariadb_session *admin = open_admin();
    make_safe(admin);
    mariadb_session_destroy(admin);
    return open_served("utf8mb3");
}

static void test_safe_server(void **state)
{
    (void)state;
    struct mariadb_session *session = open_own();
    struct found found = inspect_as(session, NULL);
    assert_true(found.report.has_log);
    assert_int_equal(found.report.log_head, 0);
    assert_int_equal(found.report.log_rows, 0);
    assert_int_equal(found.report.instance_count, 0);
    assert_int_equal(found.report.id_count, 10);
    assert_int_equal(found.report.waiting, 0);
    arena_destroy(found.arena);
    expect_no_warnings(session);
    mariadb_session_destroy(session);
}

#define INSERT_INSTANCES                                                                           \
    "INSERT INTO berth_instances (instance, host, version, node, pid, followed, first_seen,"       \
    " last_seen) VALUES "

static void test_rows_of_berth(void **state)
{
    (void)state;
    struct mariadb_session *session = open_own();
    run(session,
        "INSERT INTO berth_log VALUES (3, 'm', 'd', UTC_TIMESTAMP(6) - INTERVAL 60 SECOND,"
        " ''), (20007, 'm', 'd', UTC_TIMESTAMP(6) - INTERVAL 10 SECOND, '');" INSERT_INSTANCES
        "('a', 'host1', '1.0', '', 11, 20000, UTC_TIMESTAMP(6),"
        " UTC_TIMESTAMP(6) - INTERVAL 5 SECOND),"
        " ('b', 'host2', '1.1', '', 12, 3, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)),"
        " ('c', 'host3', '1.1', '', 13, 3, UTC_TIMESTAMP(6),"
        " UTC_TIMESTAMP(6) - INTERVAL 50 MINUTE),"
        " ('d', 'host4', '1.1', '', 14, 3, UTC_TIMESTAMP(6),"
        " UTC_TIMESTAMP(6) - INTERVAL 2 HOUR);"
        "INSERT INTO berth_foreign (entity, entity_id, consumer_uuid)"
        " VALUES ('consumer', 1, ''), ('consumer', 2, '')");
    struct found found = inspect_as(session, "b");
    const struct store_report *report = &found.report;
    assert_int_equal(report->log_head, 20007);
    assert_int_equal(report->log_rows, 20005);
    assert_in_range(report->log_head_s, 10, 40);
    assert_true(report->log_bytes > 0);
    assert_int_equal(report->waiting, 2);
    assert_int_equal(report->triggers, 0);
    assert_int_equal(report->instance_count, 3);
    const struct store_instance *second = &report->instances[1];
    assert_true(slice_equal(second->host, SLICE_LIT("host2")) && second->is_own);
    assert_false(report->instances[0].is_own);
    assert_int_equal(second->behind, 20004);
    assert_int_equal(second->pid, 12);
    assert_in_range(report->instances[0].seen_s, 5, 35);
    assert_int_equal(count_warnings(report, "the instance host2, process 12, is 20004 batches"), 1);
    assert_int_equal(count_warnings(report, "instances of versions 1.0 and 1.1 have run lately"),
                     1);
    assert_int_equal(report->warning_count, 2);
    arena_destroy(found.arena);
    mariadb_session_destroy(session);
}

/* Only instances that still run, and whose node is known, count. */
static void test_nodes_of_instances(void **state)
{
    (void)state;
    static const struct {
        const char *change;
        bool is_warned;
    } cases[] = {
        {INSERT_INSTANCES "('a', 'host1', '1', 'n1', 11, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)),"
                          " ('b', 'host2', '1', 'n1', 12, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)),"
                          " ('c', 'host3', '1', '', 13, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)),"
                          " ('d', 'host4', '1', 'n2', 14, 0, UTC_TIMESTAMP(6),"
                          " UTC_TIMESTAMP(6) - INTERVAL 200 SECOND),"
                          " ('e', 'host5', '1', 'n3', 15, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))",
         true},
        {"UPDATE berth_instances SET node = 'n1' WHERE instance = 'e'", false},
        {"UPDATE berth_instances SET node = '' WHERE instance = 'e'", false},
    };
    struct mariadb_session *session = open_own();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run(session, cases[i].change);
        struct found found = inspect_as(session, NULL);
        assert_int_equal(found.report.warning_count, cases[i].is_warned ? 1 : 0);
        assert_true(slice_equal(found.report.instances[3].node, SLICE_LIT("n2")));
        assert_int_equal(found.report.instances[2].node.len, 0);
        arena_destroy(found.arena);
        if (cases[i].is_warned)
            expect_warning(session, "instances write through different nodes (n1, n3): their");
    }
    mariadb_session_destroy(session);
}

static bool is_synced(struct mariadb_session *admin)
{
    struct arena *arena = arena_create();
    const char *state = value_of(arena, admin,
                                 "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
                                 " WHERE VARIABLE_NAME = 'wsrep_local_state_comment'");
    bool synced = strcmp(state, "Synced") == 0;
    arena_destroy(arena);
    return synced;
}

static void test_settings(void **state)
{
    (void)state;
    static const struct {
        const char *set, *unset, *alone, *of_cluster;
    } cases[] = {
        {"innodb_flush_log_at_trx_commit = 2", "innodb_flush_log_at_trx_commit = 1",
         "innodb_flush_log_at_trx_commit is 2: a crash of the server's machine loses",
         "innodb_flush_log_at_trx_commit is 2: a crash of all nodes at once loses"},
        {"innodb_flush_log_at_trx_commit = 0", "innodb_flush_log_at_trx_commit = 1",
         "innodb_flush_log_at_trx_commit is 0: a crash of the server's machine loses",
         "innodb_flush_log_at_trx_commit is 0: a crash of all nodes at once loses"},
        {"read_only = 1", "read_only = 0", "read_only is on: the server accepts no writes",
         "read_only is on: the server accepts no writes"},
        {"auto_increment_increment = 11", "auto_increment_increment = 1",
         "auto_increment_increment is 11: ids are used up that many times as fast", NULL},
        {"wsrep_OSU_method = RSU", "wsrep_OSU_method = TOI", NULL,
         "wsrep_OSU_method is RSU: a change of the schema stays on one node"},
        {"wsrep_max_ws_size = 1048576", "wsrep_max_ws_size = 2147483647", NULL,
         "wsrep_max_ws_size is 1048576: larger changes are refused"},
        {"wsrep_max_ws_rows = 1000", "wsrep_max_ws_rows = 0", NULL,
         "wsrep_max_ws_rows is 1000: changes of more rows"},
        {"wsrep_sst_method = 'rsync'", "wsrep_sst_method = 'mariabackup'", NULL,
         "wsrep_sst_method is rsync: a node accepts no writes while another one copies its data"},
        {"wsrep_provider_options = 'pc.ignore_sb=1'", "wsrep_provider_options = 'pc.ignore_sb=0'",
         NULL, "pc.ignore_sb is on: nodes that do not reach each other accept different changes"},
    };
    struct mariadb_session *session = open_own();
    struct mariadb_session *admin = open_admin();
    bool is_node = is_of_cluster(admin);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *expected = is_node ? cases[i].of_cluster : cases[i].alone;
        if (expected == NULL)
            continue;
        char sql[200];
        snprintf(sql, sizeof(sql), "SET GLOBAL %s", cases[i].set);
        run(admin, sql);
        AWAIT(!is_node || is_synced(admin)); /* read_only stops a node for a moment */
        expect_only_warning(session, expected);
        snprintf(sql, sizeof(sql), "SET GLOBAL %s", cases[i].unset);
        run(admin, sql);
        AWAIT(!is_node || is_synced(admin));
        expect_no_warnings(session);
    }
    mariadb_session_destroy(admin);
    mariadb_session_destroy(session);
}

static void test_node_that_lags(void **state)
{
    (void)state;
    struct mariadb_session *session = open_own();
    struct mariadb_session *admin = open_admin();
    if (is_of_cluster(admin)) {
        run(admin, "SET GLOBAL wsrep_desync = 1");
        expect_warning(session, " is Donor/Desynced, not Synced: it may answer late");
        run(admin, "SET GLOBAL wsrep_desync = 0");
        AWAIT(is_synced(admin));
        expect_no_warnings(session);
    }
    mariadb_session_destroy(admin);
    mariadb_session_destroy(session);
}

/* What a session has for itself. */
static void test_settings_of_session(void **state)
{
    (void)state;
    struct mariadb_session *session = open_own();
    run(session, "SET timestamp = UNIX_TIMESTAMP() + 60.5");
    expect_warning(session, " s ahead of this machine's: rows get wrong times");
    run(session, "SET timestamp = DEFAULT");
    run(session, "SET timestamp = UNIX_TIMESTAMP() - 60");
    expect_warning(session, " s behind this machine's: rows get wrong times");
    run(session, "SET timestamp = DEFAULT");
    expect_no_warnings(session);
    mariadb_session_destroy(session);
}

static void test_tables(void **state)
{
    (void)state;
    static const struct {
        const char *change, *warning;
    } cases[] = {
        {"ALTER TABLE traits DROP COLUMN updated_at",
         "columns of the schema are missing, or this user has no rights on them: "
         "traits.updated_at"},
        {"ALTER TABLE consumers DROP INDEX uniq_consumers0uuid",
         "unique indexes of the schema are missing: consumers (uuid)"},
        {"ALTER TABLE inventories DROP INDEX uniq_inventories0resource_provider_resource_class",
         "missing: inventories (resource_class_id,resource_provider_id)"},
        {"ALTER TABLE users ENGINE = MyISAM", "tables are not stored by InnoDB: users. "},
        {"ALTER TABLE resource_provider_aggregates DROP PRIMARY KEY",
         "tables have no primary key: resource_provider_aggregates. "},
        {"ALTER TABLE projects MODIFY external_id VARCHAR(255) CHARACTER SET latin1 NOT NULL",
         "the character set of projects.external_id lacks most characters"},
        {"ALTER TABLE consumers MODIFY uuid VARCHAR(36) CHARACTER SET utf8mb4"
         " COLLATE utf8mb4_general_ci NOT NULL",
         "allocations.consumer_id has the collation utf8mb3_general_ci, and consumers.uuid "
         "utf8mb4_general_ci"},
        {"INSERT INTO traits(id, name) VALUES (1700000000, 'T')",
         "ids of the table traits are used up to 1700000000 of 2147483647"},
        {"DROP TABLE berth_foreign, berth_locks",
         "tables or columns of berth are missing: run placement-manage db sync"},
        {"ALTER TABLE berth_instances DROP COLUMN node",
         "tables or columns of berth are missing: run placement-manage db sync"},
        {"DELETE FROM berth_locks",
         "tables or columns of berth are missing: run placement-manage db sync"},
        {"UPDATE alembic_version SET version_num = '0123456789ab'",
         " is at schema revision 0123456789ab, which this version does not know"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mariadb_session *session = open_own();
        run(session, cases[i].change);
        expect_warning(session, cases[i].warning);
        mariadb_session_destroy(session);
    }
}

/* Without their last step, not everybody may know of the triggers. */
static void test_triggers(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct attempt attempt = begin_attempt();
    struct mariadb_session *session = open_own();
    struct mariadb_session *admin = open_admin();
    run(admin, "SET GLOBAL log_bin_trust_function_creators = 1");
    bool ok = mariadb_coexist_enable(slice_of(url_of_server(arena)), &attempt.err);
    expect_outcome(&attempt, session, ok ? SERVER_OK : SERVER_FAILED, SERVER_OK, NULL);
    run(admin, "SET GLOBAL log_bin_trust_function_creators = 0");
    struct found found = inspect_as(session, NULL);
    assert_int_equal(found.report.triggers, 36);
    assert_int_equal(found.report.triggers_all, 36);
    arena_destroy(found.arena);
    expect_no_warnings(session);
    run(session, "DELETE FROM berth_locks WHERE name = 'coexist'");
    expect_only_warning(session, "1 triggers of berth are missing: run placement-manage db");
    mariadb_session_destroy(admin);
    mariadb_session_destroy(session);
    arena_destroy(arena);
}

/* A database in which berth has never run, and one without anything. */
static void test_without_berth(void **state)
{
    (void)state;
    struct mariadb_session *session = open_own();
    run(session, "DROP TABLE berth_log, berth_epochs, berth_instances, berth_foreign, berth_locks,"
                 " berth_nodes, berth_node_allocations, berth_valet_groups, berth_valet_members,"
                 " berth_valet_claims, berth_valet_plans, berth_valet_placements");
    struct found found = inspect_as(session, NULL);
    assert_false(found.report.has_log);
    assert_int_equal(found.report.warning_count, 0);
    arena_destroy(found.arena);
    run(session, "SET foreign_key_checks = 0; DROP TABLE users");
    expect_warning(session, "users.id, users.created_at, users.updated_at, users.external_id");
    mariadb_session_destroy(session);
}

/* A session of a user with these rights on the tables. */
static struct mariadb_session *open_reader(struct mariadb_session *admin, const char *rights)
{
    struct arena *arena = arena_create();
    struct attempt attempt = begin_attempt();
    run(admin, arena_printf(arena,
                            "DROP USER IF EXISTS reader@'%%'; CREATE USER reader@'%%' IDENTIFIED BY"
                            " 'secret'; GRANT %s TO reader@'%%'",
                            rights)
                   .data);
    const char *url =
        arena_printf(arena, "mysql+pymysql://reader:secret@127.0.0.1:%d/%s", port_of_server(arena),
                     value_of(arena, admin, "SELECT DATABASE()"))
            .data;
    struct mariadb_session *session =
        make_session(url, (struct server_session_options){.wake_fd = -1});
    expect_outcome(&attempt, session, server_session_connect(&session->base, soon(), &attempt.err),
                   SERVER_OK, NULL);
    arena_destroy(arena);
    return session;
}

static void test_rights(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct mariadb_session *session = open_own();
    const char *name = value_of(arena, session, "SELECT DATABASE()");
    struct mariadb_session *admin = open_admin();
    run(admin, arena_printf(arena, "USE %s", name).data);
    struct mariadb_session *reader =
        open_reader(admin, arena_printf(arena, "SELECT, INSERT, UPDATE ON %s.*", name).data);
    expect_warning(reader,
                   "this user lacks the right to delete rows of resource_classes, traits, ");
    mariadb_session_destroy(reader);
    reader = open_reader(admin, arena_printf(arena, "SELECT, DELETE, INSERT ON %s.*", name).data);
    expect_warning(reader, "this user lacks rights on resource_classes.id, ");
    mariadb_session_destroy(reader);
    reader = open_reader(admin,
                         arena_printf(arena, "SELECT, DELETE, INSERT, UPDATE ON %s.*", name).data);
    expect_no_warnings(reader);
    mariadb_session_destroy(reader);
    reader = open_reader(admin, arena_printf(arena, "INSERT ON %s.alembic_version", name).data);
    expect_warning(reader, "cannot be read: SELECT command denied to user");
    mariadb_session_destroy(reader);
    run(admin, "DROP USER reader@'%'");
    mariadb_session_destroy(admin);
    mariadb_session_destroy(session);
    arena_destroy(arena);
}

/* A user who may see other transactions is told of old ones only. */
static void test_young_transactions(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct mariadb_session *session = open_own();
    struct mariadb_session *other = open_session();
    struct mariadb_session *admin = open_admin();
    run(admin, arena_printf(arena, "USE %s", value_of(arena, session, "SELECT DATABASE()")).data);
    run(other, "START TRANSACTION; INSERT INTO traits(name) VALUES ('T')");
    expect_no_warnings(admin);
    mariadb_session_destroy(admin);
    mariadb_session_destroy(other);
    mariadb_session_destroy(session);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_safe_server),
        cmocka_unit_test(test_rows_of_berth),
        cmocka_unit_test(test_nodes_of_instances),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_node_that_lags),
        cmocka_unit_test(test_settings_of_session),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_triggers),
        cmocka_unit_test(test_without_berth),
        cmocka_unit_test(test_rights),
        cmocka_unit_test(test_young_transactions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
