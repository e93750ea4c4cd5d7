/* What a server says about itself, on a server of its own, or on a node of a Galera cluster. */
#include "store/mariadb/report/facts.h"

#include "sessions.h"
#include "store/mariadb/session/session_state.h"
#include "store/report.h"

static struct store_server facts_of(struct mariadb_session *session)
{
    struct attempt attempt = begin_attempt();
    struct store_server facts = {.timeline = 7};
    assert_true(mariadb_facts_read(&session->base, &facts, soon(), &attempt.err));
    assert_false(err_is_set(&attempt.err));
    arena_destroy(attempt.arena);
    return facts;
}

static void expect_setting(const struct store_server *facts, const char *name, const char *value)
{
    assert_string_equal(report_setting(facts, name), value);
}

/* A setting that this version of the server lacks is not shown. */
static void expect_settings(const struct store_server *facts, struct arena *arena,
                            struct mariadb_session *session)
{
    static const char *const names[] = {"innodb_flush_log_at_trx_commit", "max_allowed_packet",
                                        "auto_increment_increment"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *sql = arena_printf(arena, "SELECT @@global.%s", names[i]).data;
        expect_setting(facts, names[i], value_of(arena, session, sql));
    }
    expect_setting(facts, "innodb_snapshot_isolation",
                   value_of(arena, session,
                            "SELECT COALESCE(MAX(VARIABLE_VALUE), '')"
                            " FROM /*M!100600 information_schema.GLOBAL_VARIABLES */"
                            " /*!80000 performance_schema.global_variables */"
                            " WHERE VARIABLE_NAME = 'innodb_snapshot_isolation'"));
    bool has_binlog = strcmp(value_of(arena, session, "SELECT @@log_bin"), "1") == 0;
    expect_setting(facts, "sync_binlog",
                   has_binlog ? value_of(arena, session, "SELECT @@sync_binlog") : "");
}

static void test_facts(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct mariadb_session *session = open_session();
    struct store_server facts = facts_of(session);
    const char *address = value_of(arena, session, "SELECT CONCAT(@@hostname, ':', @@port)");
    const char *version = value_of(arena, session, "SELECT VERSION()");
    assert_string_equal(facts.address, address);
    assert_memory_equal(facts.version, version, strlen(version));
    assert_int_equal(facts.version[strlen(version)], ' ');
    assert_string_equal(facts.isolation, "read committed");
    expect_settings(&facts, arena, session);
    assert_false(facts.is_pooled || facts.is_standby || facts.is_read_only || facts.uses_tls);
    assert_false(facts.has_timeline);
    assert_int_equal(facts.timeline, 0);
    /* MySQL does not count the replicas that are connected to it */
    assert_int_equal(facts.knows_standbys, mariadb_session_server(session)->is_mariadb);
    if (mariadb_session_server(session)->is_galera) {
        assert_string_equal(facts.node, value_of(arena, session, "SELECT @@wsrep_node_name"));
        assert_string_equal(facts.node_state, "Synced");
        assert_int_equal(facts.cluster_size, 3);
        assert_int_equal(facts.replication, STORE_REPLICATION_SYNC);
        assert_string_equal(report_role(&facts), "node");
    } else {
        assert_string_equal(facts.node, "");
        assert_int_equal(facts.cluster_size, 0);
        assert_int_equal(facts.replication,
                         facts.knows_standbys ? STORE_REPLICATION_NONE : STORE_REPLICATION_UNKNOWN);
        assert_string_equal(report_role(&facts), "primary");
    }
    mariadb_session_destroy(session);
    arena_destroy(arena);
}

/* They are those of now, not of the connect. */
static void test_changes(void **state)
{
    (void)state;
    struct mariadb_session *admin = open_admin();
    struct mariadb_session *session = open_session();
    run(admin, "SET @packet = @@global.max_allowed_packet");
    run(admin, "SET GLOBAL read_only = 1, GLOBAL innodb_flush_log_at_trx_commit = 2,"
               " GLOBAL max_allowed_packet = 8388608");
    struct store_server facts = facts_of(session);
    run(admin, "SET GLOBAL read_only = 0, GLOBAL innodb_flush_log_at_trx_commit = 1,"
               " GLOBAL max_allowed_packet = @packet");
    assert_true(facts.is_read_only);
    expect_setting(&facts, "innodb_flush_log_at_trx_commit", "2");
    expect_setting(&facts, "max_allowed_packet", "8388608");
    assert_string_equal(report_role(&facts), "read-only");
    mariadb_session_destroy(session);
    mariadb_session_destroy(admin);
}

/* The facts stay as they were. */
static void test_no_answer(void **state)
{
    (void)state;
    struct attempt attempt = begin_attempt();
    struct arena *arena = arena_create();
    struct mariadb_session *admin = open_admin();
    struct mariadb_session *session = open_session();
    struct store_server facts = {.node = "before"};
    const char *kill =
        arena_printf(arena, "KILL %llu",
                     (unsigned long long)mariadb_session_server(session)->connection_id)
            .data;
    run(admin, kill);
    assert_false(mariadb_facts_read(&session->base, &facts, soon(), &attempt.err));
    assert_int_equal(attempt.err.status, 503);
    assert_string_equal(facts.node, "before");
    mariadb_session_destroy(session);
    mariadb_session_destroy(admin);
    arena_destroy(attempt.arena);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
