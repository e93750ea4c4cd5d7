/* Stores on two nodes of a Galera cluster: batches that refuse each other at their commit, and then
 * ask for turns; commits that the cluster loses; and how both are counted. */
#include "store/server/peer.h"

#include <stdio.h>
#include <stdlib.h>

#include "await.h"
#include "base/clock.h"
#include "store/report.h"

/* The same database on the second node, over its unix socket. */
static const char *url_of_second(const struct fixture *fixture)
{
    const char *socket = strchr(getenv("BERTH_TEST_MARIADB_2_ADMIN"), '?');
    return arena_printf(fixture->arena, "%.*s%s%c", (int)strcspn(fixture->url, "?"), fixture->url,
                        socket, '\0')
        .data;
}

static void run_sql(const struct fixture *fixture, const char *sql)
{
    const char *name = strrchr(fixture->url, '@') + 2;
    fixture_shell(fixture, arena_printf(fixture->arena,
                                        "mariadb -uroot -S \"${BERTH_TEST_MARIADB_ADMIN#*"
                                        "unix_socket=}\" -e \"%s\" %.*s%c",
                                        sql, (int)strcspn(name, "?"), name, '\0')
                               .data);
}

static struct store *open_second(struct fixture *fixture)
{
    struct store *store = fixture_try(fixture, url_of_second(fixture), false, false);
    if (store == NULL)
        print_error("%.*s\n", SLICE_ARG(fixture->err.message));
    assert_non_null(store);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    return store;
}

/* A batch of one project, which is sent and not waited for. */
static enum store_result begin(struct fixture *fixture, struct store *store)
{
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool foreign;
    int64_t id = store_next_id(store, STORE_PROJECTS);
    fixture->err = (struct err){.arena = fixture->arena};
    if (id == 0) { /* the other node's transaction was first there, too */
        (void)!store_lacks_id(store, &fixture->err);
        return STORE_TAKEN;
    }
    add_catalog(&list, CHANGE_PROJECT_INSERT, id,
                arena_printf(fixture->arena, "p%lld%c", (long long)id, '\0').data);
    const struct store_batch batch = {.changes = list.items, .ends = &list.count, .requests = 1};
    enum store_result result = store_commit(store, &batch, &stamp, &foreign, &fixture->err);
    store_reuse_ids(store);
    return result;
}

static enum store_result end(struct fixture *fixture, struct store *store, enum store_result result)
{
    struct store_stamp stamp;
    bool foreign;
    while (result == STORE_PENDING)
        result = store_await(store, UINT64_MAX, &stamp, &foreign, &fixture->err);
    if (result != STORE_OK && result != STORE_TAKEN)
        fail_msg("%d: %.*s", (int)result, SLICE_ARG(fixture->err.message));
    return result;
}

static void take_news(struct fixture *fixture, struct store *store)
{
    struct store_stamp stamp;
    assert_int_not_equal(read_into(fixture, store, NULL), STORE_NEWS_FAILED);
    (void)store_end_read(store, &stamp);
}

/* Both write at the same time on top of the same state: one of them is refused, most often as it
 * commits. */
static void test_conflicts_are_counted(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = open_seeded(fixture, NULL);
    struct store *second = open_second(fixture);
    assert_int_equal(store_figures(first).conflicts, 0);
    for (int i = 0; i < 300; i++) {
        enum store_result one = begin(fixture, first);
        enum store_result other = begin(fixture, second);
        one = end(fixture, first, one);
        other = end(fixture, second, other);
        assert_false(one == STORE_OK && other == STORE_OK);
        take_news(fixture, first);
        take_news(fixture, second);
        if (store_figures(first).conflicts + store_figures(second).conflicts > 0)
            break;
    }
    assert_true(store_figures(first).conflicts + store_figures(second).conflicts > 0);
    assert_int_equal(store_figures(first).lost_batches + store_figures(second).lost_batches, 0);
    assert_int_equal(store_figures(first).lock_conflicts + store_figures(second).lock_conflicts, 0);
    store_close(second);
    store_close(first);
}

