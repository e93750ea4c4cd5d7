/* What store.h promises of every implementation: run on SQLite and on the memory store, on which
 * the simulations and the planners' tests rely. */
#include "fixture.h"

enum { FREE_ID = 100 };

/* Two stores on one database that have both seen the newest state. */
static void open_two(struct fixture *fixture, struct store *stores[2])
{
    stores[0] = open_seeded(fixture, NULL);
    stores[1] = fixture_open(fixture);
    expect_begin(fixture, stores[1], STORE_BEGIN_RELOAD);
}

static struct change_list new_provider(struct fixture *fixture, int64_t id, const char *uuid,
                                       const char *name)
{
    struct change_list list = changes_of(fixture);
    add_provider(&list, id, 0, id, uuid, name);
    return list;
}

/* The whole database, in the order of a load. */
static void assert_same_load(struct fixture *fixture, struct store *a, struct store *b)
{
    struct buf of_a = {0};
    struct buf of_b = {0};
    dump_store(fixture, a, &of_a);
    dump_store(fixture, b, &of_b);
    assert_true(of_a.len > 0);
    assert_true(slice_equal(buf_slice(&of_a), buf_slice(&of_b)));
    buf_free(&of_a);
    buf_free(&of_b);
}

static void test_first_begin_is_a_reload(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    expect_begin(fixture, store, STORE_BEGIN_RELOAD);
    expect_begin(fixture, store, STORE_BEGIN_UNCHANGED);
    store_close(store);
}

static void test_stamps(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    struct store_stamp first, second, read;
    open_two(fixture, stores);
    struct change_list list = new_provider(fixture, FREE_ID, UUID_D, "d");
    first = commit_changes(fixture, stores[0], &list);
    assert_true(store_is_current(stores[0], &first));
    assert_int_equal(begin_to_read(fixture, stores[0], NULL), STORE_BEGIN_UNCHANGED);
    assert_true(store_rollback(stores[0], &read));
    assert_memory_equal(&read, &first, sizeof(read));
    list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    second = commit_changes(fixture, stores[1], &list);
    assert_false(store_is_current(stores[0], &first));
    assert_true(store_is_current(stores[1], &second));
    store_close(stores[0]);
    store_close(stores[1]);
}

static void test_follow(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    struct buf out = {0};
    struct store_stamp stamp;
    open_two(fixture, stores);
    struct change_list list = new_provider(fixture, FREE_ID, UUID_D, "d");
    commit_changes(fixture, stores[0], &list);
    assert_int_equal(begin_to_read(fixture, stores[1], &out), STORE_BEGIN_FOLLOW);
    assert_true(store_rollback(stores[1], &stamp));
    buf_append_char(&out, '\0');
    assert_non_null(strstr(out.data, UUID_D));
    assert_null(strstr(out.data, UUID_C));
    expect_begin(fixture, stores[1], STORE_BEGIN_UNCHANGED);
    expect_begin(fixture, stores[0], STORE_BEGIN_UNCHANGED);
    assert_same_load(fixture, stores[0], stores[1]);
    buf_free(&out);
    store_close(stores[0]);
    store_close(stores[1]);
}

static void test_rollback_leaves_no_trace(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    struct store_stamp before, after;
    open_two(fixture, stores);
    assert_int_equal(begin_into(fixture, stores[0], NULL), STORE_BEGIN_UNCHANGED);
    assert_true(store_rollback(stores[0], &before));
    struct change_list list = new_provider(fixture, FREE_ID, UUID_D, "d");
    assert_int_equal(begin_into(fixture, stores[0], NULL), STORE_BEGIN_UNCHANGED);
    assert_int_equal(store_apply(stores[0], &list, &fixture->err), STORE_OK);
    store_rollback(stores[0], &after);
    assert_true(store_is_current(stores[0], &before));
    expect_begin(fixture, stores[1], STORE_BEGIN_UNCHANGED);
    commit_changes(fixture, stores[1], &list); /* the names are still free */
    store_close(stores[0]);
    store_close(stores[1]);
}

