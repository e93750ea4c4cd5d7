/* What store.h promises of every implementation: run on SQLite and on the memory store, on which
 * the simulations and the planners' tests rely. */
#include "fixture.h"

enum { FREE_ID = 100 };

/* Two stores on one database that have both read it. */
static void open_two(struct fixture *fixture, struct store *stores[2])
{
    struct store *seeded = open_seeded(fixture, NULL);
    for (int i = 0; i < 2; i++) {
        stores[i] = fixture_open(fixture);
        expect_news(fixture, stores[i], STORE_NEWS_RELOAD);
    }
    store_close(seeded);
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

static void test_first_news_are_a_reload(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    expect_news(fixture, store, STORE_NEWS_NONE);
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
    assert_true(is_newest(stores[0], &first));
    assert_int_equal(read_into(fixture, stores[0], NULL), STORE_NEWS_NONE);
    assert_true(end_news(stores[0], &read));
    assert_memory_equal(&read, &first, sizeof(read));
    list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    second = commit_changes(fixture, stores[1], &list);
    assert_false(is_newest(stores[0], &first));
    assert_true(is_newest(stores[1], &second));
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
    assert_int_equal(read_into(fixture, stores[1], &out), STORE_NEWS_FOLLOW);
    assert_true(end_news(stores[1], &stamp));
    buf_append_char(&out, '\0');
    assert_non_null(strstr(out.data, UUID_D));
    assert_null(strstr(out.data, UUID_C));
    expect_news(fixture, stores[1], STORE_NEWS_NONE);
    expect_news(fixture, stores[0], STORE_NEWS_NONE);
    assert_same_load(fixture, stores[0], stores[1]);
    buf_free(&out);
    store_close(stores[0]);
    store_close(stores[1]);
}

/* Takes the news, and ends the read: the store is locked, or not. */
static void take_news(struct fixture *fixture, struct store *store, bool locks,
                      enum store_news news)
{
    struct store_stamp stamp;
    assert_int_equal(locks ? lock_into(fixture, store, NULL) : read_into(fixture, store, NULL),
                     news);
    assert_true(store_end_read(store, &stamp));
}

/* Commits one request's changes, with that result. Neither store is locked afterwards. */
static struct store_stamp commit_expecting(struct fixture *fixture, struct store *stores[2],
                                           const struct change_list *list,
                                           enum store_result expected)
{
    struct store_stamp stamp = {0};
    bool foreign = true;
    fixture->err = (struct err){.arena = fixture->arena};
    assert_int_equal(commit_list(stores[0], list, &stamp, &foreign, &fixture->err), expected);
    assert_int_equal(err_is_set(&fixture->err), expected != STORE_OK);
    if (expected == STORE_OK)
        assert_false(foreign);
    else
        assert_int_equal(fixture->err.status, 503);
    expect_unlocked(fixture, stores[1]);
    expect_unlocked(fixture, stores[0]);
    return stamp;
}

/* Two requests that could be written, one without changes between them, and one whose second change
 * cannot. */
static struct store_batch refusable_batch(struct fixture *fixture, struct change_list *list)
{
    static const size_t ends[] = {2, 2, 3, 5};
    *list = new_provider(fixture, FREE_ID, UUID_D, "d");
    add_generation(list, 1, 0, 1);
    add_generation(list, 2, 0, 1);
    add_provider(list, FREE_ID + 1, 0, FREE_ID + 1, "eeeeeeee-0000-4000-8000-000000000005", "e");
    add_provider(list, FREE_ID + 2, 0, FREE_ID + 2, "ffffffff-0000-4000-8000-000000000006", "a");
    return (struct store_batch){.changes = list->items, .ends = ends, .requests = 4};
}

/* After a refusal that shows that memory is wrong. */
static enum store_news news_of_what_is_wrong(void)
{
    return fixture_is_server() ? STORE_NEWS_FOLLOW : STORE_NEWS_RELOAD;
}

/* A plan inserts only what memory does not have, so on a server another program has inserted it. */
static void expect_duplicate(struct fixture *fixture, struct store *store,
                             const struct store_refusal *why, bool is_second)
{
    assert_true(why->is_duplicate);
    assert_int_equal(why->memory_is_wrong, fixture_is_server());
    if (fixture_is_server())
        expect_news(fixture, store, is_second ? STORE_NEWS_RELOAD : STORE_NEWS_FOLLOW);
}

static void test_a_refused_batch_leaves_no_trace(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    struct store_stamp before, after;
    struct change_list list;
    bool foreign;
    open_two(fixture, stores);
    assert_int_equal(read_into(fixture, stores[0], NULL), STORE_NEWS_NONE);
    assert_true(store_end_read(stores[0], &before));
    for (int locks = 0; locks < 2; locks++) {
        const struct store_batch batch = refusable_batch(fixture, &list);
        take_news(fixture, stores[0], locks == 1, STORE_NEWS_NONE);
        assert_int_equal(decide_batch(stores[0], &batch, &after, &foreign, &fixture->err),
                         STORE_REFUSED);
        assert_true(err_is_set(&fixture->err));
        const struct store_refusal *why = store_why_refused(stores[0]);
        assert_int_equal(why->request, 3);
        assert_int_equal(why->change, 4);
        expect_duplicate(fixture, stores[0], why, locks == 1);
        expect_unlocked(fixture, stores[1]);
        expect_unlocked(fixture, stores[0]);
        assert_true(is_newest(stores[0], &before));
        expect_news(fixture, stores[0], STORE_NEWS_NONE);
        expect_news(fixture, stores[1], STORE_NEWS_NONE);
    }
    /* The names and generations of the other requests are as before. */
    list.count = 3;
    commit_changes(fixture, stores[1], &list);
    store_close(stores[0]);
    store_close(stores[1]);
}

static void test_a_batch_has_several_requests(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    struct store_stamp stamp;
    struct change_list list;
    struct buf out = {0};
    bool foreign = true;
    open_two(fixture, stores);
    struct store_batch batch = refusable_batch(fixture, &list);
    batch.requests = 3;
    take_news(fixture, stores[0], false, STORE_NEWS_NONE);
    assert_int_equal(decide_batch(stores[0], &batch, &stamp, &foreign, &fixture->err), STORE_OK);
    assert_false(foreign);
    assert_int_equal(read_into(fixture, stores[1], &out), STORE_NEWS_FOLLOW);
    assert_true(store_end_read(stores[1], &stamp));
    buf_append_char(&out, '\0');
    assert_non_null(strstr(out.data, UUID_D));
    assert_non_null(strstr(out.data, "generation(1 1 1)"));
    assert_non_null(strstr(out.data, "generation(2 1 1)"));
    assert_null(strstr(out.data, "eeeeeeee"));
    buf_free(&out);
    store_close(stores[0]);
    store_close(stores[1]);
}

/* A commit needs no lock, only a memory that is current. */
static void test_commit_without_a_lock(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    open_two(fixture, stores);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    take_news(fixture, stores[0], false, STORE_NEWS_NONE);
    struct store_stamp stamp = commit_expecting(fixture, stores, &list, STORE_OK);
    assert_true(is_newest(stores[0], &stamp));
    /* Memory has the new state: it may commit again at once. */
    list = changes_of(fixture);
    add_generation(&list, 1, 1, 2);
    stamp = commit_expecting(fixture, stores, &list, STORE_OK);
    assert_true(is_newest(stores[0], &stamp));
    expect_news(fixture, stores[0], STORE_NEWS_NONE);
    expect_news(fixture, stores[1], STORE_NEWS_FOLLOW);
    assert_same_load(fixture, stores[0], stores[1]);
    store_close(stores[0]);
    store_close(stores[1]);
}

/* The lock is taken after the plan was made. */
static void test_lock_only_to_commit(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    open_two(fixture, stores);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    assert_int_equal(lock_store(stores[0], &fixture->err), STORE_LOCKED);
    commit_expecting(fixture, stores, &list, STORE_OK);
    list = changes_of(fixture);
    add_generation(&list, 1, 1, 2);
    assert_int_equal(lock_store(stores[1], &fixture->err), STORE_LOCKED);
    commit_expecting(fixture, (struct store *[2]){stores[1], stores[0]}, &list, STORE_TAKEN);
    expect_news(fixture, stores[0], STORE_NEWS_NONE);
    store_close(stores[0]);
    store_close(stores[1]);
}

/* Another store has committed since memory was read: nothing is written before it is read again. */
static void test_others_were_faster(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    open_two(fixture, stores);
    take_news(fixture, stores[0], false, STORE_NEWS_NONE);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    struct store_stamp others = commit_changes(fixture, stores[1], &list);
    /* It would fit both states. */
    list = new_provider(fixture, FREE_ID, UUID_D, "d");
    for (int i = 0; i < 2; i++)
        commit_expecting(fixture, stores, &list, STORE_TAKEN);
    assert_true(is_newest(stores[1], &others));
    expect_news(fixture, stores[1], STORE_NEWS_NONE);
    take_news(fixture, stores[0], false, STORE_NEWS_FOLLOW);
    commit_expecting(fixture, stores, &list, STORE_OK);
    expect_news(fixture, stores[1], STORE_NEWS_FOLLOW);
    assert_same_load(fixture, stores[0], stores[1]);
    store_close(stores[0]);
    store_close(stores[1]);
}

/* News that are announced and not read are no part of memory, with or without the lock. */
static void test_news_must_be_read(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    struct store_stamp stamp;
    open_two(fixture, stores);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    commit_changes(fixture, stores[1], &list);
    list = new_provider(fixture, FREE_ID, UUID_D, "d");
    for (int locks = 0; locks < 2; locks++) {
        fixture->err = (struct err){.arena = fixture->arena};
        assert_int_equal(locks ? lock_and_read(stores[0], &fixture->err)
                               : store_begin_read(stores[0], &fixture->err),
                         STORE_NEWS_FOLLOW);
        assert_false(store_end_read(stores[0], &stamp));
        commit_expecting(fixture, stores, &list, STORE_TAKEN);
    }
    expect_news(fixture, stores[0], STORE_NEWS_FOLLOW);
    expect_news(fixture, stores[1], STORE_NEWS_NONE);
    commit_expecting(fixture, stores, &list, STORE_OK);
    store_close(stores[0]);
    store_close(stores[1]);
}

static void test_memory_that_was_never_read(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2] = {fixture_open(fixture), fixture_open(fixture)};
    struct change_list list = new_provider(fixture, FREE_ID, UUID_D, "d");
    const struct change_list nothing = changes_of(fixture);
    commit_expecting(fixture, stores, &list, STORE_TAKEN);
    commit_expecting(fixture, stores, &nothing, STORE_TAKEN);
    take_news(fixture, stores[0], true, STORE_NEWS_RELOAD);
    commit_expecting(fixture, stores, &list, STORE_OK);
    store_close(stores[0]);
    store_close(stores[1]);
}

