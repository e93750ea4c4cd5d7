/* Which request of a batch a refusal of the server is attributed to. */
#include "peer.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "model/node.h"

enum { REQUESTS = 4, CULPRIT = 2, FREE_ID = 100 };

static const char *uuid_of(struct fixture *fixture, int64_t id)
{
    return arena_printf(fixture->arena, "aaaaaaaa-0000-4000-8000-%012lld", (long long)id).data;
}

/* A batch in which each request inserts a provider, one of them with that name. */
static enum store_result commit_names(struct fixture *fixture, struct store *store,
                                      const char *name)
{
    static const size_t ends[REQUESTS] = {1, 2, 3, 4};
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool foreign;
    for (int64_t i = 0; i < REQUESTS; i++) {
        const char *other = arena_printf(fixture->arena, "other%lld", (long long)i).data;
        add_provider(&list, FREE_ID + i, 0, FREE_ID + i, uuid_of(fixture, FREE_ID + i),
                     i == CULPRIT ? name : other);
    }
    const struct store_batch batch = {.changes = list.items, .ends = ends, .requests = REQUESTS};
    fixture->err = (struct err){.arena = fixture->arena};
    expect_news(fixture, store, STORE_NEWS_NONE);
    return decide_batch(store, &batch, &stamp, &foreign, &fixture->err);
}

/* Whatever the name contains that is there already. */
static void test_names(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    const struct slice long_name = arena_printf(fixture->arena, "%0200d", 7);
    const char *wide = "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80";
    const struct slice wide_name =
        arena_printf(fixture->arena, "%s%s%s%s%s%s%s%s%s%s%s%s", wide, wide, wide, wide, wide, wide,
                     wide, wide, wide, wide, wide, wide);
    const char *const names[] = {"plain", "a (b)", ")", "a, b",         "x)=(y",
                                 "\"q'",  " ",     "%", long_name.data, wide_name.data};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct change_list list = changes_of(fixture);
        if (names[i] == wide_name.data && !fixture_has_wide_texts())
            continue;
        add_provider(&list, 10 + (int64_t)i, 0, 10 + (int64_t)i, uuid_of(fixture, 10 + (int64_t)i),
                     names[i]);
        commit_changes(fixture, store, &list);
        assert_int_equal(commit_names(fixture, store, names[i]), STORE_REFUSED);
        const struct store_refusal *why = store_why_refused(store);
        assert_int_equal(why->request, CULPRIT);
        assert_int_equal(why->change, CULPRIT);
        assert_true(why->is_duplicate);
        assert_false(why->cannot_hold);
    }
    store_close(store);
}

/* A text that its column cannot hold. PostgreSQL does not tell which row has it. */
static void cannot_hold(struct fixture *fixture, struct store *store, const char *name)
{
    const size_t culprit = fixture_is_mariadb() ? CULPRIT : STORE_UNNAMED;
    assert_int_equal(commit_names(fixture, store, name), STORE_REFUSED);
    const struct store_refusal *why = store_why_refused(store);
    assert_true(why->request == culprit);
    assert_true(why->change == culprit);
    assert_true(why->cannot_hold);
    assert_false(why->is_duplicate || why->memory_is_wrong);
}

static void test_unfit_texts(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    cannot_hold(fixture, store, arena_printf(fixture->arena, "%0201d", 7).data);
    if (!fixture_has_wide_texts())
        cannot_hold(fixture, store, "\xf0\x9f\x98\x80");
    assert_int_equal(commit_names(fixture, store, "fits"), STORE_OK);
    store_close(store);
}

static void put_node(struct change_list *list, int64_t id, const char *uuid, const char *name,
                     bool is_new)
{
    struct node_draft draft = node_draft_new(id);
    node_set_text(&draft, NODE_UUID, slice_of(uuid));
    node_set_text(&draft, NODE_NAME, slice_of(name));
    change_put_node(list, node_pack(&draft, list->arena));
    list->items[list->count - 1].is_new = is_new;
}

static enum store_result commit_two(struct fixture *fixture, struct store *store,
                                    const struct change_list *list)
{
    static const size_t ends[] = {1, 2};
    const struct store_batch batch = {.changes = list->items, .ends = ends, .requests = 2};
    struct store_stamp stamp;
    bool foreign;
    fixture->err = (struct err){.arena = fixture->arena};
    return decide_batch(store, &batch, &stamp, &foreign, &fixture->err);
}

