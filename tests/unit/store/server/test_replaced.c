/* News of a server that another one has replaced before they arrive: it may lack what they tell. */
#include "new_server.h"
#include "peer.h"

#include "base/arena.h"

/* The answer to a commit, which arrives while a session connects. */
static struct server_head *late_head;
static struct log_state late_state;

static void take_late_answer(void)
{
    static const struct server_id unnamed; /* valid, whatever other sessions have joined */
    (void)!server_head_note(late_head, &late_state, NULL, &unnamed, true);
}

static struct change_list new_trait(struct fixture *fixture, int64_t id, const char *name)
{
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, id, name);
    return list;
}

/* It is found out on the new server whether the batch is there. */
static void test_commit(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store_stamp stamp;
    bool foreign;
    for (int times = 0; times < 2; times++) {
        bool is_replaced = times == 1;
        struct change_list list =
            new_trait(fixture, 50001 + times, is_replaced ? "CUSTOM_B" : "CUSTOM_A");
        const struct store_batch batch = {
            .changes = list.items, .ends = &list.count, .requests = 1};
        expect_news(fixture, store, STORE_NEWS_NONE);
        assert_int_equal(store_commit(store, &batch, &stamp, &foreign, &fixture->err),
                         STORE_PENDING);
        if (is_replaced)
            replace_server(store);
        enum store_result result;
        do
            result = store_await(store, UINT64_MAX, &stamp, &foreign, &fixture->err);
        while (result == STORE_PENDING);
        assert_int_equal(result, STORE_OK);
        assert_int_equal(store_figures(store).unknown_done, times);
        assert_true(is_newest(store, &stamp));
    }
    store_close(store);
}

/* Memory must not have what was read there; the next read is one of the new server. */
static void test_read(void **state)
{
    struct fixture *fixture = *state;
    struct store *one = open_seeded(fixture, NULL);
    struct store *two = fixture_open(fixture);
    struct buf ignored = {0};
    struct store_stamp stamp;
    dump_store(fixture, two, &ignored);
    struct change_list list = new_trait(fixture, 50001, "CUSTOM_A");
    (void)commit_changes(fixture, two, &list);
    assert_int_equal(store_begin_read(one, &fixture->err), STORE_NEWS_FOLLOW);
    replace_server(one);
    assert_int_equal(store_load(one, dump_change, &ignored, &fixture->err), STORE_FAILED);
    assert_int_equal(fixture->err.status, 503);
    assert_false(store_end_read(one, &stamp));
    fixture->err = (struct err){.arena = fixture->arena};
    expect_news(fixture, one, STORE_NEWS_FOLLOW);
    expect_news(fixture, one, STORE_NEWS_NONE);
    buf_free(&ignored);
    store_close(one);
    store_close(two);
}

/* The session of a query connects to the new server, which lacks a commit that memory gets
 * meanwhile: the answer must not pass for an earlier state of memory. */
static void test_query(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    const struct store_stamp none = log_stamp_of_none();
    expect_news(fixture, store, STORE_NEWS_NONE);
    (void)ask_newest(store);
    late_state = server_store_of(store)->followed;
    late_state.number++;
    late_state.mark[0] ^= 1;
    late_head = server_store_of(store)->head;
    session_connects = take_late_answer;
    replace_server(store);
    const struct store_stamp answer = ask_newest(store);
    session_connects = NULL;
    assert_memory_equal(&answer, &none, sizeof(none));
    store_close(store);
}

/* What other programs wrote may be gone there, of which the log says nothing: everything is
 * compared once. */
static void test_promotion(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store_stamp stamp;
    expect_news(fixture, store, STORE_NEWS_NONE);
    server_store_of(store)
        ->examined_timeline--; /* as if memory had been read before the promotion */
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_RELOAD);
    server_store_of(store)->read_again_us = 0;
    assert_false(store_should_read(store));
    assert_false(store_end_read(store, &stamp)); /* it has failed */
    assert_true(store_should_read(store));
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    expect_news(fixture, store, STORE_NEWS_NONE);
    store_close(store);
}

/* Neither is a batch committed there that was planned on what may be gone. */
static void test_commit_after_promotion(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = new_trait(fixture, 50001, "CUSTOM_A");
    struct store_stamp stamp;
    bool foreign;
    server_store_of(store)->examined_timeline--;
    assert_int_equal(commit_list(store, &list, &stamp, &foreign, &fixture->err), STORE_TAKEN);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    assert_int_equal(commit_list(store, &list, &stamp, &foreign, &fixture->err), STORE_OK);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_commit, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_read, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_query, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_promotion, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_commit_after_promotion, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
