/* The lock of the next batch, while the connection through which it is awaited ends. */
#include "store/fixture.h"

#include "base/arena.h"
#include "base/clock.h"
#include "store/postgres/locks.h"
#include "store/postgres/store_internal.h"
#include "store/postgres/write_texts.h"

static uint64_t soon(void)
{
    return clock_monotonic_us() + 60000000;
}

/* A session of another instance that has the lock. */
static struct pg_session *hold_lock(struct fixture *fixture)
{
    struct pg_url url;
    assert_true(
        pg_url_parse(slice_of(fixture->url), SLICE_LIT(""), fixture->arena, &url, &fixture->err));
    struct pg_session *session =
        pg_session_create(&(struct pg_session_options){.url = &url, .wake_fd = -1});
    assert_int_equal(pg_session_connect(session, soon(), &fixture->err), SERVER_OK);
    assert_int_equal(pg_session_run(session, "BEGIN", NULL, soon(), &fixture->err), SERVER_OK);
    assert_int_equal(pg_session_run(session, PG_TAKE_LOCK, NULL, soon(), &fixture->err), SERVER_OK);
    return session;
}

/* Ends the writer's connection, and waits until it has ended. */
static void end_connection(struct fixture *fixture, const struct store *store,
                           struct pg_session *by)
{
    const struct postgres_store *postgres = postgres_of_const(store);
    const struct slice sql =
        arena_printf(fixture->arena, "SELECT pg_terminate_backend(%d, 60000)%c",
                     pg_session_server(postgres->writer)->backend, '\0');
    assert_int_equal(pg_session_run(by, sql.data, NULL, soon(), &fixture->err), SERVER_OK);
}

static enum store_lock lock_at_last(struct fixture *fixture, struct store *store)
{
    enum store_lock locked = STORE_LOCK_HELD;
    for (uint64_t until_us = soon(); locked == STORE_LOCK_HELD && clock_monotonic_us() < until_us;)
        locked = store_lock(store, &fixture->err);
    return locked;
}

/* Nothing has been done: another connection asks for the lock again. */
static void test_ends_once(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct pg_session *holder = hold_lock(fixture);
    for (int times = 0; times < 2; times++) {
        assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_HELD);
        end_connection(fixture, store, holder);
        assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_HELD);
        assert_int_equal(pg_session_run(holder, "ROLLBACK", NULL, soon(), &fixture->err),
                         SERVER_OK);
        assert_int_equal(lock_at_last(fixture, store), STORE_LOCKED);
        store_unlock(store);
        assert_int_equal(pg_session_run(holder, "BEGIN", NULL, soon(), &fixture->err), SERVER_OK);
        assert_int_equal(pg_session_run(holder, PG_TAKE_LOCK, NULL, soon(), &fixture->err),
                         SERVER_OK);
    }
    pg_session_destroy(holder);
    store_close(store);
}

/* If that ends as well, something ends all of them. */
static void test_ends_again(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct pg_session *holder = hold_lock(fixture);
    assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_HELD);
    end_connection(fixture, store, holder);
    assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_HELD);
    assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_HELD);
    end_connection(fixture, store, holder);
    assert_int_equal(store_lock(store, &fixture->err), STORE_LOCK_FAILED);
    assert_int_equal(fixture->err.status, 503);
    pg_session_destroy(holder);
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
