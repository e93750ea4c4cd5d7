/* Reports on servers of both kinds, as JSON and as text. */
#include "api/admin/server_report.h"

#include "unit.h"

static void expect(const struct store_report *report, const char *json, const char *text)
{
    struct buf out = {0};
    server_report_append_json(report, 7000000, &out);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, json);
    out.len = 0;
    server_report_append_text(report, &out);
    buf_append_char(&out, '\0');
    assert_string_equal(out.data, text);
    buf_free(&out);
}

static void test_primary(void **state)
{
    (void)state;
    struct store_report report = {.server = {.seen_us = 4000000,
                                             .address = "192.0.2.7:5432",
                                             .version = "15.20",
                                             .isolation = "read committed",
                                             .knows_standbys = true,
                                             .has_timeline = true,
                                             .standbys = 2,
                                             .timeline = 5,
                                             .replication = STORE_REPLICATION_ASYNC}};
    report_add_setting(&report.server, "synchronous_commit", SLICE_LIT("on"));
    expect(&report,
           ", \"server\": {\"address\": \"192.0.2.7:5432\", \"version\": \"15.20\","
           " \"role\": \"primary\", \"isolation\": \"read committed\","
           " \"synchronous_commit\": \"on\", \"replication\": \"asynchronous\", \"standbys\": 2,"
           " \"timeline\": 5, \"tls\": false, \"pooled\": false, \"seconds_since_seen\": 3},"
           " \"instances\": [], \"warnings\": []",
           "server: primary at 192.0.2.7:5432, version 15.20, read committed, synchronous_commit"
           " on, asynchronous replication, no TLS\n");
}

static void test_node(void **state)
{
    (void)state;
    struct store_report report = {.server = {.seen_us = 4000000,
                                             .address = "db1:3306",
                                             .version = "10.11.19-MariaDB",
                                             .isolation = "read committed",
                                             .cluster_size = 3,
                                             .node = "a\"b",
                                             .node_state = "Synced",
                                             .uses_tls = true,
                                             .replication = STORE_REPLICATION_SYNC}};
    report_add_setting(&report.server, "innodb_flush_log_at_trx_commit", SLICE_LIT("2"));
    report_add_setting(&report.server, "sync_binlog", SLICE_LIT("0"));
    report_add_setting(&report.server, "max_allowed_packet", SLICE_LIT("1073741824"));
    report_add_setting(&report.server, "innodb_snapshot_isolation", SLICE_LIT("OFF"));
    report_add_setting(&report.server, "auto_increment_increment", SLICE_LIT("3"));
    expect(&report,
           ", \"server\": {\"address\": \"db1:3306\", \"version\": \"10.11.19-MariaDB\","
           " \"role\": \"node\", \"isolation\": \"read committed\","
           " \"innodb_flush_log_at_trx_commit\": \"2\", \"sync_binlog\": \"0\","
           " \"max_allowed_packet\": \"1073741824\", \"innodb_snapshot_isolation\": \"OFF\","
           " \"auto_increment_increment\": \"3\","
           " \"replication\": \"synchronous\", \"cluster\": {\"node\": \"a\\\"b\","
           " \"state\": \"Synced\", \"size\": 3}, \"tls\": true, \"pooled\": false,"
           " \"seconds_since_seen\": 3}, \"instances\": [], \"warnings\": []",
           "server: node a\"b (Synced, 3 in the cluster) at db1:3306, version 10.11.19-MariaDB,"
           " read committed, innodb_flush_log_at_trx_commit 2, sync_binlog 0, max_allowed_packet"
           " 1073741824, innodb_snapshot_isolation OFF, auto_increment_increment 3, synchronous"
           " replication, TLS\n");
}

/* Only that of a node names it. */
static void test_instances(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct store_report report = {.server = {.seen_us = 4000000, .isolation = "read committed"}};
    struct store_instance instance = {.name = SLICE_LIT("a"),
                                      .host = SLICE_LIT("host1"),
                                      .version = SLICE_LIT("1.0"),
                                      .node = SLICE_LIT("n\"1"),
                                      .pid = 7,
                                      .is_own = true};
    report_add_instance(&report, arena, &instance);
    instance.node = SLICE_LIT("");
    report_add_instance(&report, arena, &instance);
    expect(&report,
           ", \"server\": {\"address\": \"\", \"version\": \"\", \"role\": \"primary\","
           " \"isolation\": \"read committed\", \"replication\": \"none\", \"tls\": false,"
           " \"pooled\": false, \"seconds_since_seen\": 3},"
           " \"instances\": [{\"instance\": \"a\", \"host\": \"host1\", \"version\": \"1.0\","
           " \"node\": \"n\\\"1\", \"pid\": 7, \"batches_behind\": 0, \"seconds_since_seen\": 0,"
           " \"is_this_one\": true}, {\"instance\": \"a\", \"host\": \"host1\", \"version\":"
           " \"1.0\", \"pid\": 7, \"batches_behind\": 0, \"seconds_since_seen\": 0,"
           " \"is_this_one\": true}], \"warnings\": []",
           "server: primary at , version , read committed, no replication, no TLS\n"
           "instance: host1, process 7, version 1.0, node n\"1, 0 batches behind, seen 0 s ago"
           " (this one)\n"
           "instance: host1, process 7, version 1.0, 0 batches behind, seen 0 s ago (this one)\n");
    arena_destroy(arena);
}

/* Without a change, only JSON has them. */
static void test_nodes(void **state)
{
    (void)state;
    static const char server_json[] =
        ", \"server\": {\"address\": \"\", \"version\": \"\", \"role\": \"primary\","
        " \"isolation\": \"\", \"replication\": \"none\", \"tls\": false, \"pooled\": false,"
        " \"seconds_since_seen\": 3}, \"instances\": [], ";
    static const char server_text[] = "server: primary at , version , , no replication, no TLS\n";
    struct arena *arena = arena_create();
    struct store_report report = {.server = {.seen_us = 4000000}};
    report_add_node(&report, arena, SLICE_LIT("n\"1"), 0);
    expect(&report,
           arena_printf(arena,
                        "%s\"nodes\": [{\"node\": \"n\\\"1\", \"seconds_since_left\": 0}],"
                        " \"node_changes\": 0, \"warnings\": []",
                        server_json)
               .data,
           server_text);
    report_add_node(&report, arena, SLICE_LIT("n2"), 312);
    report.node_changes = 3;
    expect(&report,
           arena_printf(arena,
                        "%s\"nodes\": [{\"node\": \"n\\\"1\", \"seconds_since_left\": 0},"
                        " {\"node\": \"n2\", \"seconds_since_left\": 312}],"
                        " \"node_changes\": 3, \"warnings\": []",
                        server_json)
               .data,
           arena_printf(arena, "%snodes: n\"1, until 312 s ago n2, 3 changes in the last hour\n",
                        server_text)
               .data);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_primary),
        cmocka_unit_test(test_node),
        cmocka_unit_test(test_instances),
        cmocka_unit_test(test_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
