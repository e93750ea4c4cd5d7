/* Which server the sessions use: the newest connection decides, and an old primary is refused. */
#include <string.h>

#include "store/server/lineage.h"
#include "unit.h"

static const struct server_id first = {.started = 1, .system = 7, .timeline = 1};
static const struct server_id promoted = {.started = 2, .system = 7, .timeline = 2};
static const struct server_id standby = {.started = 3, .system = 7};
static const struct server_id other = {.started = 4, .system = 8, .timeline = 1};

static bool join(struct server_lineage *lineage, struct server_id id)
{
    struct server_old_primary old;
    return server_lineage_join(lineage, &id, &old);
}

static void newest_connection_decides(void **state)
{
    struct server_lineage *lineage = server_lineage_create();
    (void)state;
    assert_true(join(lineage, first));
    assert_false(server_lineage_has_moved(lineage, &first));
    assert_true(join(lineage, promoted));
    assert_true(server_lineage_has_moved(lineage, &first));
    assert_false(server_lineage_has_moved(lineage, &promoted));
    server_lineage_destroy(lineage);
}

static void old_primary_is_refused(void **state)
{
    struct server_lineage *lineage = server_lineage_create();
    struct server_id again = first;
    struct server_old_primary old;
    (void)state;
    again.started = 5;
    assert_true(join(lineage, promoted));
    assert_false(server_lineage_join(lineage, &first, &old));
    assert_int_equal(old.newest, 2);
    assert_false(old.is_told);
    assert_false(server_lineage_join(lineage, &first, &old));
    assert_true(old.is_told);
    assert_false(server_lineage_join(lineage, &again, &old));
    assert_false(old.is_told);
    assert_false(server_lineage_has_moved(lineage, &promoted));
    server_lineage_destroy(lineage);
}

/* A standby is its owner's matter, and another cluster has timelines of its own. */
static void others_are_not(void **state)
{
    struct server_lineage *lineage = server_lineage_create();
    (void)state;
    assert_true(join(lineage, promoted));
    assert_true(join(lineage, standby));
    assert_false(server_lineage_has_moved(lineage, &standby));
    assert_false(server_lineage_has_moved(lineage, &promoted));
    assert_true(join(lineage, other));
    assert_true(server_lineage_has_moved(lineage, &promoted));
    server_lineage_destroy(lineage);
}

static void node_of_the_writer(void **state)
{
    struct server_lineage *lineage = server_lineage_create();
    char node[SERVER_NODE_BYTES];
    char longest[SERVER_NODE_BYTES + 1];
    (void)state;
    server_lineage_writer(lineage, node);
    assert_string_equal(node, "");
    server_lineage_set_writer(lineage, "node1");
    server_lineage_writer(lineage, node);
    assert_string_equal(node, "node1");
    memset(longest, 'n', sizeof(longest) - 1);
    longest[SERVER_NODE_BYTES] = '\0';
    server_lineage_set_writer(lineage, longest);
    server_lineage_writer(lineage, node);
    assert_int_equal(strlen(node), SERVER_NODE_BYTES - 1);
    struct node_history nodes = server_lineage_nodes(lineage);
    assert_int_equal(nodes.count, 2);
    assert_int_equal(nodes.changes, 1);
    assert_string_equal(nodes.nodes[1].name, "node1");
    assert_true(nodes.nodes[1].left_us > 0);
    server_lineage_destroy(lineage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_connection_decides),
        cmocka_unit_test(old_primary_is_refused),
        cmocka_unit_test(others_are_not),
        cmocka_unit_test(node_of_the_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