/* Batches until the log has that many rows. */
static void commit_until(struct fixture *fixture, struct store *store, int64_t number)
{
    while (server_store_of(store)->followed.number < number) {
        struct change_list list = changes_of(fixture);
        int64_t id = store_next_id(store, STORE_PROJECTS);
        add_catalog(&list, CHANGE_PROJECT_INSERT, id,
                    arena_printf(fixture->arena, "p%lld%c", (long long)id, '\0').data);
        commit_changes(fixture, store, &list);
    }
}

/* Once for each time, however often it is found. */
static void test_lost_commits_are_counted(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    commit_until(fixture, store, 9);
    run_sql(fixture, "DELETE FROM berth_log WHERE number > 5");
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_WENT_BACK);
    struct store_stamp stamp;
    assert_false(store_end_read(store, &stamp));
    assert_int_equal(store_figures(store).lost_batches, 4);
    expect_news(fixture, store, STORE_NEWS_WENT_BACK);
    assert_int_equal(store_figures(store).lost_batches, 4);
    /* as many others: it is only known that the newest is gone */
    run_sql(fixture, "UPDATE berth_log SET mark = REVERSE(mark) WHERE number = 5");
    expect_news(fixture, store, STORE_NEWS_WENT_BACK);
    assert_int_equal(store_figures(store).lost_batches, 5);
    store_close(store);
}

static void count_change(void *cls, const struct change *change)
{
    (void)change;
    ++*(unsigned *)cls;
}

/* The lock orders only those on the same node. */
static void test_read_is_overtaken(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = open_seeded(fixture, NULL);
    struct store *second = open_second(fixture);
    const struct memory_view memory = {0}; /* is not looked at */
    struct store_stamp stamp;
    unsigned count = 0;
    commit_until(fixture, first, server_store_of(first)->followed.number + 1);
    assert_int_equal(lock_and_read(second, &fixture->err), STORE_NEWS_FOLLOW);
    assert_true(store_suspect(second, ENTITY_PROVIDER, 1, (struct slice){0}));
    commit_until(fixture, first, server_store_of(first)->followed.number + 1);
    assert_int_equal(store_follow(second, &memory, count_change, &count, &fixture->err),
                     STORE_TAKEN);
    assert_int_equal(count, 0);
    (void)end_news(second, &stamp);
    fixture->err = (struct err){.arena = fixture->arena};
    expect_news(fixture, second, STORE_NEWS_FOLLOW);
    commit_until(fixture, second, server_store_of(second)->followed.number + 1);
    store_close(second);
    store_close(first);
}

/* ---- asks for turns ---- */

enum { LONG_US = 60000000, REFUSED = 2, ASKED_US = 200000 };

static int64_t count_asks(struct fixture *fixture, const struct store *store)
{
    const struct slice sql = arena_printf(
        fixture->arena, "SELECT COUNT(*) FROM berth_locks WHERE name LIKE 't.%016llx__'",
        (unsigned long long)server_store_of_const(store)->instance);
    return peer_execute(fixture, sql.data);
}

/* Its batches are refused, by others. */
static void ask(struct store *store)
{
    for (int i = 0; i < REFUSED; i++)
        server_asks_refused(server_store_of(store));
    server_ask(server_store_of(store));
}

static void commit_one(struct fixture *fixture, struct store *store)
{
    commit_until(fixture, store, server_store_of(store)->followed.number + 1);
}

