/* Ids near the end of their sequences, and from a server that gives out none. */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = INT32_MAX };

static const enum store_table tables[] = {STORE_PROVIDERS, STORE_CONSUMERS, STORE_ALLOCATIONS};

static bool lacks(struct fixture *fixture, struct store *store)
{
    fixture->err = (struct err){.arena = fixture->arena};
    bool is_lacking = store_lacks_id(store, &fixture->err);
    assert_int_equal(fixture->err.status, is_lacking ? 503 : 0);
    return is_lacking;
}

/* A plan may be continued after a read that found no news. */
static void test_read_keeps_ids(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct store_stamp stamp;
    int64_t before = store_next_id(store, STORE_PROVIDERS);
    assert_int_not_equal(store_begin_read(store, &fixture->err), STORE_NEWS_FAILED);
    (void)store_end_read(store, &stamp);
    assert_int_not_equal(store_next_id(store, STORE_PROVIDERS), before);
    store_reuse_ids(store);
    assert_int_equal(store_next_id(store, STORE_PROVIDERS), before);
    store_close(store);
}

/* Somebody else has got ids of the block: one that was given out and is not on its way, the next
 * one, and a later one. None of them is given out again. */
static void test_got_by_others(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct server_store *server = server_store_of(store);
    int64_t ids[8];
    for (int i = 0; i < 2; i++)
        ids[i] = store_next_id(store, STORE_PROVIDERS);
    const struct id_block *block = &server->ids[STORE_PROVIDERS];
    assert_true(block->count >= 8);
    memcpy(ids, block->ids, sizeof(ids));
    server_note_id(server, ROWS_PROVIDERS, ids[1]);
    server_note_id(server, ROWS_PROVIDERS, ids[2]);
    server_note_id(server, ROWS_PROVIDERS, ids[5]);
    server_note_id(server, ROWS_PROVIDERS, ids[7] + 1000000);
    assert_int_equal(store_next_id(store, STORE_PROVIDERS), ids[3]);
    assert_int_equal(store_next_id(store, STORE_PROVIDERS), ids[4]);
    assert_int_equal(store_next_id(store, STORE_PROVIDERS), ids[6]);
    store_reuse_ids(store);
    assert_int_equal(store_next_id(store, STORE_PROVIDERS), ids[0]);
    assert_int_equal(store_next_id(store, STORE_PROVIDERS), ids[3]);
    store_close(store);
}

/* Two instances, one id each in turn, until there are none: each is given out once. PostgreSQL
 * gives out all; MariaDB leaves gaps between blocks of different sizes. */
static void use_up(struct fixture *fixture, struct store *const *stores, enum store_table table)
{
    const int64_t left = fixture_is_mariadb() ? 60000 : 5;
    bool *is_given = calloc((size_t)left, sizeof(*is_given));
    bool has_ended[2] = {false};
    int64_t given = 0;
    assert_non_null(is_given);
    peer_set_last_id(fixture, table, MOST - left);
    for (int turn = 0; !has_ended[0] || !has_ended[1]; turn = !turn) {
        int64_t id = store_next_id(stores[turn], table);
        has_ended[turn] = lacks(fixture, stores[turn]);
        if (has_ended[turn])
            continue;
        assert_in_range(id, MOST - left + 1, MOST);
        assert_false(is_given[MOST - id]);
        is_given[MOST - id] = true;
        given++;
    }
    const int64_t least = fixture_is_cluster() ? left / 4 : fixture_is_mariadb() ? left / 2 : left;
    assert_in_range(given, least, left);
    for (int turn = 0; turn < 2; turn++) {
        int64_t first = store_next_id(stores[turn], table);
        assert_true(first > MOST && first < STORE_ID_MOST);
        assert_true(store_next_id(stores[turn], table) != first);
        assert_true(lacks(fixture, stores[turn]));
        assert_false(lacks(fixture, stores[turn])); /* it is told once */
    }
    free(is_given);
}

static void test_until_the_end(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2] = {fixture_open(fixture), fixture_open_elsewhere(fixture)};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        use_up(fixture, stores, tables[i]);
    for (int turn = 0; turn < 2; turn++)
        store_close(stores[turn]);
}

/* An instance takes more at a time the more it needs, and wastes none at the end, on
 * PostgreSQL. */
static void test_blocks_at_the_end(void **state)
{
    enum { MANY = 3000 };
    struct fixture *fixture = *state;
    if (fixture_is_mariadb())
        skip();
    struct store *store = fixture_open(fixture);
    peer_set_last_id(fixture, STORE_ALLOCATIONS, MOST - MANY);
    for (int i = 1; i <= MANY; i++)
        assert_int_equal(store_next_id(store, STORE_ALLOCATIONS), MOST - MANY + i);
    assert_false(lacks(fixture, store));
    store_next_id(store, STORE_ALLOCATIONS);
    assert_true(lacks(fixture, store));
    store_close(store);
}

