/* What programs write on the nodes of a Galera cluster, with the triggers that note it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "await.h"
#include "notes.h"
#include "store/mariadb/foreign/coexist.h"
#include "store/mariadb/foreign/foreign_log.h"
#include "store/mariadb/foreign/foreign_reopen.h"
#include "store/mariadb/foreign/foreign_triggers.h"
#include "store/mariadb/session/session_state.h"
#include "store/server/log_rows.h"

enum { NODES = 2, WRITES = 150 };

struct node {
    const char *url;
    struct mariadb_session *berth, *program;
    char *view;
    uint64_t moved;
    atomic_bool *is_ending;
};

struct cluster {
    struct arena *arena;
    struct node nodes[NODES];
    atomic_bool is_ending;
};

static struct mariadb_session *open_node(const char *url)
{
    struct attempt attempt = begin_attempt();
    struct mariadb_session *session =
        make_session(url, (struct server_session_options){.wake_fd = -1});
    expect_outcome(&attempt, session, mariadb_session_connect(session, soon(), &attempt.err),
                   SERVER_OK, NULL);
    return session;
}

static int setup(void **state)
{
    static const char *const names[NODES] = {"BERTH_TEST_MARIADB", "BERTH_TEST_MARIADB_2"};
    struct cluster *c = calloc(1, sizeof(*c));
    assert_non_null(c);
    notes_make_tables();
    c->arena = arena_create();
    for (int i = 0; i < NODES; i++) {
        struct node *node = &c->nodes[i];
        node->url = getenv(names[i]);
        assert_non_null(node->url);
        node->berth = open_node(node->url);
        node->program = open_node(node->url);
        node->is_ending = &c->is_ending;
    }
    *state = c;
    return 0;
}

static int teardown(void **state)
{
    struct cluster *c = *state;
    for (int i = 0; i < NODES; i++) {
        mariadb_session_destroy(c->nodes[i].berth);
        mariadb_session_destroy(c->nodes[i].program);
        free(c->nodes[i].view);
    }
    arena_destroy(c->arena);
    free(c);
    return 0;
}

static void enable(struct cluster *c, int node)
{
    struct err err = {.arena = c->arena};
    if (!mariadb_coexist_enable(slice_of(c->nodes[node].url), &err))
        fail_msg("%.*s", SLICE_ARG(err.message));
}

/* On both nodes, whichever wrote them. */
static void expect_notes(struct cluster *c, const char *notes)
{
    for (int i = 0; i < NODES; i++) {
        struct node *node = &c->nodes[i];
        assert_int_equal(notes_are_new(node->berth, node->view), notes[0] != '\0');
        assert_string_equal(notes_after(c->arena, node->berth, &node->view), notes);
        assert_false(notes_are_new(node->berth, node->view));
    }
}

/* Each node gives out ids of its own, in any order. */
static void test_two_nodes(void **state)
{
    struct cluster *c = *state;
    enable(c, 0);
    expect_notes(c, "");
    run(c->nodes[0].program, "START TRANSACTION; INSERT INTO traits VALUES (1, 'A')");
    for (int i = 0; i < 6; i++)
        run(c->nodes[1].program, "INSERT INTO resource_providers (id) VALUES (NULL)");
    run(c->nodes[1].program, "DELETE FROM resource_providers; INSERT INTO traits VALUES (2, 'B')");
    assert_true(notes_are_new(c->nodes[0].berth, c->nodes[0].view));
    for (int i = 0; i < NODES; i++)
        (void)notes_after(c->arena, c->nodes[i].berth, &c->nodes[i].view);
    expect_notes(c, "");
    run(c->nodes[1].program, "START TRANSACTION; INSERT INTO traits VALUES (3, 'C')");
    run(c->nodes[0].program, "COMMIT");
    expect_notes(c, "trait 1 ");
    run(c->nodes[0].program, "INSERT INTO traits VALUES (4, 'D')");
    expect_notes(c, "trait 4 ");
    run(c->nodes[1].program, "COMMIT");
    expect_notes(c, "trait 3 ");
    assert_true(notes_moved(c->nodes[1].berth) > 0);
    expect_notes(c, "");
}

/* The views of one node hold on the other. */
static void test_view_of_cluster(void **state)
{
    struct cluster *c = *state;
    enable(c, 1);
    for (int i = 0; i < 8; i++)
        run(c->nodes[i % NODES].program, "INSERT INTO users (name) VALUES ('a')");
    (void)notes_after(c->arena, c->nodes[0].berth, &c->nodes[0].view);
    assert_false(notes_are_new(c->nodes[1].berth, c->nodes[0].view));
    run(c->nodes[0].program, "INSERT INTO traits VALUES (1, 'A')");
    assert_true(notes_are_new(c->nodes[1].berth, c->nodes[0].view));
}

/* ---- at once ---- */

static void *write_rows(void *cls)
{
    struct node *node = cls;
    for (int i = 0; i < WRITES; i++)
        run(node->program, "INSERT INTO users (name) VALUES ('a'), ('b')");
    return NULL;
}

static void *move_rows(void *cls)
{
    struct node *node = cls;
    while (!atomic_load(node->is_ending))
        node->moved += notes_moved(node->berth);
    return NULL;
}