/* It only tells whether memory is current. */
static void test_an_empty_batch(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    struct store_stamp stamp, others;
    bool foreign = true;
    const size_t ends[] = {0, 0};
    const struct store_batch batches[] = {{.requests = 0}, {.ends = ends, .requests = 2}};
    open_two(fixture, stores);
    for (int i = 0; i < 4; i++) {
        take_news(fixture, stores[0], i < 2, i == 0 ? STORE_NEWS_NONE : STORE_NEWS_FOLLOW);
        assert_int_equal(decide_batch(stores[0], &batches[i % 2], &stamp, &foreign, &fixture->err),
                         STORE_OK);
        assert_false(foreign);
        assert_true(is_newest(stores[0], &stamp));
        expect_unlocked(fixture, stores[1]);
        expect_unlocked(fixture, stores[0]);
        expect_news(fixture, stores[1], STORE_NEWS_NONE); /* nothing was written */
        struct change_list list = changes_of(fixture);
        add_generation(&list, 1, i, i + 1);
        others = commit_changes(fixture, stores[1], &list);
        assert_int_equal(decide_batch(stores[0], &batches[i % 2], &stamp, &foreign, &fixture->err),
                         STORE_TAKEN);
        assert_true(err_is_set(&fixture->err));
        expect_unlocked(fixture, stores[1]);
        expect_unlocked(fixture, stores[0]);
        assert_true(is_newest(stores[1], &others));
    }
    store_close(stores[0]);
    store_close(stores[1]);
}