/* Two instances may have the same ids for classes: what one has used, the other skips as soon as it
 * knows. */
static void test_classes_of_others(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2] = {open_seeded(fixture, NULL), fixture_open(fixture)};
    expect_news(fixture, stores[1], STORE_NEWS_RELOAD);
    for (int i = 0; i < 3; i++) {
        int64_t id = store_next_id(stores[0], STORE_CLASSES);
        store_next_id(stores[1], STORE_CLASSES);
        struct change_list list = changes_of(fixture);
        const char *name = arena_printf(fixture->arena, "CUSTOM_%d", i).data;
        add_catalog(&list, CHANGE_CLASS_INSERT, id, name);
        (void)commit_changes(fixture, stores[0], &list);
        expect_news(fixture, stores[1], STORE_NEWS_FOLLOW);
        store_reuse_ids(stores[1]);
        assert_true(store_next_id(stores[1], STORE_CLASSES) > id);
    }
    for (int store = 0; store < 2; store++)
        store_close(stores[store]);
}

/* Another instance has deleted a class that memory still has: its id is not given out to another
 * one, which would have two classes of the same id in memory. */
static void test_class_is_gone(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2] = {open_seeded(fixture, NULL), fixture_open(fixture)};
    struct change_list list = changes_of(fixture);
    int64_t id = store_next_id(stores[0], STORE_CLASSES);
    expect_news(fixture, stores[1], STORE_NEWS_RELOAD);
    add_catalog(&list, CHANGE_CLASS_INSERT, id, "CUSTOM_GONE");
    (void)commit_changes(fixture, stores[0], &list);
    expect_news(fixture, stores[1], STORE_NEWS_FOLLOW);
    (void)peer_execute(fixture, "DELETE FROM resource_classes WHERE name = 'CUSTOM_GONE'");
    assert_true(store_next_id(stores[1], STORE_CLASSES) > id);
    for (int store = 0; store < 2; store++)
        store_close(stores[store]);
}

/* Inserts a provider with an id that the store takes for its own. */
static void insert_with(struct fixture *fixture, int64_t id)
{
    (void)peer_execute(fixture,
                       arena_printf(fixture->arena,
                                    "INSERT INTO resource_providers (id, uuid, name, generation)"
                                    " VALUES (%lld, 'theirs-%lld', 'theirs-%lld', 0)",
                                    (long long)id, (long long)id, (long long)id)
                           .data);
}

static enum store_result insert_provider(struct fixture *fixture, struct store *store, int64_t id)
{
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool by_another;
    fixture->err = (struct err){.arena = fixture->arena};
    add_provider(&list, id, 0, id, UUID_D, "ours");
    return take_news_and_commit(fixture, store, &list, &stamp, &by_another);
}

/* Somebody has used the ids of a block, and then those of the next one: each attempt has others. */
static void test_used_twice(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    int64_t first = store_next_id(store, STORE_PROVIDERS);
    insert_with(fixture, first);
    assert_int_equal(insert_provider(fixture, store, first), STORE_TAKEN);
    store_reuse_ids(store);
    int64_t second = store_next_id(store, STORE_PROVIDERS);
    assert_true(second > first);
    insert_with(fixture, second);
    assert_int_equal(insert_provider(fixture, store, second), STORE_REFUSED);
    store_reuse_ids(store);
    int64_t third = store_next_id(store, STORE_PROVIDERS);
    assert_true(third > second);
    assert_int_equal(insert_provider(fixture, store, third), STORE_OK);
    store_close(store);
}

/* Ids of 64 bits: on PostgreSQL, an old server has created such sequences. */
static void test_wide_ids(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2] = {fixture_open(fixture), fixture_open_elsewhere(fixture)};
    (void)peer_execute(fixture,
                       peer_sql("ALTER SEQUENCE consumers_id_seq AS bigint",
                                "ALTER TABLE consumers MODIFY id BIGINT NOT NULL AUTO_INCREMENT"));
    use_up(fixture, stores, STORE_CONSUMERS);
    for (int turn = 0; turn < 2; turn++)
        store_close(stores[turn]);
}

/* The other tables' ids are given out. A plan asks again for what was lacking. */
static void test_others_go_on(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    (void)peer_execute(
        fixture, "INSERT INTO resource_classes (id, name) VALUES (2147483647, 'CUSTOM_LAST')");
    peer_set_last_id(fixture, STORE_CONSUMERS, MOST);
    store_next_id(store, STORE_CONSUMERS);
    assert_true(lacks(fixture, store));
    store_next_id(store, STORE_CLASSES);
    assert_true(lacks(fixture, store));
    assert_in_range(store_next_id(store, STORE_PROVIDERS), 1, MOST);
    assert_in_range(store_next_id(store, STORE_NODES), 1, MOST);
    assert_false(lacks(fixture, store));
    peer_set_last_id(fixture, STORE_CONSUMERS, 4000);
    store_next_id(store, STORE_CONSUMERS);
    assert_true(lacks(fixture, store)); /* it is not asked twice in a plan */
    store_reuse_ids(store);
    assert_in_range(store_next_id(store, STORE_CONSUMERS), 4001,
                    fixture_is_cluster() ? 4096 : 4001);
    assert_false(lacks(fixture, store));
    store_close(store);
}