/* A row of berth's own tables is not overwritten if its id is given out twice, and not inserted if
 * it is to be replaced and is not there. */
static void test_records(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct buf before = {0}, after = {0};
    struct change_list list = changes_of(fixture);
    put_node(&list, 1, UUID_A, "a", true);
    put_node(&list, 2, UUID_B, "b", true);
    commit_changes(fixture, store, &list);
    list = changes_of(fixture);
    put_node(&list, 1, UUID_A, "renamed", false);
    put_node(&list, 2, UUID_B, "a", false); /* the name that the other one gives up */
    commit_changes(fixture, store, &list);
    dump_store(fixture, store, &before);
    list = changes_of(fixture);
    put_node(&list, 3, UUID_C, "c", true);
    put_node(&list, 1, UUID_D, "d", true);
    assert_int_equal(commit_two(fixture, store, &list), STORE_TAKEN); /* sequences are mended */
    assert_int_equal(commit_two(fixture, store, &list), STORE_REFUSED);
    assert_int_equal(store_why_refused(store)->request, 1);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    list = changes_of(fixture);
    put_node(&list, 1, UUID_A, "e", false);
    put_node(&list, 7, UUID_C, "c", false);
    assert_int_equal(commit_two(fixture, store, &list), STORE_REFUSED);
    assert_int_equal(store_why_refused(store)->request, 1);
    assert_true(store_why_refused(store)->memory_is_wrong);
    dump_store(fixture, store, &after);
    assert_true(slice_equal(buf_slice(&before), buf_slice(&after)));
    buf_free(&before);
    buf_free(&after);
    store_close(store);
}

static enum store_result commit_one(struct fixture *fixture, struct store *store, int64_t provider,
                                    int64_t generation)
{
    struct change_list list = changes_of(fixture);
    add_generation(&list, provider, generation, generation + 1);
    const struct store_batch batch = {.changes = list.items, .ends = &list.count, .requests = 1};
    struct store_stamp stamp;
    bool foreign;
    expect_news(fixture, store, STORE_NEWS_NONE);
    fixture->err = (struct err){.arena = fixture->arena};
    return decide_batch(store, &batch, &stamp, &foreign, &fixture->err);
}

/* Once a batch has waited for a locked row, the row is found without waiting, until it is free. */
static void test_known_lock(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct server_session *holder = peer_lock_row(fixture, 1);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 2, 0, 1);
    add_generation(&list, 1, 0, 1);
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_int_equal(commit_two(fixture, store, &list), STORE_REFUSED);
    uint64_t began_us = clock_monotonic_us();
    const struct store_refusal *why = store_why_refused(store);
    for (int attempt = 0; attempt < 2; attempt++) {
        expect_news(fixture, store, STORE_NEWS_NONE);
        assert_int_equal(commit_two(fixture, store, &list), STORE_REFUSED);
        assert_true(why->is_locked);
        assert_int_equal(why->request, 1);
        assert_int_equal(why->change, 1);
    }
    assert_int_equal(commit_one(fixture, store, 2, 0), STORE_OK);
    assert_int_equal(commit_one(fixture, store, 1, 0), STORE_REFUSED);
    assert_true(why->is_locked);
    assert_true(clock_monotonic_us() - began_us < 1200000);
    peer_run(fixture, holder, "ROLLBACK");
    assert_true(server_store_of(store)->locked.ids[0] == 1);
    assert_int_equal(commit_one(fixture, store, 1, 0), STORE_OK);
    assert_true(server_store_of(store)->locked.ids[0] == 0);
    /* what is not there is not locked */
    server_store_of(store)->locked.ids[0] = 77;
    assert_int_equal(commit_one(fixture, store, 77, 0), STORE_REFUSED);
    assert_false(why->is_locked);
    assert_true(why->memory_is_wrong);
    server_session_destroy(holder);
    store_close(store);
}

/* A row that another session has locked is waited for longer than the server waits before it looks
 * for a deadlock (a second). Memory is right, and nobody is disconnected. */
