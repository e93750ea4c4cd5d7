/* What a thread that must not wait does with a store: it asks for the newest state on a connection
 * of its own, and sends a batch and receives the usual answer. */
#include <poll.h>

#include "await.h"
#include "new_server.h"
#include "peer.h"
#include "store/server/asker.h"

enum { READABLE_MS = 30000 };

/* The batch is there until its answer is. */
struct attempt {
    struct store *store;
    struct store_batch batch;
    size_t end;
    struct store_stamp stamp;
    bool is_foreign;
};

static void await_readable(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    assert_true(fd >= 0);
    assert_int_equal(poll(&polled, 1, READABLE_MS), 1);
}

/* ---- the newest state ---- */

/* Until it is connected. */
static int ask(struct store_asker *asker)
{
    int fd = -1;
    AWAIT((fd = store_ask(asker)) >= 0);
    return fd;
}

static enum store_asked take(struct store_asker *asker, int fd, struct store_head *head)
{
    enum store_asked asked = STORE_ASKED_PENDING;
    while (asked == STORE_ASKED_PENDING) {
        await_readable(fd);
        asked = store_take_answer(asker, head);
    }
    return asked;
}

static void claim(struct fixture *fixture, struct store *store, int64_t generation)
{
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, generation, generation + 1);
    commit_changes(fixture, store, &list);
}

static void test_newest_state(void **state)
{
    struct fixture *fixture = *state;
    struct store_head head;
    struct store *store = open_seeded(fixture, NULL);
    struct store *other = fixture_open_elsewhere(fixture);
    struct store_asker *asker = store_open_asker(store);
    const struct store_stamp first = ask_newest(store);
    assert_int_equal(store_ask(asker), -1);
    assert_int_equal(take(asker, ask(asker), &head), STORE_ASKED_ANSWERED);
    assert_true(head.is_known);
    assert_memory_equal(&head.stamp, &first, sizeof(first));
    assert_int_equal(store_take_answer(asker, &head), STORE_ASKED_NOTHING);
    claim(fixture, other, 0);
    assert_int_equal(take(asker, ask(asker), &head), STORE_ASKED_ANSWERED);
    const struct store_stamp second = ask_newest(store);
    assert_memory_equal(&head.stamp, &second, sizeof(second));
    assert_memory_not_equal(&first, &second, sizeof(first));
    assert_int_equal(store_figures(store).behind, 1);
    store_close_asker(asker);
    store_close(other);
    store_close(store);
}

/* What one store has committed, another one is told at once, in both ways. */
static void test_never_stale(void **state)
{
    enum { CLAIMS = 100 };
    struct fixture *fixture = *state;
    struct store_head head;
    struct store *stores[2] = {open_seeded(fixture, NULL), fixture_open_elsewhere(fixture)};
    struct store_asker *askers[2] = {store_open_asker(stores[0]), store_open_asker(stores[1])};
    for (int i = 0; i < 2; i++)
        assert_int_equal(take(askers[i], ask(askers[i]), &head), STORE_ASKED_ANSWERED);
    for (int64_t i = 0; i < CLAIMS; i++) {
        struct change_list list = changes_of(fixture);
        add_generation(&list, 1, i, i + 1);
        const struct store_stamp committed = commit_changes(fixture, stores[i % 2], &list);
        struct store_asker *other = askers[(i + 1) % 2];
        assert_int_equal(take(other, ask(other), &head), STORE_ASKED_ANSWERED);
        assert_memory_equal(&head.stamp, &committed, sizeof(committed));
        const struct store_stamp newest = ask_newest(stores[(i + 1) % 2]);
        assert_memory_equal(&newest, &committed, sizeof(committed));
    }
    for (int i = 0; i < 2; i++) {
        store_close_asker(askers[i]);
        store_close(stores[i]);
    }
}

/* The news are in the answer, as in that of the head. */
static void test_news_of_the_answer(void **state)
{
    struct fixture *fixture = *state;
    struct store_head head;
    struct store *store = open_seeded(fixture, NULL);
    struct store *other = fixture_open_elsewhere(fixture);
    struct store_asker *asker = store_open_asker(store);
    struct buf ignored = {0};
    claim(fixture, other, 0);
    assert_int_equal(take(asker, ask(asker), &head), STORE_ASKED_ANSWERED);
    assert_true(store_follow_head(store, &head.stamp, dump_change, &ignored));
    assert_true(store_take_head(store));
    assert_true(is_newest(store, &head.stamp));
    buf_free(&ignored);
    store_close_asker(asker);
    store_close(other);
    store_close(store);
}

