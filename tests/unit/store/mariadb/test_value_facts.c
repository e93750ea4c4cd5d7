/* What the columns of a database have room for, as it is made by different tools. */
#include "store/mariadb/report/value_facts.h"

#include "sessions.h"
#include "store/mariadb/session/session_state.h"

/* Positions in rows.h. */
enum { CATALOG_NAME = 3, PROVIDER_UUID = 3, PROVIDER_NAME = 4 };

static struct value_limits limits_of(struct mariadb_session *session)
{
    struct attempt attempt = begin_attempt();
    struct value_limits limits = {0};
    expect_outcome(&attempt, session,
                   mariadb_value_facts_read(&session->base, &limits, soon(), &attempt.err),
                   SERVER_OK, NULL);
    assert_true(limits.has_lengths && !limits.refuses_nul);
    assert_int_equal(limits.json_depth, mariadb_session_server(session)->is_mariadb ? 31 : 100);
    return limits;
}

static void room_is(const struct value_limits *limits, enum rows_table table, unsigned column,
                    unsigned chars, unsigned bytes)
{
    assert_int_equal(limits->rooms[table][column].chars, chars);
    assert_int_equal(limits->rooms[table][column].utf8_bytes, bytes);
}

static void test_charsets(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned bytes;
    } charsets[] = {{"utf8mb3", 3}, {"utf8mb4", 4}, {"latin1", 1}, {"ucs2", 3}, {"utf16", 4}};
    for (size_t i = 0; i < sizeof(charsets) / sizeof(charsets[0]); i++) {
        struct mariadb_session *session = open_upstream(charsets[i].name);
        const struct value_limits limits = limits_of(session);
        room_is(&limits, ROWS_TRAITS, CATALOG_NAME, 255, charsets[i].bytes);
        room_is(&limits, ROWS_PROJECTS, CATALOG_NAME, 255, charsets[i].bytes);
        room_is(&limits, ROWS_PROVIDERS, PROVIDER_UUID, 36, charsets[i].bytes);
        room_is(&limits, ROWS_PROVIDERS, PROVIDER_NAME, 200, charsets[i].bytes);
        room_is(&limits, ROWS_PROVIDERS, 0, 0, 0);
        room_is(&limits, ROWS_ALLOCATIONS, 3, 36, charsets[i].bytes);
        mariadb_session_destroy(session);
    }
}

static void test_each_column_has_its_own(void **state)
{
    (void)state;
    struct mariadb_session *session = open_upstream("utf8mb3");
    run(session, "ALTER TABLE resource_providers MODIFY name VARCHAR(300) CHARACTER SET utf8mb4;"
                 "ALTER TABLE traits MODIFY name VARBINARY(255);"
                 "ALTER TABLE users DROP INDEX uniq_users0external_id, MODIFY external_id LONGTEXT;"
                 "DROP TABLE allocations");
    const struct value_limits limits = limits_of(session);
    room_is(&limits, ROWS_PROVIDERS, PROVIDER_NAME, 300, 4);
    room_is(&limits, ROWS_PROVIDERS, PROVIDER_UUID, 36, 3);
    room_is(&limits, ROWS_TRAITS, CATALOG_NAME, 0, 0);
    room_is(&limits, ROWS_USERS, CATALOG_NAME, UINT16_MAX, 3);
    room_is(&limits, ROWS_ALLOCATIONS, 3, 0, 0);
    mariadb_session_destroy(session);
}

/* The server refuses what the limits refuse, and takes what they take. */
static void test_server_agrees(void **state)
{
    (void)state;
    static const struct {
        const char *charset, *text;
        bool fits;
    } cases[] = {
        {"utf8mb3", "_utf8mb4 x'F09F9880'", false}, {"utf8mb3", "_utf8mb4 x'E282AC'", true},
        {"utf8mb4", "_utf8mb4 x'F09F9880'", true},  {"ucs2", "_utf8mb4 x'F09F9880'", false},
        {"utf16", "_utf8mb4 x'F09F9880'", true},    {"latin1", "_utf8mb4 x'D094'", false}};
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mariadb_session *session = open_upstream(cases[i].charset);
        struct attempt attempt = begin_attempt();
        const char *sql =
            arena_printf(arena, "INSERT INTO users(external_id) VALUES (%s)", cases[i].text).data;
        assert_int_equal(mariadb_session_run(session, sql, "used", soon(), &attempt.err),
                         cases[i].fits ? SERVER_OK : SERVER_REFUSED);
        arena_destroy(attempt.arena);
        mariadb_session_destroy(session);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_charsets),
        cmocka_unit_test(test_each_column_has_its_own),
        cmocka_unit_test(test_server_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