/* Each row has the digest of the one before. */
static void expect_chain(struct cluster *c)
{
    struct attempt attempt = begin_attempt();
    struct mariadb_rows rows = {0};
    struct log_state state = {0};
    const struct mariadb_text text = {
        .sql = SLICE_LIT("SELECT number, mark, digest, entries FROM berth_log ORDER BY number")};
    expect_outcome(
        &attempt, c->nodes[0].berth,
        mariadb_session_execute(c->nodes[0].berth, &text, &rows, 1, NULL, soon(), &attempt.err),
        SERVER_OK, NULL);
    assert_true(mariadb_rows_count(&rows) > 2);
    for (size_t i = 0; i < mariadb_rows_count(&rows); i++) {
        struct log_row row = {.mark = mariadb_rows_bytes(&rows, i, 1),
                              .before = mariadb_rows_bytes(&rows, i, 2),
                              .entries = mariadb_rows_bytes(&rows, i, 3)};
        assert_true(mariadb_rows_int(&rows, i, 0, &row.number));
        assert_int_equal(row.number, state.number + 1);
        assert_int_equal(row.before.len, sizeof(state.digest));
        assert_memory_equal(row.before.data, state.digest, sizeof(state.digest));
        assert_true(log_row_state(&row, &state));
    }
    mariadb_rows_free(&rows);
}

/* Each note is moved once, whoever moves it, and the log has no gap and no fork. */
static void test_at_once(void **state)
{
    struct cluster *c = *state;
    pthread_t writers[NODES], movers[NODES];
    enable(c, 0);
    for (int i = 0; i < NODES; i++) {
        assert_int_equal(pthread_create(&writers[i], NULL, write_rows, &c->nodes[i]), 0);
        assert_int_equal(pthread_create(&movers[i], NULL, move_rows, &c->nodes[i]), 0);
    }
    for (int i = 0; i < NODES; i++)
        pthread_join(writers[i], NULL);
    atomic_store(&c->is_ending, true);
    for (int i = 0; i < NODES; i++)
        pthread_join(movers[i], NULL);
    uint64_t moved = c->nodes[0].moved + c->nodes[1].moved + notes_moved(c->nodes[0].berth);
    assert_int_equal(moved, NODES * WRITES * 2);
    assert_true(c->nodes[0].moved > 0 && c->nodes[1].moved > 0);
    assert_string_equal(value_of(c->arena, c->nodes[1].berth, "SELECT COUNT(*) FROM berth_foreign"),
                        "0");
    expect_chain(c);
}

/* The cluster ends transactions that are open, and waits for none. */
static void test_open_transaction(void **state)
{
    struct cluster *c = *state;
    struct err err = {.arena = c->arena};
    run(c->nodes[0].program, "START TRANSACTION; INSERT INTO traits VALUES (1, 'A')");
    enable(c, 1);
    assert_int_equal(mariadb_session_run(c->nodes[0].program, "COMMIT", "written", soon(), &err),
                     SERVER_RETRY);
    struct coexist_status status;
    for (int i = 0; i < NODES; i++) {
        AWAIT(mariadb_coexist_read_status(slice_of(c->nodes[i].url), &status, &err) &&
              status.triggers == status.all);
        assert_int_equal(status.waiting, 0);
    }
    assert_true(mariadb_coexist_disable(slice_of(c->nodes[0].url), &err));
    AWAIT(mariadb_coexist_read_status(slice_of(c->nodes[1].url), &status, &err) &&
          status.triggers == 0);
}

/* ---- reopening ---- */

/* The number of the last change of the cluster that a node has applied: of data or of the schema,
 * and each of them counts where it was made, too. */
static const char *last_committed(struct cluster *c, int node)
{
    return value_of(c->arena, c->nodes[node].berth,
                    "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS "
                    "WHERE VARIABLE_NAME = 'wsrep_last_committed'");
}

/* A table is opened again by one node for itself: the cluster changes nothing, and a transaction on
 * the other node, which has used the table, goes on. */
static void test_reopened_by_one_node(void **state)
{
    struct cluster *c = *state;
    struct err err = {.arena = c->arena};
    enable(c, 0);
    run(c->nodes[1].program, "INSERT INTO traits VALUES (1, 'A')");
    expect_notes(c, "trait 1 ");
    const char *before[NODES] = {last_committed(c, 0), last_committed(c, 1)};
    assert_string_equal(before[0], before[1]);
    run(c->nodes[1].program, "START TRANSACTION; INSERT INTO traits VALUES (2, 'B')");
    for (unsigned i = 0; i < MARIADB_FOREIGN_TRIGGERS; i += MARIADB_FOREIGN_EVENTS)
        if (mariadb_foreign_reopen(c->nodes[0].berth, mariadb_foreign_trigger_table(i), soon(),
                                   &err) != SERVER_OK)
            fail_msg("%.*s", SLICE_ARG(err.message));
    for (int i = 0; i < NODES; i++)
        assert_string_equal(last_committed(c, i), before[i]);
    run(c->nodes[1].program, "COMMIT");
    expect_notes(c, "trait 2 ");
    for (int i = 0; i < NODES; i++) /* the transaction, and nothing else */
        assert_int_equal(atoll(last_committed(c, i)), atoll(before[i]) + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_two_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_view_of_cluster, setup, teardown),
        cmocka_unit_test_setup_teardown(test_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_transaction, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reopened_by_one_node, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