static const struct server_session *session_of(struct store_asker *asker)
{
    return server_asker_session((struct server_asker *)asker);
}

static void test_connection_ends_while_nothing_is_asked(void **state)
{
    struct fixture *fixture = *state;
    struct store_head head;
    struct store *store = open_seeded(fixture, NULL);
    struct store_asker *asker = store_open_asker(store);
    int fd = ask(asker);
    assert_int_equal(take(asker, fd, &head), STORE_ASKED_ANSWERED);
    peer_terminate(fixture, session_of(asker));
    await_readable(fd);
    assert_int_equal(store_take_answer(asker, &head), STORE_ASKED_NOTHING);
    assert_false(server_session_is_open(session_of(asker)));
    assert_int_equal(take(asker, ask(asker), &head), STORE_ASKED_ANSWERED);
    store_close_asker(asker);
    store_close(store);
}

static void test_connection_ends_before_the_answer(void **state)
{
    struct fixture *fixture = *state;
    struct store_head head;
    struct store *store = open_seeded(fixture, NULL);
    struct store_asker *asker = store_open_asker(store);
    assert_int_equal(take(asker, ask(asker), &head), STORE_ASKED_ANSWERED);
    (void)peer_execute(fixture, "ALTER TABLE berth_log RENAME TO berth_log_away");
    assert_int_equal(take(asker, ask(asker), &head), STORE_ASKED_IN_VAIN);
    assert_false(head.is_known);
    (void)peer_execute(fixture, "ALTER TABLE berth_log_away RENAME TO berth_log");
    int fd = ask(asker);
    store_forget_query(asker);
    assert_false(server_session_is_open(session_of(asker)));
    assert_int_equal(store_ask(asker), -1);
    (void)fd;
    assert_int_equal(take(asker, ask(asker), &head), STORE_ASKED_ANSWERED);
    store_close_asker(asker);
    store_close(store);
}

/* Asks on a connection, which is then replaced: the next question is asked on another one. */
static void expect_replaced(struct fixture *fixture, struct store *store,
                            void (*happens)(struct fixture *fixture, struct store *store,
                                            const struct server_session *session))
{
    struct store_head head;
    struct store_asker *asker = store_open_asker(store);
    const struct server_session *session = session_of(asker);
    assert_int_equal(take(asker, ask(asker), &head), STORE_ASKED_ANSWERED);
    int64_t connection = peer_connection(session);
    happens(fixture, store, session);
    assert_int_equal(store_ask(asker), -1);
    assert_int_equal(take(asker, ask(asker), &head), STORE_ASKED_ANSWERED);
    assert_true(head.is_known);
    assert_int_not_equal(peer_connection(session), connection);
    store_close_asker(asker);
}

enum { RECYCLE_US = 500000 };

static void grow_old(struct fixture *fixture, struct store *store,
                     const struct server_session *session)
{
    (void)fixture;
    (void)store;
    AWAIT(server_session_is_old(session, RECYCLE_US));
}

static void test_connection_is_old(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    server_store_of(store)->recycle_us = RECYCLE_US;
    expect_replaced(fixture, store, grow_old);
    store_close(store);
}

static void reach_new_server(struct fixture *fixture, struct store *store,
                             const struct server_session *session)
{
    (void)fixture;
    replace_server(store);
    assert_true(server_session_has_moved(session));
}

static void test_server_is_replaced(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    expect_replaced(fixture, store, reach_new_server);
    store_close(store);
}

/* One that is promoted later would be another server than the lineage knows of. */
static void test_standby(void **state)
{
    struct fixture *fixture = *state;
    struct store_head head;
    struct store *store = open_seeded(fixture, NULL);
    struct store_asker *asker = store_open_asker(store);
    peer_set_standby(fixture, true);
    uint64_t made = server_store_of(store)->connections.made;
    assert_int_equal(store_ask(asker), -1);
    AWAIT(server_store_of(store)->connections.made > made);
    peer_set_standby(fixture, false);
    assert_int_equal(take(asker, ask(asker), &head), STORE_ASKED_ANSWERED);
    store_close_asker(asker);
    store_close(store);
}