/* A batch that must be committed shows more: that a database on a server takes writes. Whoever then
 * reads has nothing to change. */
static void test_an_empty_batch_is_committed(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    struct store_stamp stamp;
    bool foreign = true;
    const size_t ends[] = {0};
    const struct store_batch batches[] = {{.must_commit = true},
                                          {.ends = ends, .requests = 1, .must_commit = true}};
    open_two(fixture, stores);
    for (int i = 0; i < 2; i++) {
        uint64_t before = store_figures(stores[0]).log_head;
        take_news(fixture, stores[0], false, STORE_NEWS_NONE);
        assert_int_equal(decide_batch(stores[0], &batches[i], &stamp, &foreign, &fixture->err),
                         STORE_OK);
        assert_false(foreign);
        assert_true(is_newest(stores[0], &stamp));
        if (fixture_is_server())
            assert_int_equal(store_figures(stores[0]).log_head, before + 1);
        expect_unlocked(fixture, stores[1]);
        expect_news(fixture, stores[0], STORE_NEWS_NONE);
        expect_news(fixture, stores[1], fixture_is_server() ? STORE_NEWS_FOLLOW : STORE_NEWS_NONE);
    }
    store_close(stores[0]);
    store_close(stores[1]);
}

/* After the read has ended: a provider under the next id. */
static int64_t commit_next(struct fixture *fixture, struct store *store, const char *uuid)
{
    struct store_stamp stamp;
    bool foreign;
    int64_t id = store_next_id(store, STORE_PROVIDERS);
    struct change_list list = new_provider(fixture, id, uuid, uuid);
    assert_int_equal(commit_list(store, &list, &stamp, &foreign, &fixture->err), STORE_OK);
    return id;
}

