/* The change that was refused is found by the server's message where the server does not say the
 * number of the row: on MySQL, and on MariaDB before 10.7, for which any MariaDB is taken here. */
#include "store/server/peer.h"

#include "base/arena.h"
#include "store/mariadb/session/session_state.h"

enum { FIRST_ID = 50000, REFUSED = 1 };

static struct store *open_with_trait(struct fixture *fixture)
{
    struct store *store = open_seeded(fixture, NULL);
    struct mariadb_session *writer = mariadb_session_of(server_store_of(store)->writer);
    struct change_list list = changes_of(fixture);
    if (writer->server.is_mariadb)
        writer->server.version = 100600;
    add_catalog(&list, CHANGE_TRAIT_INSERT, FIRST_ID, "CUSTOM_TAKEN");
    commit_changes(fixture, store, &list);
    return store;
}

/* One statement inserts three traits, of which this is the second. */
static const struct store_refusal *refuse_trait(struct fixture *fixture, struct store *store,
                                                const char *name)
{
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, FIRST_ID + 1, "CUSTOM_ONE");
    add_catalog(&list, CHANGE_TRAIT_INSERT, FIRST_ID + 2, name);
    add_catalog(&list, CHANGE_TRAIT_INSERT, FIRST_ID + 3, "CUSTOM_THREE");
    return refuse_changes(fixture, store, &list);
}

static void test_name(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_with_trait(fixture);
    const struct store_refusal *why = refuse_trait(fixture, store, "CUSTOM_TAKEN");
    assert_true(why->is_duplicate);
    assert_int_equal(why->change, REFUSED);
    store_close(store);
}

static void test_long_name(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_with_trait(fixture);
    const char *name = arena_printf(fixture->arena, "%0300d", 0).data;
    const struct store_refusal *why = refuse_trait(fixture, store, name);
    assert_true(why->cannot_hold);
    assert_int_equal(why->change, REFUSED);
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_name), TEST(test_long_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