/* While it is being connected, or is to be. */
static void test_closed_at_any_time(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    for (int i = 0; i < 50; i++) {
        struct store_asker *askers[STORE_ASKERS_MOST];
        for (int a = 0; a < STORE_ASKERS_MOST; a++) {
            askers[a] = store_open_asker(store);
            assert_int_equal(store_ask(askers[a]), -1);
        }
        if (i % 2 == 0)
            (void)ask(askers[i % STORE_ASKERS_MOST]);
        for (int a = 0; a < STORE_ASKERS_MOST; a++)
            store_close_asker(askers[a]);
    }
    store_close(store);
}

/* ---- a batch ---- */

/* Memory has the newest state, and the writer a connection. */
static struct attempt begin(struct fixture *fixture)
{
    struct attempt attempt = {.store = open_seeded(fixture, NULL)};
    expect_news(fixture, attempt.store, STORE_NEWS_NONE);
    assert_true(store_begin_at_once(attempt.store));
    return attempt;
}

static enum store_result commit_at_once(struct fixture *fixture, struct attempt *attempt,
                                        const struct change_list *list)
{
    attempt->end = list->count;
    attempt->batch =
        (struct store_batch){.changes = list->items, .ends = &attempt->end, .requests = 1};
    return store_commit(attempt->store, &attempt->batch, &attempt->stamp, &attempt->is_foreign,
                        &fixture->err);
}

static enum store_received receive(struct attempt *attempt)
{
    enum store_received received = STORE_RECEIVED_PART;
    while (received == STORE_RECEIVED_PART) {
        await_readable(store_pending_descriptor(attempt->store));
        received = store_receive(attempt->store, &attempt->stamp, &attempt->is_foreign);
    }
    return received;
}

static enum store_result await(struct fixture *fixture, struct attempt *attempt)
{
    enum store_result result = STORE_PENDING;
    assert_int_equal(store_pending_descriptor(attempt->store), -1);
    while (result == STORE_PENDING)
        result = store_await(attempt->store, UINT64_MAX, &attempt->stamp, &attempt->is_foreign,
                             &fixture->err);
    return result;
}

static struct change_list trait(struct fixture *fixture, int64_t id, const char *name)
{
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, id, name);
    return list;
}

static void test_committed(void **state)
{
    struct fixture *fixture = *state;
    struct attempt attempt = begin(fixture);
    for (int64_t i = 0; i < 3; i++) {
        const struct change_list list = trait(
            fixture, 50000 + i, arena_printf(fixture->arena, "CUSTOM_%d%c", (int)i, '\0').data);
        assert_int_equal(commit_at_once(fixture, &attempt, &list), STORE_PENDING);
        assert_int_equal(receive(&attempt), STORE_RECEIVED_COMMIT);
        assert_false(attempt.is_foreign);
        assert_true(is_newest(attempt.store, &attempt.stamp));
        assert_true(store_begin_at_once(attempt.store));
    }
    store_end_at_once(attempt.store);
    assert_int_equal(peer_execute(fixture, "SELECT count(*) FROM traits WHERE id >= 50000"), 3);
    store_close(attempt.store);
}

static void test_number_is_taken(void **state)
{
    struct fixture *fixture = *state;
    struct attempt attempt = begin(fixture);
    struct store *other = fixture_open_elsewhere(fixture);
    const struct change_list list = trait(fixture, 50000, "CUSTOM_A");
    claim(fixture, other, 0);
    assert_int_equal(commit_at_once(fixture, &attempt, &list), STORE_PENDING);
    assert_int_equal(receive(&attempt), STORE_RECEIVED_OTHER);
    assert_int_equal(await(fixture, &attempt), STORE_TAKEN);
    assert_false(store_begin_at_once(attempt.store)); /* the lock is taken first for a while */
    assert_int_equal(peer_execute(fixture, "SELECT count(*) FROM traits WHERE id >= 50000"), 0);
    store_close(other);
    store_close(attempt.store);
}

enum { ROUNDS = 40, FIRST_ID = 50000 };

