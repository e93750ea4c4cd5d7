/* What is found out about a batch whose COMMIT was not answered, on a real server. */
#include "store/server/unknown.h"

#include "base/clock.h"
#include "peer.h"

enum { WRITTEN = 10 }; /* rows of the log before the batch */

static const char MARK[LOG_MARK_LEN + 1] = "of a batch lost.";
static const char OTHER[LOG_MARK_LEN + 1] = "of another batch";
static const char BEFORE[LOG_MARK_LEN + 1] = "of the row befor";

static const char *insert_sql(struct fixture *fixture, int number, const char *mark)
{
    const char *now = peer_sql("now()", "UTC_TIMESTAMP(6)");
    return arena_printf(fixture->arena, "INSERT INTO berth_log VALUES (%d, %s, %s, %s, '')", number,
                        peer_bytes(fixture, mark), peer_hex(fixture, "00"), now)
        .data;
}

static void insert(struct fixture *fixture, int number, const char *mark)
{
    (void)peer_execute(fixture, insert_sql(fixture, number, mark));
}

/* A store whose log has that many rows, the last one with the mark BEFORE. */
static struct server_store *open_written(struct fixture *fixture)
{
    struct store *store = fixture_open(fixture);
    (void)peer_execute(fixture, "DELETE FROM berth_log");
    for (int number = 1; number <= WRITTEN; number++)
        insert(fixture, number, number == WRITTEN ? BEFORE : OTHER);
    return server_store_of(store);
}

/* Rows of the lost batch. */
static void expect_count(struct fixture *fixture, int64_t count)
{
    const struct slice sql =
        arena_printf(fixture->arena, "SELECT count(*) FROM berth_log WHERE mark = %s",
                     peer_bytes(fixture, MARK));
    assert_int_equal(peer_execute(fixture, sql.data), count);
}

static void begin(struct server_store *store, int64_t number)
{
    const struct log_row row = {.number = number, .mark = {MARK, LOG_MARK_LEN}};
    struct log_state before = {.number = number - 1};
    memcpy(before.mark, BEFORE, LOG_MARK_LEN);
    server_unknown_begin(store->unknown, &row, &before,
                         clock_monotonic_us() + UNKNOWN_RESOLVE_S * UINT64_C(1000000));
}

static enum store_result resolved(struct server_store *store)
{
    enum store_result result = STORE_PENDING;
    while (result == STORE_PENDING)
        result = server_unknown_wait(store->unknown, clock_monotonic_us() + 100000);
    return result;
}

static void test_row_is_there(void **state)
{
    struct fixture *fixture = *state;
    struct server_store *store = open_written(fixture);
    insert(fixture, WRITTEN + 1, MARK);
    begin(store, WRITTEN + 1);
    assert_int_equal(resolved(store), STORE_OK);
    assert_int_equal(server_head_highest(store->head), WRITTEN + 1);
    assert_int_equal(store->unknown_done, 1);
    store_close(&store->base);
}

static void test_row_of_another(void **state)
{
    struct fixture *fixture = *state;
    struct server_store *store = open_written(fixture);
    insert(fixture, WRITTEN + 1, OTHER);
    begin(store, WRITTEN + 1);
    assert_int_equal(resolved(store), STORE_TAKEN);
    assert_int_equal(store->unknown_undone, 1);
    store_close(&store->base);
}

/* An empty batch takes the number: the lost one can only be refused. */
static void test_row_is_missing(void **state)
{
    struct fixture *fixture = *state;
    struct server_store *store = open_written(fixture);
    begin(store, WRITTEN + 1);
    assert_int_equal(resolved(store), STORE_TAKEN);
    peer_expect(fixture,
                "SELECT number, length(entries), length(mark) FROM berth_log WHERE number > 10",
                "11|0|16");
    expect_count(fixture, 0);
    store_close(&store->base);
}

/* The database went back: nothing is written on top of a state that it does not have. */
static void test_row_before_is_missing(void **state)
{
    struct fixture *fixture = *state;
    struct server_store *store = open_written(fixture);
    begin(store, WRITTEN + 2);
    assert_int_equal(resolved(store), STORE_TAKEN);
    peer_expect(fixture, "SELECT max(number) FROM berth_log", "10");
    store_close(&store->base);
}

