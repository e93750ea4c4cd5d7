/* As test_failing_calls.c, where a connection does everything for the first time and has nothing
 * prepared; and where a second call fails while the outcome of a COMMIT is being looked for. */
#include <sqlite3.h>

#include "failing_calls.h"
#include "fixture.h"

#include "model/node.h"
#include "model/node_allocation.h"

enum { CALLS_MOST = 5000, ROWS = 20, IDS = 1000 }; /* batch n has ids from n * IDS on */

struct attempt {
    struct fixture *fixture;
    struct store *store;
    int64_t batches; /* tried so far */
    int64_t generation;
    struct buf seen; /* what the last news were */
    bool locks;      /* before a batch reads the news */
};

static void no_sink(void *cls, const struct change *change)
{
    (void)cls;
    (void)change;
}

static struct err new_err(const struct attempt *a)
{
    return (struct err){.arena = a->fixture->arena};
}

static const char *text_of(const struct attempt *a, const char *format, int64_t number)
{
    struct buf text = {0};
    buf_printf(&text, format, (long)number);
    buf_append_char(&text, '\0');
    const char *kept = arena_copy(a->fixture->arena, buf_slice(&text)).data;
    buf_free(&text);
    return kept;
}

/* A new connection, which knows everything or nothing. */
static void reopen(struct attempt *a, bool is_loaded)
{
    if (a->store != NULL)
        store_close(a->store);
    arena_reset(a->fixture->arena);
    a->store = fixture_open(a->fixture);
    if (is_loaded)
        expect_news(a->fixture, a->store, STORE_NEWS_RELOAD);
}

static void start(struct attempt *a, struct fixture *fixture)
{
    *a = (struct attempt){.fixture = fixture};
    store_close(open_seeded(fixture, NULL));
    fixture->busy_timeout_ms = 20; /* so long the outcome of a COMMIT is looked for */
    reopen(a, true);
}

static void end(struct attempt *a)
{
    struct buf out = {0};
    store_close(a->store);
    foreign_rows(a->fixture->path, "PRAGMA integrity_check", &out);
    assert_true(slice_equal(buf_slice(&out), SLICE_LIT("ok\n")));
    buf_free(&out);
    buf_free(&a->seen);
}

/* False: no read is open, and the store is not locked. */
static bool take_in(struct attempt *a, bool locks)
{
    struct err err = new_err(a);
    struct store_stamp stamp;
    enum store_result result = STORE_OK;
    a->seen.len = 0;
    enum store_news begun =
        locks ? lock_and_read(a->store, &err) : store_begin_read(a->store, &err);
    if (begun == STORE_NEWS_RELOAD)
        result = store_load(a->store, no_sink, NULL, &err);
    if (begun == STORE_NEWS_FOLLOW)
        result = store_follow(a->store, NULL, dump_change, &a->seen, &err);
    bool is_good = begun != STORE_NEWS_FAILED && result == STORE_OK;
    assert_int_equal(is_good, !err_is_set(&err));
    if (result != STORE_OK)
        assert_false(end_news(a->store, &stamp));
    return is_good;
}

/* Enough rows for statements that insert many. */
static struct change_list next_batch(struct attempt *a)
{
    struct change_list list = changes_of(a->fixture);
    int64_t first = ++a->batches * IDS;
    for (int64_t id = first; id < first + ROWS; id++)
        add_consumer(&list, CHANGE_CONSUMER_INSERT, id, text_of(a, "consumer-%ld", id), 1);
    for (int64_t id = first; id < first + ROWS; id++)
        add_allocation(&list, id, id, text_of(a, "consumer-%ld", id), 2, 0, 1);
    add_generation(&list, 2, a->generation, a->generation + 1);
    return list;
}

static enum store_result run_batch(struct attempt *a)
{
    struct err err = new_err(a);
    struct store_stamp stamp;
    bool is_foreign;
    struct change_list list = next_batch(a);
    if (!take_in(a, a->locks))
        return STORE_FAILED;
    store_end_read(a->store, &stamp);
    enum store_result result = commit_list(a->store, &list, &stamp, &is_foreign, &err);
    assert_int_equal(result == STORE_OK, !err_is_set(&err));
    return result;
}

/* The last batch is in the file if it was acknowledged, and not if it was refused. */
static void expect_outcome(struct attempt *a, enum store_result result)
{
    int64_t first = a->batches * IDS;
    struct buf sql = {0};
    buf_printf(&sql,
               "SELECT (SELECT count(*) FROM consumers WHERE id BETWEEN %ld AND %ld)"
               " + (SELECT count(*) FROM allocations WHERE id BETWEEN %ld AND %ld)"
               " + (SELECT generation = %ld FROM resource_providers WHERE id = 2)%c",
               (long)first, (long)first + IDS - 1, (long)first, (long)first + IDS - 1,
               (long)a->generation + 1, '\0');
    long long parts = foreign(a->fixture->path, sql.data);
    buf_free(&sql);
    assert_true(parts == 0 || parts == 2 * ROWS + 1);
    if (result != STORE_UNKNOWN)
        assert_int_equal(parts != 0, result == STORE_OK);
    a->generation += parts != 0;
}

static void expect_next_batch(struct attempt *a)
{
    enum store_result result = run_batch(a);
    assert_int_equal(result, STORE_OK);
    expect_outcome(a, result);
}