/* Another instance sees it, and leaves it the next turn, once. */
static void test_asks(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = open_seeded(fixture, NULL);
    struct store *second = open_second(fixture);
    server_asks_refused(server_store_of(second));
    server_ask(server_store_of(second));
    assert_int_equal(count_asks(fixture, second), 0);
    ask(second);
    AWAIT(count_asks(fixture, second) == 1);
    commit_one(fixture, first);
    assert_false(store_turn(first).is_shared);
    store_upkeep(first);
    assert_true(store_turn(first).is_shared);
    assert_in_range(store_turn(first).wait_us, 1, ASKED_US);
    server_store_of(first)->turns = (struct turns){.own_number = 1, .own_us = clock_monotonic_us()};
    store_upkeep(first);
    assert_false(store_turn(first).is_shared);
    /* it needs another one */
    ask(second);
    assert_int_equal(server_store_of(second)->asks.own.serial, 2);
    AWAIT((store_upkeep(first), store_turn(first).is_shared));
    assert_int_equal(count_asks(fixture, second), 1);
    /* it writes */
    take_news(fixture, second);
    commit_one(fixture, second);
    take_news(fixture, first);
    assert_int_equal(store_turn(first).wait_us, 0);
    assert_int_equal(server_store_of(second)->asks.refused, 0);
    store_close(second);
    store_close(first);
}

/* Nobody else has written, so nobody has to ask. */
static void test_does_not_look_without_need(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = open_seeded(fixture, NULL);
    struct store *second = open_second(fixture);
    ask(second);
    AWAIT(count_asks(fixture, second) == 1);
    server_store_of(first)->turns.own_us -= LONG_US;
    store_upkeep(first);
    assert_int_equal(server_store_of(first)->asks.count, 0);
    store_close(second);
    store_close(first);
}

/* By the instance itself; and by others, once it has ended. Names of other kinds are let be. */
static void test_asks_are_deleted(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = open_seeded(fixture, NULL);
    struct store *second = open_second(fixture);
    (void)peer_execute(fixture, "INSERT INTO berth_locks (name) VALUES ('t.zz'), ('t.')");
    ask(second);
    store_upkeep(second);
    AWAIT(count_asks(fixture, second) == 1);
    server_store_of(second)->asks.asked_us -= LONG_US;
    store_upkeep(second);
    AWAIT(count_asks(fixture, second) == 0);
    ask(second);
    AWAIT(count_asks(fixture, second) == 1);
    for (int i = 0; i < 2; i++) {
        commit_one(fixture, first);
        store_upkeep(first);
        assert_int_equal(server_store_of(first)->asks.count, 1);
        assert_int_equal(count_asks(fixture, second), i == 0);
        server_store_of(first)->asks.seen[0].since_us -= LONG_US;
        store_upkeep(first);
    }
    assert_int_equal(peer_execute(fixture, "SELECT COUNT(*) FROM berth_locks"), 3);
    store_close(second);
    store_close(first);
}

/* Whether the rows name both nodes, which the instances write after about a second. */
static bool names_nodes(struct fixture *fixture, const char *first, const char *second)
{
    struct store_report report;
    struct err err = {.arena = fixture->arena};
    const char *expected =
        arena_printf(fixture->arena, "different nodes (%s, %s)%c", first, second, '\0').data;
    const char *reverse =
        arena_printf(fixture->arena, "different nodes (%s, %s)%c", second, first, '\0').data;
    bool has_server = false;
    assert_true(report_make(slice_of(fixture->url), fixture->arena, &has_server, &report, &err));
    assert_true(has_server);
    for (size_t i = 0; i < report.warning_count; i++)
        if (strstr(report.warnings[i].data, expected) != NULL ||
            strstr(report.warnings[i].data, reverse) != NULL)
            return true;
    return false;
}

static void test_nodes_are_told(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = open_seeded(fixture, NULL);
    struct store *second = open_second(fixture);
    const char *of_first = server_store_of(first)->writer->node;
    const char *of_second = server_store_of(second)->writer->node;
    assert_string_not_equal(of_first, "");
    assert_string_not_equal(of_first, of_second);
    AWAIT(names_nodes(fixture, of_first, of_second));
    store_close(second);
    store_close(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_conflicts_are_counted, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_lost_commits_are_counted, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_read_is_overtaken, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_asks, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_does_not_look_without_need, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_asks_are_deleted, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_nodes_are_told, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
