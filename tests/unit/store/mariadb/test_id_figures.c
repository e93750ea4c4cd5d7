/* How far ids are used up. */
#include "store/mariadb/report/id_figures.h"

#include "sessions.h"

static int64_t used(struct mariadb_session *session, const char *table)
{
    struct store_ids figures[MARIADB_ID_TABLES];
    struct attempt attempt = begin_attempt();
    int64_t found = -1;
    expect_outcome(&attempt, session,
                   mariadb_id_figures_read(session, figures, soon(), &attempt.err), SERVER_OK,
                   NULL);
    for (size_t i = 0; i < MARIADB_ID_TABLES; i++) {
        if (i > 0)
            assert_true(strcmp(figures[i - 1].table, figures[i].table) < 0);
        if (strcmp(figures[i].table, table) == 0)
            found = figures[i].used;
    }
    return found;
}

static void test_figures(void **state)
{
    (void)state;
    struct mariadb_session *session = open_upstream("utf8mb4");
    assert_int_equal(used(session, "traits"), 0);
    run(session, "INSERT INTO traits(id, name) VALUES (1700000000, 'T')");
    assert_int_equal(used(session, "traits"), 1700000000);
    run(session, "DELETE FROM traits");
    assert_int_equal(used(session, "traits"), 1700000000); /* was handed out, or taken */
    run(session, "ALTER TABLE users AUTO_INCREMENT = 2000");
    assert_in_range(used(session, "users"), 1999, 1999 + 7); /* on Galera, the node's next one */
    run(session, "INSERT INTO users(id, external_id) VALUES (2147483647, 'last')");
    assert_int_equal(used(session, "users"), STORE_IDS_MOST);
    assert_int_equal(used(session, "allocations"), 0);
    mariadb_session_destroy(session);
}

static void test_missing_table(void **state)
{
    (void)state;
    struct store_ids figures[MARIADB_ID_TABLES];
    struct mariadb_session *session = open_upstream("utf8mb4");
    struct attempt attempt = begin_attempt();
    run(session, "DROP TABLE users");
    assert_int_equal(mariadb_id_figures_read(session, figures, soon(), &attempt.err),
                     SERVER_FAILED);
    assert_non_null(strstr(attempt.err.message.data, "users"));
    arena_destroy(attempt.arena);
    mariadb_session_destroy(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_missing_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