/* Each call returns an id that no row has, whichever store wrote the rows. */
static void test_ids(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2] = {fixture_open(fixture), fixture_open(fixture)};
    take_news(fixture, stores[0], true, STORE_NEWS_RELOAD);
    assert_int_equal(store_next_id(stores[0], STORE_CLASSES), 10000);
    assert_int_equal(store_next_id(stores[0], STORE_CLASSES), 10001);
    assert_true(store_next_id(stores[0], STORE_NODES) > 0);
    int64_t first = commit_next(fixture, stores[0], UUID_A);
    take_news(fixture, stores[1], true, STORE_NEWS_RELOAD);
    int64_t second = commit_next(fixture, stores[1], UUID_B);
    assert_int_not_equal(second, first);
    take_news(fixture, stores[0], true, STORE_NEWS_FOLLOW);
    int64_t third = commit_next(fixture, stores[0], UUID_C);
    assert_true(third != first && third != second);
    store_close(stores[0]);
    store_close(stores[1]);
}

static int64_t next_provider(struct store *store)
{
    return store_next_id(store, STORE_PROVIDERS);
}

/* Ids of a plan that was given up are free again; those of a commit never are. */
static void test_ids_that_are_not_used(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    open_two(fixture, stores);
    take_news(fixture, stores[0], false, STORE_NEWS_NONE);
    int64_t first = next_provider(stores[0]);
    assert_true(next_provider(stores[0]) > first);
    store_reuse_ids(stores[0]);
    assert_int_equal(next_provider(stores[0]), first);
    /* A read may come before the next plan, but need not begin one. */
    take_news(fixture, stores[0], false, STORE_NEWS_NONE);
    store_reuse_ids(stores[0]);
    assert_int_equal(next_provider(stores[0]), first);
    store_reuse_ids(stores[0]);
    assert_int_equal(commit_next(fixture, stores[0], UUID_D), first);
    for (int i = 0; i < 2; i++) {
        assert_true(next_provider(stores[0]) > first);
        store_reuse_ids(stores[0]);
    }
    /* Those of a batch that is refused or taken are free again, too. */
    take_news(fixture, stores[0], false, STORE_NEWS_NONE);
    int64_t second = next_provider(stores[0]);
    struct change_list list = new_provider(fixture, second, UUID_D, "d");
    commit_expecting(fixture, stores, &list, STORE_REFUSED);
    store_reuse_ids(stores[0]);
    assert_int_equal(next_provider(stores[0]), second);
    store_close(stores[0]);
    store_close(stores[1]);
}

/* Neither the lock nor the commit, which looks at the database again, forgets the ids of the plan
 * for which they are taken. */
