/* What becomes of a batch whose connection ends while the server executes one of its statements,
 * on a real server: it is either written as a whole, and counts as written, or not at all, and is
 * planned again. */
#include "peer.h"

#include "base/clock.h"

/* A reason for which the server stops at a statement of the batch, until it is removed. */
struct obstacle {
    const char *name;
    struct server_session *(*put)(struct fixture *fixture);
    void (*remove)(struct fixture *fixture, struct server_session *holder);
};

static void roll_back(struct fixture *fixture, struct server_session *holder)
{
    peer_run(fixture, holder, "ROLLBACK");
    server_session_destroy(holder);
}

/* Another transaction has inserted a row with the next number. */
static struct server_session *take_number(struct fixture *fixture)
{
    struct server_session *holder = peer_connect(fixture);
    peer_run(fixture, holder, "BEGIN");
    peer_run(fixture, holder,
             peer_sql("INSERT INTO berth_log SELECT max(number) + 1, decode('00', 'hex'),"
                      " decode('00', 'hex'), now(), '' FROM berth_log",
                      "INSERT INTO berth_log SELECT max(number) + 1, x'00', x'00',"
                      " UTC_TIMESTAMP(6), '' FROM berth_log"));
    return holder;
}

static struct server_session *lock_provider(struct fixture *fixture)
{
    return peer_lock_row(fixture, 1);
}

static const struct obstacle obstacles[] = {
    {"the lock", peer_hold_lock, roll_back},
    {"the log's row", take_number, roll_back},
    {"a provider's row", lock_provider, roll_back},
    {"COMMIT", peer_hold_commits, peer_release_commits},
};
enum { OBSTACLES = sizeof(obstacles) / sizeof(obstacles[0]) };

/* The connection of a session that executes a statement. The server then rolls it back. */
static void terminate(struct fixture *fixture, struct server_session *session)
{
    peer_terminate(fixture, session);
}

/* The server does not notice, and goes on. */
static void close_client(struct fixture *fixture, struct server_session *session)
{
    (void)fixture;
    server_session_close(session);
}

static enum store_result decide(struct fixture *fixture, struct store *store,
                                const struct obstacle *obstacle, struct server_session *holder)
{
    struct store_stamp stamp;
    bool foreign;
    struct err err = {.arena = fixture->arena};
    /* it begins to be found out */
    enum store_result result = store_await(store, clock_monotonic_us(), &stamp, &foreign, &err);
    obstacle->remove(fixture, holder);
    while (result == STORE_PENDING)
        result = store_await(store, UINT64_MAX, &stamp, &foreign, &err);
    return result;
}

/* The batch, in part or as a whole. */
static void expect_written(struct fixture *fixture, int64_t id, bool is_written)
{
    const struct slice traits =
        arena_printf(fixture->arena, "SELECT count(*) FROM traits WHERE id = %lld", (long long)id);
    const struct slice providers = arena_printf(
        fixture->arena, "SELECT count(*) FROM resource_providers WHERE id = 1 AND generation = 1");
    const struct slice allocations = arena_printf(
        fixture->arena, "SELECT count(*) FROM allocations WHERE id = %lld", (long long)id);
    assert_int_equal(peer_execute(fixture, traits.data), is_written);
    assert_int_equal(peer_execute(fixture, providers.data), is_written);
    assert_int_equal(peer_execute(fixture, allocations.data), is_written);
}

static struct change_list make_batch(struct fixture *fixture, int64_t id)
{
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, id, "CUSTOM_CUT");
    add_generation(&list, 1, 0, 1);
    add_consumer(&list, CHANGE_CONSUMER_INSERT, id, UUID_D, 1);
    add_allocation(&list, id, id, UUID_D, 1, 0, 2);
    return list;
}

static void cut(struct fixture *fixture, const struct obstacle *obstacle,
                void (*end)(struct fixture *fixture, struct server_session *session))
{
    enum { ID = 50000 };
    struct store *store = open_seeded(fixture, NULL);
    struct store_stamp stamp;
    bool foreign;
    expect_news(fixture, store, STORE_NEWS_NONE);
    const struct change_list list = make_batch(fixture, ID);
    const struct store_batch batch = {.changes = list.items, .ends = &list.count, .requests = 1};
    struct server_session *holder = obstacle->put(fixture);
    assert_int_equal(store_commit(store, &batch, &stamp, &foreign, &fixture->err), STORE_PENDING);
    peer_await_queue(fixture, 1);
    end(fixture, server_store_of(store)->writer);
    enum store_result result = decide(fixture, store, obstacle, holder);
    if (result != STORE_OK && result != STORE_TAKEN)
        fail_msg("at %s: %d", obstacle->name, (int)result);
    expect_written(fixture, ID, result == STORE_OK);
    if (result == STORE_TAKEN)
        commit_changes(fixture, store, &list);
    expect_written(fixture, ID, true);
    struct store *other = fixture_open(fixture);
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    expect_news(fixture, other, STORE_NEWS_NONE);
    store_close(other);
    store_close(store);
}

static void cut_everywhere(void (*end)(struct fixture *fixture, struct server_session *session))
{
    for (size_t i = 0; i < OBSTACLES; i++) {
        void *fixture;
        if (fixture_is_cluster() && obstacles[i].put == peer_hold_commits)
            continue; /* what holds commits there holds reads as well */
        if (fixture_is_mysql() && obstacles[i].put == peer_hold_commits && end == terminate)
            continue; /* KILL does not end what holds commits there */
        assert_int_equal(fixture_setup(&fixture), 0);
        cut(fixture, &obstacles[i], end);
        fixture_teardown(&fixture);
    }
}

static void test_server_ends_connection(void **state)
{
    (void)state;
    cut_everywhere(terminate);
}

static void test_client_is_gone(void **state)
{
    (void)state;
    cut_everywhere(close_client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server_ends_connection),
        cmocka_unit_test(test_client_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