/* A batch with an id that nobody gave out is not written, also if nobody asked for it. */
static void test_not_committed(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store_stamp stamp;
    bool foreign;
    peer_set_last_id(fixture, STORE_PROVIDERS, MOST);
    struct change_list list = changes_of(fixture);
    int64_t id = store_next_id(store, STORE_PROVIDERS);
    add_provider(&list, id, 0, id, UUID_D, "d");
    fixture->err = (struct err){.arena = fixture->arena};
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_int_equal(commit_list(store, &list, &stamp, &foreign, &fixture->err), STORE_FAILED);
    store_close(store);
}

static void insert_projects(struct fixture *fixture, int64_t first, int64_t last)
{
    static const char insert[] = "INSERT INTO projects (id, external_id) SELECT";
    const struct slice sql =
        fixture_is_mariadb()
            ? arena_printf(fixture->arena, "%s seq, CONCAT('f', seq) FROM %s", insert,
                           peer_numbers(fixture, first, last - first + 1))
            : arena_printf(fixture->arena, "%s i, 'f' || i FROM generate_series(%lld, %lld) i",
                           insert, (long long)first, (long long)last);
    (void)peer_execute(fixture, sql.data);
}

static enum store_result insert_project(struct fixture *fixture, struct store *store, int64_t id)
{
    struct store_stamp stamp;
    bool foreign;
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_PROJECT_INSERT, id, "p");
    fixture->err = (struct err){.arena = fixture->arena};
    return commit_list(store, &list, &stamp, &foreign, &fixture->err);
}

/* Another program has inserted rows with ids of its own, ahead of the sequence: no later batch gets
 * those ids. Once, the batch is planned again; after that, a row whose id is taken is refused. */
static void test_ids_of_others(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    for (int attempt = 0; attempt < 3; attempt++) {
        int64_t id = store_next_id(store, STORE_PROJECTS);
        insert_projects(fixture, id, id + 5000);
        assert_int_equal(insert_project(fixture, store, id),
                         attempt == 0 ? STORE_TAKEN : STORE_REFUSED);
        store_reuse_ids(store);
    }
    const struct store_refusal *why = store_why_refused(store);
    assert_int_equal(why->request, 0);
    assert_true(why->is_duplicate);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_PROJECT_INSERT, store_next_id(store, STORE_PROJECTS), "p");
    commit_changes(fixture, store, &list);
    store_close(store);
}

/* The new connection may lead to a server that has lost what was reserved: others may get it there.
 */
static void test_new_connection(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store_stamp stamp;
    int64_t id = store_next_id(store, STORE_PROJECTS);
    assert_in_range(store_next_id(store, STORE_PROJECTS), id + 1,
                    fixture_is_cluster() ? id + 3 : id + 1);
    server_session_close(server_store_of(store)->follower);
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_NONE);
    (void)store_end_read(store, &stamp);
    assert_true(store_next_id(store, STORE_PROJECTS) > id + 16); /* of the block's 32 ids */
    store_close(store);
}

/* The connection ends before the answer to a COMMIT, and nobody may wait until it is known what
 * became of it: its ids may be those of rows. */
static void test_unknown_batch(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store *holder = fixture_open(fixture);
    struct store_stamp stamp;
    bool foreign;
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_int_equal(lock_store(holder, &fixture->err), STORE_LOCKED);
    struct change_list list = changes_of(fixture);
    int64_t id = store_next_id(store, STORE_PROJECTS);
    add_catalog(&list, CHANGE_PROJECT_INSERT, id, "p");
    const struct store_batch batch = {.changes = list.items, .ends = &list.count, .requests = 1};
    assert_int_equal(store_commit(store, &batch, &stamp, &foreign, &fixture->err), STORE_PENDING);
    server_session_close(server_store_of(store)->writer);
    enum store_result result;
    do {
        result = store_await(store, UINT64_MAX, &stamp, &foreign, &fixture->err);
        store_give_up(store);
    } while (result == STORE_PENDING);
    assert_int_equal(result, STORE_UNKNOWN);
    store_reuse_ids(store);
    assert_true(store_next_id(store, STORE_PROJECTS) > id);
    store_unlock(holder);
    store_close(holder);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read_keeps_ids, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_got_by_others, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_until_the_end, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_blocks_at_the_end, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_classes_of_others, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_class_is_gone, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_used_twice, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_wide_ids, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_others_go_on, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_not_committed, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_ids_of_others, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_new_connection, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_unknown_batch, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