/* While the lock is awaited, the batch is committed, and the rows before it are pruned: nothing
 * could take its number, which does not mean that it is not there. */
static void test_committed_meanwhile(void **state)
{
    struct fixture *fixture = *state;
    struct server_store *store = open_written(fixture);
    struct store *holder = fixture_open(fixture);
    assert_int_equal(lock_store(holder, &fixture->err), STORE_LOCKED);
    begin(store, WRITTEN + 1);
    peer_await_queue(fixture, 1);
    insert(fixture, WRITTEN + 1, MARK);
    (void)peer_execute(fixture, "DELETE FROM berth_log WHERE number <= 10");
    store_unlock(holder);
    assert_int_equal(resolved(store), STORE_OK);
    store_close(holder);
    store_close(&store->base);
}

/* The process was stopped for so long that the row, if it was there, has been pruned. */
static void test_row_was_pruned(void **state)
{
    struct fixture *fixture = *state;
    struct server_store *store = open_written(fixture);
    (void)peer_execute(fixture, "DELETE FROM berth_log WHERE number <= 5");
    begin(store, 5);
    assert_int_equal(resolved(store), STORE_UNKNOWN);
    assert_int_equal(store->unknown_open, 1);
    begin(store, 6);
    assert_int_equal(resolved(store), STORE_TAKEN);
    store_close(&store->base);
}

/* Somebody holds the lock: it ends soon after it is given up, and the next one is found out. */
static void test_given_up(void **state)
{
    struct fixture *fixture = *state;
    struct server_store *store = open_written(fixture);
    struct store *holder = fixture_open(fixture);
    assert_int_equal(lock_store(holder, &fixture->err), STORE_LOCKED);
    begin(store, WRITTEN + 1);
    assert_int_equal(server_unknown_wait(store->unknown, clock_monotonic_us() + 300000),
                     STORE_PENDING);
    uint64_t from_us = clock_monotonic_us();
    server_unknown_give_up(store->unknown);
    assert_int_equal(resolved(store), STORE_UNKNOWN);
    assert_in_range(clock_monotonic_us() - from_us, 0, 4000000); /* the lock's limit is 5 s */
    store_unlock(holder);
    begin(store, WRITTEN + 1);
    assert_int_equal(resolved(store), STORE_TAKEN);
    store_close(holder);
    store_close(&store->base);
}

/* Another program's transaction that has written the batch's row, on the first node. */
static struct server_session *begin_ghost(struct fixture *fixture)
{
    struct server_session *ghost = peer_connect(fixture);
    peer_run(fixture, ghost, "BEGIN");
    peer_run(fixture, ghost, insert_sql(fixture, WRITTEN + 1, MARK));
    return ghost;
}

/* The batch is committed on one node of a cluster, or not, while another one is asked. */
static void test_another_node(void **state)
{
    struct fixture *fixture = *state;
    if (!fixture_is_cluster())
        skip();
    struct server_store *first = open_written(fixture);
    struct server_store *store = server_store_of(fixture_open_elsewhere(fixture));
    struct server_session *ghost = begin_ghost(fixture);
    begin(store, WRITTEN + 1);
    assert_int_equal(resolved(store), STORE_TAKEN);
    assert_false(peer_try(fixture, ghost, "COMMIT"));
    expect_count(fixture, 0);
    server_session_destroy(ghost);
    (void)peer_execute(fixture, "DELETE FROM berth_log WHERE number > 10");
    ghost = begin_ghost(fixture);
    peer_run(fixture, ghost, "COMMIT");
    begin(store, WRITTEN + 1);
    assert_int_equal(resolved(store), STORE_OK);
    expect_count(fixture, 1);
    server_session_destroy(ghost);
    store_close(&store->base);
    store_close(&first->base);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_row_is_there),
        TEST(test_row_of_another),
        TEST(test_row_is_missing),
        TEST(test_row_before_is_missing),
        TEST(test_committed_meanwhile),
        TEST(test_row_was_pruned),
        TEST(test_given_up),
        TEST(test_another_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