/* Three statements of different tables. */
static struct change_list batch_of(struct fixture *fixture, int64_t id, int64_t generation)
{
    const char *name = arena_printf(fixture->arena, "CUSTOM_%lld", (long long)id).data;
    struct change_list list = trait(fixture, id, name);
    add_generation(&list, 1, generation, generation + 1);
    add_catalog(&list, CHANGE_USER_INSERT, id, name);
    return list;
}

static void read_news(struct fixture *fixture, struct attempt *attempt)
{
    assert_int_not_equal(read_into(fixture, attempt->store, NULL), STORE_NEWS_FAILED);
    assert_true(store_end_read(attempt->store, &attempt->stamp));
}

/* Both have the same state, and one of them commits. */
static bool race(struct fixture *fixture, struct attempt *attempts, int64_t round)
{
    enum store_result results[2];
    struct change_list lists[2];
    for (int i = 0; i < 2; i++) {
        lists[i] = batch_of(fixture, FIRST_ID + 2 * round + i, round);
        read_news(fixture, &attempts[i]);
    }
    for (int i = 0; i < 2; i++)
        results[i] = commit_at_once(fixture, &attempts[i], &lists[i]);
    for (int i = 0; i < 2; i++)
        while (results[i] == STORE_PENDING)
            results[i] = store_await(attempts[i].store, UINT64_MAX, &attempts[i].stamp,
                                     &attempts[i].is_foreign, &fixture->err);
    bool is_first = results[0] == STORE_OK;
    assert_int_equal(results[is_first ? 0 : 1], STORE_OK);
    assert_int_equal(results[is_first ? 1 : 0], STORE_TAKEN);
    return is_first;
}

/* On two nodes of a cluster, if there is one. */
static void test_two_stores(void **state)
{
    struct fixture *fixture = *state;
    struct attempt attempts[2] = {{.store = open_seeded(fixture, NULL)},
                                  {.store = fixture_open_elsewhere(fixture)}};
    int64_t ids = 0;
    expect_news(fixture, attempts[1].store, STORE_NEWS_RELOAD);
    for (int64_t round = 0; round < ROUNDS; round++) {
        bool is_first = race(fixture, attempts, round);
        ids += FIRST_ID + 2 * round + (is_first ? 0 : 1);
    }
    for (int i = 0; i < 2; i++) {
        read_news(fixture, &attempts[i]);
        assert_true(is_newest(attempts[i].store, &attempts[i].stamp));
    }
    assert_int_equal(peer_execute(fixture, "SELECT sum(id) FROM traits WHERE id >= 50000"), ids);
    assert_int_equal(peer_execute(fixture, "SELECT sum(id) FROM users WHERE id >= 50000"), ids);
    assert_int_equal(
        peer_execute(fixture, "SELECT generation FROM resource_providers WHERE id = 1"), ROUNDS);
    for (int i = 0; i < 2; i++)
        store_close(attempts[i].store);
}

static void test_refused(void **state)
{
    struct fixture *fixture = *state;
    struct attempt attempt = begin(fixture);
    (void)peer_execute(fixture, "INSERT INTO traits (id, name) VALUES (60000, 'CUSTOM_A')");
    const struct change_list list = trait(fixture, 50000, "CUSTOM_A");
    assert_int_equal(commit_at_once(fixture, &attempt, &list), STORE_PENDING);
    assert_int_equal(receive(&attempt), STORE_RECEIVED_OTHER);
    store_end_at_once(attempt.store);
    assert_int_equal(await(fixture, &attempt), STORE_REFUSED);
    assert_true(store_why_refused(attempt.store)->is_duplicate);
    assert_int_equal(store_why_refused(attempt.store)->request, 0);
    store_close(attempt.store);
}