static void test_ids_of_a_plan_are_kept(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    static const char *const uuids[] = {UUID_D, "eeeeeeee-0000-4000-8000-000000000005"};
    open_two(fixture, stores);
    take_news(fixture, stores[0], false, STORE_NEWS_NONE);
    int64_t last = 0;
    for (int locks = 0; locks < 2; locks++) {
        int64_t id = next_provider(stores[0]);
        int64_t other = next_provider(stores[0]);
        assert_true(id > last && other > id);
        if (locks == 1)
            assert_int_equal(lock_store(stores[0], &fixture->err), STORE_LOCKED);
        last = next_provider(stores[0]);
        assert_true(last > other);
        struct change_list list = new_provider(fixture, id, uuids[locks], uuids[locks]);
        commit_expecting(fixture, stores, &list, STORE_OK);
        assert_true(next_provider(stores[0]) > last);
        store_reuse_ids(stores[0]);
        int64_t next = next_provider(stores[0]);
        assert_true(next > last);
        last = next;
    }
    store_close(stores[0]);
    store_close(stores[1]);
}

/* While a batch is pending, the next one is planned, and reads begin and end: that changes nothing.
 */
static void test_meanwhile(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    struct store_stamp stamp, ignored;
    bool foreign = true;
    open_two(fixture, stores);
    take_news(fixture, stores[0], false, STORE_NEWS_NONE);
    int64_t id = next_provider(stores[0]);
    struct change_list list = new_provider(fixture, id, UUID_D, "d");
    const struct store_batch batch = {.changes = list.items, .ends = &list.count, .requests = 1};
    enum store_result result = store_commit(stores[0], &batch, &stamp, &foreign, &fixture->err);
    store_reuse_ids(stores[0]);
    int64_t next = next_provider(stores[0]);
    assert_true(next > id);
    for (int reads = 0; result == STORE_PENDING; reads++) {
        if (reads < 2) {
            assert_int_not_equal(store_begin_read(stores[0], &fixture->err), STORE_NEWS_FAILED);
            store_end_read(stores[0], &ignored);
        }
        result = store_await(stores[0], 0, &stamp, &foreign, &fixture->err);
    }
    assert_int_equal(result, STORE_OK);
    assert_false(foreign);
    assert_true(is_newest(stores[0], &stamp));
    assert_true(next_provider(stores[0]) > next);
    list = new_provider(fixture, next, "eeeeeeee-0000-4000-8000-000000000005", "e");
    commit_expecting(fixture, stores, &list, STORE_OK);
    store_reuse_ids(stores[0]);
    assert_true(next_provider(stores[0]) > next);
    expect_news(fixture, stores[1], STORE_NEWS_FOLLOW);
    assert_same_load(fixture, stores[0], stores[1]);
    store_close(stores[0]);
    store_close(stores[1]);
}

/* Two stores plan on the same state: only one of them commits. */
static void test_ids_that_others_used(void **state)
{
    struct fixture *fixture = *state;
    struct store *stores[2];
    open_two(fixture, stores);
    take_news(fixture, stores[0], false, STORE_NEWS_NONE);
    take_news(fixture, stores[1], false, STORE_NEWS_NONE);
    int64_t id = next_provider(stores[0]);
    struct change_list list = new_provider(fixture, id, UUID_D, "d");
    /* It is the same one, unless the database gives ids out itself. */
    commit_next(fixture, stores[1], "eeeeeeee-0000-4000-8000-000000000005");
    commit_expecting(fixture, stores, &list, STORE_TAKEN);
    take_news(fixture, stores[0], false, STORE_NEWS_FOLLOW);
    commit_next(fixture, stores[0], UUID_D);
    store_close(stores[0]);
    store_close(stores[1]);
}

/* The last change is refused. */
static const struct store_refusal *refused(struct fixture *fixture, struct store *store,
                                           const struct change_list *list)
{
    const struct store_refusal *why = refuse_changes(fixture, store, list);
    assert_int_equal(why->change, list->count - 1);
    return why;
}

static void test_a_duplicate_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, 0, 1);
    add_provider(&list, FREE_ID, 0, FREE_ID, UUID_D, "a");
    const struct store_refusal *why = refused(fixture, store, &list);
    expect_duplicate(fixture, store, why, false);
    expect_news(fixture, store, STORE_NEWS_NONE);
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
    expect_news(fixture, store, news_of_what_is_wrong());
    expect_news(fixture, store, STORE_NEWS_NONE);
    store_close(store);
}

static const struct differences *no_differences(void *cls)
{
    (void)cls;
    static const struct differences none;
    return &none;
}

