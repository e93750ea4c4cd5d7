/* The lock of the next batch, while the connection through which it is awaited ends. */
#include "peer.h"

#include "base/clock.h"

static enum store_lock lock_at_last(struct fixture *fixture, struct store *store)
{
    enum store_lock locked = STORE_LOCK_HELD;
    for (uint64_t until_us = peer_soon();
         locked == STORE_LOCK_HELD && clock_monotonic_us() < until_us;)
        locked = store_lock(store, &fixture->err);
    return locked;
}

/* Nothing has been done: another connection asks for the lock again. */
static void test_ends_once(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct server_session *holder = peer_hold_lock(fixture);
    for (int times = 0; times < 2; times++) {
        assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_HELD);
        peer_terminate(fixture, server_store_of(store)->writer);
        assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_HELD);
        peer_leave_lock(fixture, holder);
        assert_int_equal(lock_at_last(fixture, store), STORE_LOCKED);
        store_unlock(store);
        peer_take_lock(fixture, holder);
    }
    server_session_destroy(holder);
    store_close(store);
}

/* If that ends as well, something ends all of them. */
static void test_ends_again(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct server_session *holder = peer_hold_lock(fixture);
    assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_HELD);
    peer_terminate(fixture, server_store_of(store)->writer);
    assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_HELD);
    assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_HELD);
    peer_terminate(fixture, server_store_of(store)->writer);
    assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_FAILED);
    assert_int_equal(fixture->err.status, 503);
    server_session_destroy(holder);
    store_close(store);
}

/* An instance that is stopped keeps the lock no longer than the limit. When it goes on, its batch
 * is planned again. */
static void test_stopped_holder(void **state)
{
    enum { LIMIT_MS = 2000, MOST_US = 20000000 };
    struct fixture *fixture = *state;
    if (fixture_is_mysql())
        skip(); /* there, such a connection is ended after a minute at the soonest */
    fixture->busy_timeout_ms = LIMIT_MS;
    struct store *holder = open_seeded(fixture, NULL);
    struct store *store = fixture_open(fixture);
    struct store_stamp stamp;
    bool foreign;
    struct change_list list = changes_of(fixture);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_int_equal(lock_store(holder, &fixture->err), STORE_LOCKED);
    uint64_t began_us = clock_monotonic_us();
    assert_int_equal(lock_at_last(fixture, store), STORE_LOCKED);
    assert_in_range(clock_monotonic_us() - began_us, LIMIT_MS * 500, MOST_US);
    store_unlock(store);
    /* it goes on */
    add_catalog(&list, CHANGE_TRAIT_INSERT, 50000, "CUSTOM_A");
    assert_int_equal(commit_list(holder, &list, &stamp, &foreign, &fixture->err), STORE_TAKEN);
    commit_changes(fixture, holder, &list);
    store_close(holder);
    store_close(store);
}

/* Another program's session, which has no limit of its own. On PostgreSQL, the store ends it. */
static void test_other_holder(void **state)
{
    enum { LIMIT_MS = 1000, MOST_US = 20000000 };
    struct fixture *fixture = *state;
    fixture->busy_timeout_ms = LIMIT_MS;
    struct store *store = open_seeded(fixture, NULL);
    struct server_session *holder = peer_hold_lock(fixture);
    uint64_t began_us = clock_monotonic_us();
    enum store_lock locked = lock_at_last(fixture, store);
    assert_in_range(clock_monotonic_us() - began_us, LIMIT_MS * 500, MOST_US);
    assert_int_equal(locked, fixture_is_mariadb() ? STORE_LOCK_FAILED : STORE_LOCKED);
    if (locked == STORE_LOCK_FAILED)
        assert_int_equal(fixture->err.status, 503);
    else
        store_unlock(store);
    server_session_destroy(holder);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, 50000, "CUSTOM_A");
    fixture->err = (struct err){.arena = fixture->arena};
    commit_changes(fixture, store, &list);
    store_close(store);
}

static const struct server_dialect *whole;
static unsigned refusals;

static enum server_outcome drive_in_conflict(struct server_session *session,
                                             struct locked_news *news, uint64_t until_us,
                                             uint64_t deadline_us, struct err *err)
{
    if (refusals == 0)
        return whole->lock_drive(session, news, until_us, deadline_us, err);
    refusals--;
    err_set(err, 503, NULL, "another transaction has won");
    return SERVER_RETRY;
}

static enum server_reason reason_of_conflict(const struct server_session *session)
{
    (void)session;
    return SERVER_REASON_CONFLICT;
}

/* Each is counted, not as one of a commit, and the lock is asked for again. */
static void test_conflicts(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct server_session *writer = server_store_of(store)->writer;
    whole = writer->dialect;
    struct server_dialect dialect = *whole;
    dialect.lock_drive = drive_in_conflict;
    dialect.reason = reason_of_conflict;
    writer->dialect = &dialect;
    refusals = 2;
    assert_int_equal(lock_at_last(fixture, store), STORE_LOCKED);
    assert_int_equal(refusals, 0);
    assert_int_equal(store_figures(store).lock_conflicts, 2);
    assert_int_equal(store_figures(store).conflicts, 0);
    store_unlock(store);
    writer->dialect = whole;
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ends_once, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_ends_again, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_stopped_holder, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_other_holder, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_conflicts, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
