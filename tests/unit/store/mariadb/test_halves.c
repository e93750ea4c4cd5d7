/* A cluster that has split, both halves of which go on, and a store with sessions to both. The
 * halves are two databases of one server: a session is in the other one until it connects again. */
#include "store/server/peer.h"

#include "base/arena.h"

static const char *name_of(const struct fixture *fixture)
{
    const char *from = strrchr(fixture->url, '@') + 2;
    return arena_printf(fixture->arena, "%.*s%c", (int)strcspn(from, "?"), from, '\0').data;
}

static void copy_database(const struct fixture *fixture)
{
    const char *name = name_of(fixture);
    fixture_shell(fixture,
                  arena_printf(fixture->arena,
                               "socket=\"${BERTH_TEST_MARIADB_ADMIN#*unix_socket=}\" && "
                               "mariadb -uroot -S \"$socket\" -e 'CREATE DATABASE %s_half' && "
                               "mariadb-dump -uroot -S \"$socket\" %s >dump && "
                               "mariadb -uroot -S \"$socket\" %s_half <dump%c",
                               name, name, name, '\0')
                      .data);
}

static void move(struct fixture *fixture, struct server_session *session)
{
    peer_run(fixture, session,
             arena_printf(fixture->arena, "USE %s_half%c", name_of(fixture), '\0').data);
}

static struct change_list new_trait(struct fixture *fixture, int64_t id, const char *name)
{
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, id, name);
    return list;
}

/* Somebody else has written to the other half. */
static void write_there(struct fixture *fixture)
{
    struct store *other = fixture_open(fixture);
    struct change_list list = new_trait(fixture, 50001, "CUSTOM_THERE");
    struct store_stamp stamp;
    bool foreign;
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    move(fixture, server_store_of(other)->writer);
    move(fixture, server_store_of(other)->follower);
    assert_int_equal(commit_list(other, &list, &stamp, &foreign, &fixture->err), STORE_OK);
    store_close(other);
}

/* Takes the news, and commits. */
static enum store_result try(struct fixture *fixture, struct store *store,
                             const struct change_list *list)
{
    struct store_stamp stamp;
    bool foreign;
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_not_equal(read_into(fixture, store, NULL), STORE_NEWS_FAILED);
    assert_true(store_end_read(store, &stamp));
    return commit_list(store, list, &stamp, &foreign, &fixture->err);
}

/* What is read in one half never fits the other. */
static void test_sessions_meet_again(void **state)
{
    struct fixture *fixture = *state;
    enum { ATTEMPTS = 20, LONG_US = 5000000 };
    struct store *store = open_seeded(fixture, NULL);
    struct server_store *server = server_store_of(store);
    struct change_list list = new_trait(fixture, 50002, "CUSTOM_HERE");
    struct store_stamp stamp;
    expect_news(fixture, store, STORE_NEWS_NONE);
    copy_database(fixture);
    write_there(fixture);
    (void)commit_changes(fixture, store, &list);
    move(fixture, server->follower);
    assert_int_equal(read_into(fixture, store, NULL), STORE_NEWS_WENT_BACK);
    assert_true(store_end_read(store, &stamp));
    list = new_trait(fixture, 50003, "CUSTOM_LATER");
    for (int i = 0; i < ATTEMPTS; i++)
        assert_int_equal(try(fixture, store, &list), STORE_TAKEN);
    server->taken_us -= LONG_US;
    assert_int_equal(try(fixture, store, &list), STORE_TAKEN);
    assert_int_equal(try(fixture, store, &list), STORE_OK);
    expect_news(fixture, store, STORE_NEWS_NONE);
    store_close(store);
}

/* Others may win now and then for as long as they like. */
static void test_sessions_stay(void **state)
{
    struct fixture *fixture = *state;
    enum { ATTEMPTS = 3, LONG_US = 5000000 };
    struct store *store = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    struct server_store *server = server_store_of(store);
    expect_news(fixture, store, STORE_NEWS_NONE);
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    const int64_t writer = peer_connection(server->writer);
    for (int i = 0; i < ATTEMPTS; i++) {
        struct change_list list = new_trait(
            fixture, 50001 + i, arena_printf(fixture->arena, "CUSTOM_%d%c", i, '\0').data);
        struct store_stamp stamp;
        bool foreign;
        (void)commit_changes(fixture, other, &list);
        list = new_trait(fixture, 60001 + i,
                         arena_printf(fixture->arena, "CUSTOM_OWN_%d%c", i, '\0').data);
        assert_int_equal(commit_list(store, &list, &stamp, &foreign, &fixture->err), STORE_TAKEN);
        assert_true(server->taken_us > 0);
        server->taken_us -= LONG_US;
        assert_int_equal(try(fixture, store, &list), STORE_OK);
        expect_news(fixture, other, STORE_NEWS_FOLLOW);
    }
    assert_int_equal(peer_connection(server->writer), writer);
    store_close(other);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sessions_meet_again, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_sessions_stay, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