/* A merge compares with a memory that is wrong: it may ask for a load. */
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
    if (fixture_is_server()) {
        expect_news(fixture, store, STORE_NEWS_FOLLOW);
        assert_true(refused(fixture, store, &list)->memory_is_wrong); /* again: all is compared */
    }
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_RELOAD);
    assert_int_equal(store_merge(store, &comparer, dump_change, &out, &merged, &fixture->err),
                     STORE_OK);
    if (!merged)
        assert_int_equal(store_load(store, dump_change, &out, &fixture->err), STORE_OK);
    assert_true(end_news(store, &stamp));
    expect_news(fixture, store, STORE_NEWS_NONE);
    buf_free(&out);
    store_close(store);
}

/* A service manager gives a start more time while these grow. A small file is read in less than one
 * step. */
static void test_load_steps(void **state)
{
    struct fixture *fixture = *state;
    if (!fixture_is_server())
        skip();
    struct buf out = {0};
    struct store *store = open_seeded(fixture, NULL);
    uint64_t before = fixture->steps;
    dump_store(fixture, store, &out);
    assert_true(fixture->steps > before);
    buf_free(&out);
    store_close(store);
}

/* Only servers compare: no other program can come between the read and the commit of a file. */
static void test_deletes_compare_generations(void **state)
{
    struct fixture *fixture = *state;
    if (!fixture_is_server())
        skip();
    struct store *store = open_seeded(fixture, NULL);
    struct change_list list = changes_of(fixture);
    add_allocations_of(&list, 1, UUID_C);
    add_consumer(&list, CHANGE_CONSUMER_DELETE, 1, UUID_C, 3);
    assert_true(refused(fixture, store, &list)->memory_is_wrong);
    expect_news(fixture, store, STORE_NEWS_FOLLOW);
    list.items[1].consumer.expected_generation = 1;
    commit_changes(fixture, store, &list);
    list = changes_of(fixture);
    add_inventory(&list, CHANGE_INVENTORY_DELETE, 2, 0, 1);
    add(&list, CHANGE_PROVIDER_DELETE)->provider =
        (struct change_provider){.id = 2, .generation = 7, .uuid = SLICE_LIT(UUID_B)};
    assert_true(refused(fixture, store, &list)->memory_is_wrong);
    expect_news(fixture, store, STORE_NEWS_FOLLOW);
    list.items[1].provider.generation = 0;
    commit_changes(fixture, store, &list);
    store_close(store);
}

/* Whether the project changes as well or not. */
static void test_consumers_compare_generations(void **state)
{
    struct fixture *fixture = *state;
    if (!fixture_is_server())
        skip();
    struct store *store = open_seeded(fixture, NULL);
    for (int64_t generation = 1; generation < 3; generation++) {
        struct change_list list = changes_of(fixture);
        add_consumer(&list, CHANGE_CONSUMER_UPDATE, 1, UUID_C, generation + 6);
        struct change *update = &list.items[0];
        update->is_generation_only = generation == 1;
        update->consumer.expected_generation = generation + 5;
        assert_true(refused(fixture, store, &list)->memory_is_wrong);
        expect_news(fixture, store, STORE_NEWS_FOLLOW);
        update->consumer.expected_generation = generation;
        update->consumer.generation = generation + 1;
        commit_changes(fixture, store, &list);
    }
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_first_news_are_a_reload),
        TEST(test_stamps),
        TEST(test_follow),
        TEST(test_a_refused_batch_leaves_no_trace),
        TEST(test_a_batch_has_several_requests),
        TEST(test_commit_without_a_lock),
        TEST(test_lock_only_to_commit),
        TEST(test_others_were_faster),
        TEST(test_news_must_be_read),
        TEST(test_memory_that_was_never_read),
        TEST(test_an_empty_batch),
        TEST(test_an_empty_batch_is_committed),
        TEST(test_ids),
        TEST(test_ids_that_are_not_used),
        TEST(test_ids_of_a_plan_are_kept),
        TEST(test_meanwhile),
        TEST(test_ids_that_others_used),
        TEST(test_a_duplicate_is_refused),
        TEST(test_a_missing_row_is_refused),
        TEST(test_an_old_generation_is_refused),
        TEST(test_load_steps),
        TEST(test_deletes_compare_generations),
        TEST(test_consumers_compare_generations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