static void try_first_batches(struct attempt *a, enum failing_way way, bool is_loaded)
{
    bool fired = true;
    /* test_failing_calls.c tries all calls of a load. */
    for (unsigned nth = 1; fired && (is_loaded || nth <= 30); nth += FAILING_STEP) {
        reopen(a, is_loaded);
        failing_arm(nth, way, SQLITE_IOERR);
        enum store_result result = run_batch(a);
        fired = failing_disarm();
        assert_true(fired || result == STORE_OK);
        expect_outcome(a, result);
        expect_next_batch(a);
        assert_true(nth < CALLS_MOST && (fired || nth > 20));
    }
}

static void first_batch(void **state)
{
    struct attempt a;
    start(&a, *state);
    for (int way = 0; way <= FAILING_FROM_THEN_ON; way++) {
        for (int locks = 0; locks < 2; locks++) {
            a.locks = locks == 1;
            try_first_batches(&a, (enum failing_way)way, true);
            try_first_batches(&a, (enum failing_way)way, false);
        }
    }
    end(&a);
}

/* The COMMIT fails, or is only said to, and then another call. */
static void outcome_of_a_commit(void **state)
{
    static const enum failing_way ways[] = {FAILING_AT_COMMIT, FAILING_AFTER_COMMIT};
    struct attempt a;
    start(&a, *state);
    for (unsigned w = 0; w < 2; w++) {
        bool both = true;
        for (unsigned later = 1; both; later += FAILING_STEP) {
            failing_arm(1, ways[w], SQLITE_IOERR);
            failing_arm_second(later);
            enum store_result result = run_batch(&a);
            both = !failing_is_armed();
            assert_true(failing_disarm());
            expect_outcome(&a, result);
            expect_next_batch(&a);
            arena_reset(a.fixture->arena);
            assert_true(later < CALLS_MOST && (both || later > 5));
        }
    }
    end(&a);
}

/* Something of everything that a log can name. */
static void change_by_other(struct attempt *a, struct store *other, int64_t n)
{
    struct change_list list = changes_of(a->fixture);
    int64_t id = n * IDS;
    const char *consumer = text_of(a, "news-%ld", n);
    add_catalog(&list, CHANGE_CLASS_INSERT, id + 10000, text_of(a, "CUSTOM_CLASS_%ld", n));
    add_catalog(&list, CHANGE_TRAIT_INSERT, id + 10000, text_of(a, "CUSTOM_TRAIT_%ld", n));
    add_catalog(&list, CHANGE_AGGREGATE_INSERT, id, text_of(a, "aggregate-%ld", n));
    add(&list, CHANGE_PROVIDER_UPDATE)->provider = (struct change_provider){
        .id = 1, .root_id = 1, .uuid = SLICE_LIT(UUID_A), .name = slice_of(text_of(a, "n%ld", n))};
    add_provider(&list, id, 1, 1, text_of(a, "uuid-%ld", n), text_of(a, "name-%ld", n));
    add_inventory(&list, CHANGE_INVENTORY_INSERT, id, id + 10000, 5);
    add_link(&list, CHANGE_PROVIDER_TRAIT_INSERT, id, id + 10000);
    add_link(&list, CHANGE_PROVIDER_AGGREGATE_INSERT, id, id);
    add_consumer(&list, CHANGE_CONSUMER_INSERT, id, consumer, 1);
    add_allocation(&list, id, id, consumer, id, id + 10000, 2);
    struct node_draft node = node_draft_new(id);
    node_set_text(&node, NODE_UUID, slice_of(text_of(a, "node-%ld", n)));
    change_put_node(&list, node_pack(&node, list.arena));
    struct node_allocation_draft allocation = node_allocation_draft_new(id);
    node_allocation_set_text(&allocation, NODE_ALLOCATION_UUID, slice_of(text_of(a, "of-%ld", n)));
    change_put_node_allocation(&list, node_allocation_pack(&allocation, list.arena));
    commit_changes(a->fixture, other, &list);
}

/* What is followed is whole: a record for each row, one more for the provider that is renamed and
 * for the consumer. */
static void expect_followed(const struct attempt *a, int64_t n)
{
    size_t lines = 0;
    for (size_t i = 0; i < a->seen.len; i++)
        lines += a->seen.data[i] == '\n';
    struct slice name = slice_of(text_of(a, " n%ld parent", n));
    assert_int_equal(lines, 14);
    assert_non_null(memmem(a->seen.data, a->seen.len, name.data, name.len));
}

static void first_news(void **state)
{
    struct attempt a;
    struct store_stamp stamp;
    start(&a, *state);
    struct store *other = fixture_open(a.fixture);
    int64_t n = 0;
    for (int way = 0; way <= FAILING_FROM_THEN_ON; way++) {
        bool fired = true;
        for (unsigned nth = 1; fired; nth += FAILING_STEP) {
            reopen(&a, true);
            change_by_other(&a, other, ++n);
            failing_arm(nth, (enum failing_way)way, SQLITE_IOERR);
            bool is_good = take_in(&a, false);
            fired = failing_disarm();
            assert_true(fired || is_good);
            if (is_good && a.seen.len > 0)
                expect_followed(&a, n);
            if (is_good)
                (void)end_news(a.store, &stamp);
            assert_true(take_in(&a, false)); /* what was not taken in is offered again */
            if (!is_good && a.seen.len > 0)
                expect_followed(&a, n);
            assert_true(end_news(a.store, &stamp));
            assert_true(nth < CALLS_MOST && (fired || nth > 20));
        }
    }
    store_close(other);
    end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(first_batch, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(outcome_of_a_commit, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(first_news, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
