/* A replica has taken the place of the server: it has the same log, but perhaps not what another
 * program had written last. Here it is the same server under another number. */
#include "store/server/peer.h"

#include "base/arena.h"

static void use_replica(struct fixture *fixture, struct store *store, int64_t number)
{
    struct server_store *server = server_store_of(store);
    (void)peer_execute(
        fixture,
        arena_printf(fixture->arena, "SET GLOBAL server_id = %lld", (long long)number).data);
    peer_terminate(fixture, server->writer);
    peer_terminate(fixture, server->follower);
}

/* Memory has the name that another program has written. */
static struct store *open_renamed(struct fixture *fixture)
{
    store_close(open_seeded(fixture, NULL));
    (void)peer_execute(fixture, "UPDATE resource_providers SET name = 'renamed' WHERE id = 1");
    struct store *store = fixture_open(fixture);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    expect_news(fixture, store, STORE_NEWS_NONE);
    return store;
}

static void test_everything_is_read(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_renamed(fixture);
    int64_t number = peer_execute(fixture, "SELECT @@server_id");
    use_replica(fixture, store, number + 1);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    expect_news(fixture, store, STORE_NEWS_NONE);
    use_replica(fixture, store, number);
    store_close(store);
}

/* Before anything is written to it. */
static void test_nothing_is_written(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_renamed(fixture);
    int64_t number = peer_execute(fixture, "SELECT @@server_id");
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool by_another;
    add_catalog(&list, CHANGE_TRAIT_INSERT, 5000, "CUSTOM_MINE");
    use_replica(fixture, store, number + 1);
    assert_int_equal(commit_list(store, &list, &stamp, &by_another, &fixture->err), STORE_TAKEN);
    fixture->err = (struct err){.arena = fixture->arena};
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_int_equal(take_news_and_commit(fixture, store, &list, &stamp, &by_another), STORE_OK);
    use_replica(fixture, store, number);
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_everything_is_read),
        TEST(test_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
