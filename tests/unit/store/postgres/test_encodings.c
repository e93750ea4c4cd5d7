/* Databases whose encoding is not UTF8. */
#include "store/fixture.h"

#include "base/arena.h"

/* A database in which texts would not stay as they are is not opened. */
static void test_encodings(void **state)
{
    static const char *const encodings[] = {"LATIN1", "SQL_ASCII", "EUC_JP", "UTF8"};
    struct fixture *fixture = *state;
    const char *name = strrchr(fixture->url, '/') + 1;
    for (size_t i = 0; i < 4; i++) {
        const struct slice script =
            arena_printf(fixture->arena,
                         "psql -qd \"$(echo \"$BERTH_TEST_POSTGRES_ADMIN\" | sed s/+psycopg2//)\" "
                         "-c 'CREATE DATABASE"
                         " %s_%zu TEMPLATE template0 LOCALE \"C\" ENCODING %s OWNER '\"$PGUSER\"%c",
                         name, i, encodings[i], '\0');
        fixture_shell(fixture, script.data);
        const char *url = arena_printf(fixture->arena, "%s_%zu", fixture->url, i).data;
        struct store *store = fixture_try(fixture, url, true, true);
        if (i == 3) {
            assert_non_null(store);
            store_close(store);
            continue;
        }
        assert_null(store);
        struct slice wanted = arena_printf(
            fixture->arena, "cannot be used: its encoding is %s, and must be UTF8", encodings[i]);
        assert_non_null(strstr(fixture->err.message.data, wanted.data));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_encodings, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
