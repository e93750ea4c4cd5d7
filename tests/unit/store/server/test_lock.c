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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ends_once, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_ends_again, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