/* The connection ends before the answer to COMMIT: what became of the batch is found out. */
static void test_connection_is_lost(void **state)
{
    struct fixture *fixture = *state;
    if (fixture_is_cluster())
        skip(); /* what holds commits there holds reads as well */
    if (fixture_is_mysql())
        skip(); /* KILL does not end what holds commits there */
    struct attempt attempt = begin(fixture);
    const struct change_list list = trait(fixture, 50000, "CUSTOM_A");
    struct server_session *holder = peer_hold_commits(fixture);
    assert_int_equal(commit_at_once(fixture, &attempt, &list), STORE_PENDING);
    peer_terminate(fixture, server_store_of(attempt.store)->writer);
    peer_release_commits(fixture, holder);
    assert_int_equal(receive(&attempt), STORE_RECEIVED_OTHER);
    store_end_at_once(attempt.store);
    enum store_result result = await(fixture, &attempt);
    assert_true(result == STORE_TAKEN || result == STORE_OK);
    assert_int_equal(peer_execute(fixture, "SELECT count(*) FROM traits WHERE id >= 50000"),
                     result == STORE_OK);
    store_close(attempt.store);
}

static void test_not_without_a_connection(void **state)
{
    struct fixture *fixture = *state;
    struct attempt attempt = begin(fixture);
    store_end_at_once(attempt.store);
    peer_terminate(fixture, server_store_of(attempt.store)->writer);
    assert_false(store_begin_at_once(attempt.store));
    const struct change_list list = trait(fixture, 50000, "CUSTOM_A");
    commit_changes(fixture, attempt.store, &list);
    assert_true(store_begin_at_once(attempt.store));
    store_close(attempt.store);
}

static void test_not_without_a_state(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    assert_false(store_begin_at_once(store));
    store_close(store);
}

/* What has to be mended, read again or awaited first is the writer's; so is a server that memory
 * does not have its state from. */
static void test_not_with_something_to_do_first(void **state)
{
    struct fixture *fixture = *state;
    struct attempt attempt = begin(fixture);
    struct server_store *store = server_store_of(attempt.store);
    store_end_at_once(attempt.store);
    bool *const flags[] = {&store->mends_sequences, &store->is_locking};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        *flags[i] = true;
        assert_false(store_begin_at_once(attempt.store));
        *flags[i] = false;
    }
    store->suspects.count = 1;
    assert_false(store_begin_at_once(attempt.store));
    store->suspects.count = 0;
    store->examined_timeline--;
    assert_false(store_begin_at_once(attempt.store));
    store->examined_timeline++;
    assert_true(store_begin_at_once(attempt.store));
    store_close(attempt.store);
}

/* It ends after the check: the batch is planned again, instead of waiting for a new one. */
static void test_connection_moves_meanwhile(void **state)
{
    struct fixture *fixture = *state;
    struct attempt attempt = begin(fixture);
    server_session_close(server_store_of(attempt.store)->writer);
    const struct change_list list = trait(fixture, 50000, "CUSTOM_A");
    assert_int_equal(commit_at_once(fixture, &attempt, &list), STORE_TAKEN);
    assert_int_equal(store_pending_descriptor(attempt.store), -1);
    store_close(attempt.store);
}

/* An id that the database has to be asked for is lacking, until the store may wait again. */
static void test_ids(void **state)
{
    struct fixture *fixture = *state;
    enum { IDS_MOST = 100000 };
    struct attempt attempt = begin(fixture);
    int ids = 0;
    store_reuse_ids(attempt.store);
    while (!store_lacks_id(attempt.store, &fixture->err)) {
        (void)store_next_id(attempt.store, STORE_TRAITS);
        assert_true(++ids < IDS_MOST);
    }
    store_end_at_once(attempt.store);
    fixture->err = (struct err){.arena = fixture->arena};
    for (int i = 0; i < ids; i++)
        (void)store_next_id(attempt.store, STORE_TRAITS);
    assert_false(store_lacks_id(attempt.store, &fixture->err));
    store_close(attempt.store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_newest_state),
        TEST(test_never_stale),
        TEST(test_news_of_the_answer),
        TEST(test_connection_ends_while_nothing_is_asked),
        TEST(test_connection_ends_before_the_answer),
        TEST(test_connection_is_old),
        TEST(test_server_is_replaced),
        TEST(test_standby),
        TEST(test_closed_at_any_time),
        TEST(test_committed),
        TEST(test_number_is_taken),
        TEST(test_two_stores),
        TEST(test_refused),
        TEST(test_connection_is_lost),
        TEST(test_not_without_a_connection),
        TEST(test_not_without_a_state),
        TEST(test_not_with_something_to_do_first),
        TEST(test_connection_moves_meanwhile),
        TEST(test_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
