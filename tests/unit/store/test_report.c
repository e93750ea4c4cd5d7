/* Reports on a database's server: texts and copies. */
#include "store/report.h"

#include "unit.h"

static const struct store_server SERVER = {
    .address = "192.0.2.7:5432",
    .version = "15.20",
    .isolation = "read committed",
    .setting_count = 1,
    .settings = {{"synchronous_commit", "on"}},
};

static void server_is(const struct store_server *server, const char *expected)
{
    struct buf out = {0};
    report_write_server(server, &out);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, expected);
    buf_free(&out);
}

static void test_server(void **state)
{
    (void)state;
    struct store_server server = SERVER;
    server_is(&server, "primary at 192.0.2.7:5432, version 15.20, read committed, "
                       "synchronous_commit on, no replication, no TLS");
    server.is_read_only = true;
    server.replication = STORE_REPLICATION_ASYNC;
    server.uses_tls = true;
    server_is(&server, "read-only at 192.0.2.7:5432, version 15.20, read committed, "
                       "synchronous_commit on, asynchronous replication, TLS");
    server.is_standby = true;
    server.replication = STORE_REPLICATION_SYNC;
    server.is_pooled = true;
    server_is(&server, "standby at 192.0.2.7:5432, version 15.20, read committed, "
                       "synchronous_commit on, synchronous replication, TLS, through a pooler");
}

static void test_node_of_a_cluster(void **state)
{
    (void)state;
    struct store_server server = {
        .address = "db1:3306",
        .version = "10.11.19-MariaDB",
        .isolation = "read committed",
        .cluster_size = 3,
        .node = "node1",
        .node_state = "Synced",
        .replication = STORE_REPLICATION_SYNC,
    };
    report_add_setting(&server, "sync_binlog", SLICE_LIT("0"));
    report_add_setting(&server, "other", SLICE_LIT("0123456789abcdefgh"));
    server_is(&server, "node node1 (Synced, 3 in the cluster) at db1:3306, version "
                       "10.11.19-MariaDB, read committed, sync_binlog 0, other 0123456789abcde, "
                       "synchronous replication, no TLS");
    assert_string_equal(report_setting(&server, "sync_binlog"), "0");
    assert_string_equal(report_setting(&server, "synchronous_commit"), "");
    server.is_read_only = true;
    server.replication = STORE_REPLICATION_UNKNOWN;
    server.setting_count = 0;
    server_is(&server, "read-only node1 (Synced, 3 in the cluster) at db1:3306, version "
                       "10.11.19-MariaDB, read committed, unknown replication, no TLS");
}

static void test_instance(void **state)
{
    (void)state;
    struct store_instance instance = {.host = SLICE_LIT("controller1"),
                                      .version = SLICE_LIT("1.0"),
                                      .pid = 4711,
                                      .behind = 3,
                                      .seen_s = 12};
    struct buf out = {0};
    report_write_instance(&instance, &out);
    instance.is_own = true;
    instance.node = SLICE_LIT("node1");
    report_write_instance(&instance, &out);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data,
                        "controller1, process 4711, version 1.0, 3 batches behind, seen 12 s ago"
                        "controller1, process 4711, version 1.0, node node1, 3 batches behind, "
                        "seen 12 s ago (this one)");
    buf_free(&out);
}

static void nodes_are(const struct store_report *report, const char *expected)
{
    struct buf out = {0};
    report_write_nodes(report, &out);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, expected);
    buf_free(&out);
}

static void test_nodes(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct store_report report = {0};
    report_add_node(&report, arena, SLICE_LIT("node1"), 0);
    nodes_are(&report, "node1, 0 changes in the last hour");
    report_add_node(&report, arena, SLICE_LIT("node2"), 12);
    report.node_changes = 1;
    nodes_are(&report, "node1, until 12 s ago node2, 1 change in the last hour");
    report_add_node(&report, arena, SLICE_LIT("node3"), 3000);
    report.node_changes = 7;
    nodes_are(&report, "node1, until 12 s ago node2, until 3000 s ago node3, 7 changes in the "
                       "last hour");
    arena_destroy(arena);
}

static void test_copy_outlives_the_original(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct arena *other = arena_create();
    struct store_report report = {.log_head = 7, .server = SERVER};
    for (int i = 0; i < 20; i++) {
        const struct store_instance instance = {.name = arena_printf(arena, "instance %d", i),
                                                .host = SLICE_LIT("host"),
                                                .node = arena_printf(arena, "node %d", i)};
        report_add_instance(&report, arena, &instance);
        report_add_node(&report, arena, arena_printf(arena, "own %d", i), i);
        report_warn(&report, arena, "warning %d", i);
    }
    const struct store_report copy = report_copy(&report, other);
    arena_destroy(arena);
    assert_int_equal(copy.log_head, 7);
    assert_int_equal(copy.instance_count, 20);
    assert_int_equal(copy.warning_count, 20);
    assert_true(slice_equal(copy.instances[19].name, SLICE_LIT("instance 19")));
    assert_true(slice_equal(copy.instances[0].host, SLICE_LIT("host")));
    assert_true(slice_equal(copy.instances[7].node, SLICE_LIT("node 7")));
    assert_true(slice_equal(copy.warnings[19], SLICE_LIT("warning 19")));
    assert_int_equal(copy.node_count, 20);
    assert_true(slice_equal(copy.nodes[19].name, SLICE_LIT("own 19")));
    assert_int_equal(copy.nodes[19].left_s, 19);
    arena_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_node_of_a_cluster),
        cmocka_unit_test(test_instance),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_copy_outlives_the_original),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
