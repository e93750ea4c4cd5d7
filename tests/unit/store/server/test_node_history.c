/* Through which nodes a store has written within the last hour, and how often that has changed. */
#include "store/server/node_history.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define MINUTE_US UINT64_C(60000000)
#define HOUR_US   (60 * MINUTE_US)

static const uint64_t start_us = 1000 * HOUR_US;

static void test_none(void **state)
{
    struct node_history history = {0};
    (void)state;
    node_history_note(&history, "", start_us);
    assert_int_equal(history.count, 0);
    assert_int_equal(node_history_recent(&history, start_us), 0);
    assert_int_equal(node_history_changes(&history, start_us), 0);
}

/* Each name once, the newest first. The first node and a new connection to the same one are no
 * changes. */
static void test_changes(void **state)
{
    struct node_history history = {0};
    (void)state;
    node_history_note(&history, "a", start_us);
    node_history_note(&history, "a", start_us + 1);
    node_history_note(&history, "", start_us + 2);
    assert_int_equal(history.changes, 0);
    node_history_note(&history, "b", start_us + MINUTE_US);
    node_history_note(&history, "c", start_us + 2 * MINUTE_US);
    node_history_note(&history, "a", start_us + 3 * MINUTE_US);
    assert_int_equal(history.count, 3);
    assert_string_equal(history.nodes[0].name, "a");
    assert_string_equal(history.nodes[1].name, "c");
    assert_string_equal(history.nodes[2].name, "b");
    assert_int_equal(history.nodes[1].left_us, start_us + 3 * MINUTE_US);
    assert_int_equal(history.nodes[2].left_us, start_us + 2 * MINUTE_US);
    assert_int_equal(history.changes, 3);
    assert_int_equal(node_history_changes(&history, start_us + 3 * MINUTE_US), 3);
    assert_int_equal(node_history_recent(&history, start_us + 3 * MINUTE_US), 3);
}

/* What was an hour ago is not told any more, but the node in use is, and the total remains. */
static void test_an_hour_later(void **state)
{
    struct node_history history = {0};
    (void)state;
    node_history_note(&history, "a", start_us);
    for (unsigned i = 0; i < 3; i++) {
        node_history_note(&history, "b", start_us + 10 * MINUTE_US);
        node_history_note(&history, "a", start_us + 10 * MINUTE_US);
    }
    node_history_note(&history, "c", start_us + 20 * MINUTE_US);
    uint64_t later_us = start_us + 10 * MINUTE_US + HOUR_US;
    assert_int_equal(node_history_changes(&history, later_us - MINUTE_US), 7);
    assert_int_equal(node_history_recent(&history, later_us - 1), 3);
    assert_int_equal(node_history_changes(&history, later_us), 1);
    assert_int_equal(node_history_recent(&history, later_us), 2);
    later_us += 10 * MINUTE_US;
    assert_int_equal(node_history_changes(&history, later_us), 0);
    assert_int_equal(node_history_recent(&history, later_us), 1);
    assert_int_equal(history.changes, 7);
    /* the same minute of another hour */
    node_history_note(&history, "a", later_us);
    assert_int_equal(node_history_changes(&history, later_us), 1);
}

/* The ones that were left first are forgotten. */
static void test_too_many(void **state)
{
    struct node_history history = {0};
    char name[SERVER_NODE_BYTES + 8];
    (void)state;
    for (unsigned i = 0; i < NODE_HISTORY_MOST + 3; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        node_history_note(&history, name, start_us);
    }
    assert_int_equal(history.count, NODE_HISTORY_MOST);
    assert_string_equal(history.nodes[0].name, "n18");
    assert_string_equal(history.nodes[NODE_HISTORY_MOST - 1].name, "n3");
    node_history_note(&history, "n3", start_us);
    assert_int_equal(history.count, NODE_HISTORY_MOST);
    assert_string_equal(history.nodes[0].name, "n3");
    assert_string_equal(history.nodes[NODE_HISTORY_MOST - 1].name, "n4");
    assert_int_equal(node_history_changes(&history, start_us), NODE_HISTORY_MOST + 3);
    /* a name that is cut is the same one each time */
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    node_history_note(&history, name, start_us);
    node_history_note(&history, name, start_us);
    assert_int_equal(strlen(history.nodes[0].name), SERVER_NODE_BYTES - 1);
    assert_int_equal(history.changes, NODE_HISTORY_MOST + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_an_hour_later),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