/* In an open transaction: a provider under the next id. */
static int64_t commit_next(struct fixture *fixture, struct store *store, const char *uuid)
{
    struct store_stamp stamp;
    bool foreign;
    int64_t id = store_next_id(store, STORE_PROVIDERS);
    struct change_list list = new_provider(fixture, id, uuid, uuid);
    assert_int_equal(store_apply(store, &list, &fixture->err), STORE_OK);
    assert_int_equal(store_commit(store, &stamp, &foreign, &fixture->err), STORE_OK);
    return id;
}

/* Each call returns an id that no row has, whichever store wrote the rows. */
static void test_ids(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2] = {fixture_open(fixture), fixture_open(fixture)};
    assert_int_equal(begin_into(fixture, stores[0], NULL), STORE_BEGIN_RELOAD);
    assert_int_equal(store_next_id(stores[0], STORE_CLASSES), 10000);
    assert_int_equal(store_next_id(stores[0], STORE_CLASSES), 10001);
    assert_int_equal(store_next_id(stores[0], STORE_NODES), 1);
    int64_t first = commit_next(fixture, stores[0], UUID_A);
    assert_int_equal(begin_into(fixture, stores[1], NULL), STORE_BEGIN_RELOAD);
    int64_t second = commit_next(fixture, stores[1], UUID_B);
    assert_true(second > first);
    assert_int_equal(begin_into(fixture, stores[0], NULL), STORE_BEGIN_FOLLOW);
    assert_true(commit_next(fixture, stores[0], UUID_C) > second);
    store_close(stores[0]);
    store_close(stores[1]);
}

/* Begins with the state in memory, and applies; the last change is refused. */
static const struct store_refusal *refused(struct fixture *fixture, struct store *store,
                                           const struct change_list *list)
{
    struct store_stamp stamp;
    assert_int_equal(begin_into(fixture, store, NULL), STORE_BEGIN_UNCHANGED);
    assert_int_equal(store_apply(store, list, &fixture->err), STORE_REFUSED);
    assert_true(err_is_set(&fixture->err));
    assert_false(store_rollback(store, &stamp));
    assert_int_equal(store_why_refused(store)->change, list->count - 1);
    return store_why_refused(store);
}

static void test_a_duplicate_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    add_provider(&list, FREE_ID, 0, FREE_ID, UUID_D, "a");
    const struct store_refusal *why = refused(fixture, store, &list);
    assert_true(why->is_duplicate);
    assert_false(why->memory_is_wrong);
    expect_begin(fixture, store, STORE_BEGIN_UNCHANGED);
    list = changes_of(fixture);
    add_generation(&list, 1, 0, 1); /* the last row of the refused list was not written */
    commit_changes(fixture, store, &list);
    store_close(store);
}

static void test_a_missing_row_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = changes_of(fixture);
    add_inventory(&list, CHANGE_INVENTORY_DELETE, 1, 1, 1);
    assert_true(refused(fixture, store, &list)->memory_is_wrong);
    expect_begin(fixture, store, STORE_BEGIN_RELOAD);
    expect_begin(fixture, store, STORE_BEGIN_UNCHANGED);
    store_close(store);
}

static const struct differences *no_differences(void *cls)
{
    (void)cls;
    static const struct differences none;
    return &none;
}

/* A merge compares with a memory that is wrong: it fails. */
static void test_an_old_generation_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct store_stamp stamp;
    struct buf out = {0};
    bool merged = true;
    const struct store_comparer comparer = {dump_change, no_differences, &out};
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 5, 6);
    const struct store_refusal *why = refused(fixture, store, &list);
    assert_true(why->memory_is_wrong);
    assert_false(why->is_duplicate);
    assert_int_equal(store_begin(store, STORE_TO_WRITE, &fixture->err), STORE_BEGIN_RELOAD);
    assert_int_equal(store_merge(store, &comparer, dump_change, &out, &merged, &fixture->err),
                     STORE_OK);
    assert_false(merged);
    assert_int_equal(store_load(store, dump_change, &out, &fixture->err), STORE_OK);
    assert_true(store_rollback(store, &stamp));
    expect_begin(fixture, store, STORE_BEGIN_UNCHANGED);
    buf_free(&out);
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_first_begin_is_a_reload),
        TEST(test_stamps),
        TEST(test_follow),
        TEST(test_rollback_leaves_no_trace),
        TEST(test_ids),
        TEST(test_a_duplicate_is_refused),
        TEST(test_a_missing_row_is_refused),
        TEST(test_an_old_generation_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
