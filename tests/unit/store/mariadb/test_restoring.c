/* Databases that are being restored, and those that only look odd. */
#include "store/mariadb/session/restoring.h"

#include "sessions.h"
#include "store/mariadb/session/session_state.h"

/* NULL: it is complete. */
static void expect_restored(struct mariadb_session *session, const char *reason)
{
    struct attempt attempt = begin_attempt();
    enum server_outcome outcome = mariadb_restoring_check(&session->base, soon(), &attempt.err);
    const char *message = NULL;
    if (reason != NULL)
        message = arena_printf(attempt.arena, "used: %s; is it being restored?", reason).data;
    expect_outcome(&attempt, session, outcome, reason == NULL ? SERVER_OK : SERVER_RETRY, message);
}

static const char ROWS[] =
    "INSERT INTO resource_classes(id, name) VALUES (1, 'VCPU');"
    "INSERT INTO traits(id, name) VALUES (1, 'T');"
    "INSERT INTO projects(id, external_id) VALUES (1, 'p');"
    "INSERT INTO users(id, external_id) VALUES (1, 'u');"
    "INSERT INTO resource_providers(id, uuid, name) VALUES (1, 'u1', 'n1');"
    "INSERT INTO inventories(resource_provider_id, resource_class_id, total, reserved, min_unit,"
    " max_unit, step_size, allocation_ratio) VALUES (1, 1, 1, 0, 1, 1, 1, 1);"
    "INSERT INTO resource_provider_traits(trait_id, resource_provider_id) VALUES (1, 1);"
    "INSERT INTO consumers(uuid, project_id, user_id) VALUES ('c', 1, 1);"
    "INSERT INTO allocations(resource_provider_id, consumer_id, resource_class_id, used) VALUES"
    " (1, 'c', 1, 1)";

static void test_complete(void **state)
{
    (void)state;
    struct mariadb_session *session = open_upstream("utf8mb4");
    expect_restored(session, NULL);
    run(session, ROWS);
    expect_restored(session, NULL);
    run(session, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
    expect_restored(session, NULL);
    run(session, "ROLLBACK");
    mariadb_session_destroy(session);
}

/* A database without any of the tables is nobody's dump. */
static void test_missing_tables(void **state)
{
    (void)state;
    struct mariadb_session *session = open_upstream("utf8mb4");
    run(session, "SET foreign_key_checks = 0; DROP TABLE users");
    expect_restored(session, "the table users is missing");
    run(session, "DROP TABLE allocations, consumer_types, consumers, inventories,"
                 " placement_aggregates, projects, resource_classes, resource_provider_aggregates,"
                 " resource_provider_traits, resource_providers");
    expect_restored(session, "the table allocations is missing");
    run(session, "DROP TABLE traits");
    expect_restored(session, NULL);
    mariadb_session_destroy(session);
}

static void test_no_primary_key(void **state)
{
    (void)state;
    struct mariadb_session *session = open_upstream("utf8mb4");
    run(session, "ALTER TABLE allocations MODIFY id INT NOT NULL, DROP PRIMARY KEY");
    expect_restored(session, "the table allocations has no primary key");
    mariadb_session_destroy(session);
}

/* As while a dump is executed over a full database. */
static void test_empty_tables(void **state)
{
    (void)state;
    static const char *const tables[] = {"resource_providers", "resource_classes", "traits",
                                         "projects", "users"};
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct mariadb_session *session = open_upstream("utf8mb4");
        run(session, ROWS);
        run(session,
            arena_printf(arena, "SET foreign_key_checks = 0; DELETE FROM %s", tables[i]).data);
        expect_restored(
            session,
            arena_printf(arena, "the table %s is empty, and others refer to it", tables[i]).data);
        mariadb_session_destroy(session);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_missing_tables),
        cmocka_unit_test(test_no_primary_key),
        cmocka_unit_test(test_empty_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