static void test_locked(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct server_session *holder = peer_lock_row(fixture, 1);
    struct change_list list = changes_of(fixture);
    uint64_t began_us = clock_monotonic_us();
    add_generation(&list, 2, 0, 1);
    add_generation(&list, 1, 0, 1);
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_int_equal(commit_two(fixture, store, &list), STORE_REFUSED);
    const struct store_refusal *why = store_why_refused(store);
    assert_true(clock_monotonic_us() - began_us > 1200000);
    assert_true(why->is_locked);
    assert_true(why->request == STORE_UNNAMED);
    assert_false(why->is_duplicate || why->memory_is_wrong || why->cannot_hold);
    assert_true(server_session_is_open(holder));
    peer_run(fixture, holder, "ROLLBACK");
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_int_equal(commit_two(fixture, store, &list), STORE_OK);
    server_session_destroy(holder);
    store_close(store);
}

/* ---- ids that were given out again ---- */

/* Another program has got the id of something that was lost, with the same generation. The change
 * is refused, and what the other one wrote stays as it is. */
static void expect_other(struct fixture *fixture, struct store *store, const struct change *change,
                         enum store_news news, const char *sql, const char *row)
{
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool foreign;
    change_append_copy(&list, change);
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(take_news_and_commit(fixture, store, &list, &stamp, &foreign), STORE_REFUSED);
    assert_int_equal(store_why_refused(store)->request, 0);
    assert_true(store_why_refused(store)->memory_is_wrong);
    peer_expect(fixture, sql, row);
    expect_news(fixture, store, news);
}

/* The first time, it is read again; then everything is. */
static enum store_news news_after(size_t refusals)
{
    return refusals == 0 ? STORE_NEWS_FOLLOW : STORE_NEWS_RELOAD;
}

static void test_consumer_of_another(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = changes_of(fixture);
    add_consumer(&list, CHANGE_CONSUMER_UPDATE, 1, UUID_C, 2);
    add_consumer(&list, CHANGE_CONSUMER_UPDATE, 1, UUID_C, 2);
    add_consumer(&list, CHANGE_CONSUMER_DELETE, 1, UUID_C, 2);
    list.items[1].is_generation_only = true;
    (void)peer_execute(fixture, "UPDATE consumers SET uuid = '" UUID_D "' WHERE id = 1");
    for (size_t i = 0; i < list.count; i++)
        expect_other(fixture, store, &list.items[i], news_after(i),
                     "SELECT uuid, generation FROM consumers", UUID_D "|1");
    store_close(store);
}

static void test_provider_of_another(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    const struct change_provider row = {
        .id = 2, .root_id = 2, .uuid = SLICE_LIT(UUID_B), .name = SLICE_LIT("b")};
    struct change_list list = changes_of(fixture);
    add(&list, CHANGE_PROVIDER_UPDATE)->provider = row;
    add(&list, CHANGE_PROVIDER_UPDATE)->provider = row;
    add(&list, CHANGE_PROVIDER_DELETE)->provider = row;
    list.items[1].is_root_only = true;
    (void)peer_execute(fixture, "DELETE FROM inventories WHERE resource_provider_id = 2");
    (void)peer_execute(fixture, "UPDATE resource_providers SET uuid = '" UUID_D "', name = 'd'"
                                " WHERE id = 2");
    for (size_t i = 0; i < list.count; i++)
        expect_other(fixture, store, &list.items[i], news_after(i),
                     "SELECT uuid, name FROM resource_providers WHERE id = 2", UUID_D "|d");
    store_close(store);
}

/* The Python service gives out the id of the newest class again whenever that has been deleted. */
static void test_names_of_another(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, 1000, "CUSTOM_A");
    commit_changes(fixture, store, &list);
    (void)peer_execute(fixture, "UPDATE traits SET name = 'CUSTOM_B' WHERE id = 1000");
    (void)peer_execute(fixture, "UPDATE resource_classes SET name = 'CUSTOM_B' WHERE id = 10000");
    list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_DELETE, 1000, "CUSTOM_A");
    add_catalog(&list, CHANGE_CLASS_DELETE, 10000, "CUSTOM_GOLD");
    add_rename(&list, 10000, "CUSTOM_GOLD", "CUSTOM_TIN");
    expect_other(fixture, store, &list.items[0], STORE_NEWS_FOLLOW,
                 "SELECT name FROM traits WHERE id = 1000", "CUSTOM_B");
    for (size_t i = 1; i < list.count; i++)
        expect_other(fixture, store, &list.items[i], news_after(i - 1),
                     "SELECT name FROM resource_classes WHERE id = 10000", "CUSTOM_B");
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_unfit_texts, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_records, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_locked, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_known_lock, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_consumer_of_another, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_provider_of_another, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_names_of_another, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
