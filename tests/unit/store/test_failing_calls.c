/* Each call of SQLite by the writer fails in turn: what was acknowledged is in the file, what was
 * refused is not, what other processes wrote is followed later, and the next batch succeeds. */
#include <sqlite3.h>

#include "failing_calls.h"
#include "fixture.h"

static const int codes[] = {SQLITE_IOERR, SQLITE_FULL, SQLITE_CORRUPT};
enum { CODES = sizeof(codes) / sizeof(codes[0]), CALLS_MOST = 5000 };

struct attempt {
    struct fixture *fixture;
    struct store *store;
    int64_t number;    /* of the newest batch that is in the file */
    struct buf seen;   /* what the last news were, as text */
    bool has_taken;    /* the news of the last batch were read */
    bool locks;        /* before a batch reads the news */
    bool knows_little; /* more differs than can be merged: everything is loaded */
};

/* The changes that another process has made by then. */
static struct difference differing[] = {
    {.entity = ENTITY_PROVIDER, .is_known = true, .has_moved = true, .has_contents = true, .id = 1},
    {.entity = ENTITY_CONSUMER, .is_known = true, .id = 1, .uuid = SLICE_LIT(UUID_C)},
    {.entity = ENTITY_CLASS, .is_known = true, .id = 10000},
};

static const struct differences *end_comparison(void *cls)
{
    static const struct differences all = {differing, sizeof(differing) / sizeof(differing[0])};
    const struct attempt *a = cls;
    return a->knows_little ? NULL : &all;
}

static void no_sink(void *cls, const struct change *change)
{
    (void)cls;
    (void)change;
}

static void note(void *cls, const struct change *change)
{
    if (change->kind == CHANGE_PROVIDER_INSERT || change->kind == CHANGE_PROVIDER_UPDATE ||
        change->kind == CHANGE_PROVIDER_GENERATION)
        dump_change(cls, change);
}

static struct err new_err(const struct attempt *a)
{
    return (struct err){.arena = a->fixture->arena};
}

/* As in the pipeline: begin, then load or follow as required. False: no read is open, and the store
 * is not locked. */
static bool take_in(struct attempt *a, bool locks, enum store_news *begun)
{
    struct err err = new_err(a);
    struct store_stamp stamp;
    const struct store_comparer comparer = {no_sink, end_comparison, a};
    enum store_result result = STORE_OK;
    bool merged = false;
    a->seen.len = 0;
    *begun = locks ? lock_and_read(a->store, &err) : store_begin_read(a->store, &err);
    if (*begun == STORE_NEWS_RELOAD)
        result = store_merge(a->store, &comparer, note, &a->seen, &merged, &err);
    if (*begun == STORE_NEWS_RELOAD && result == STORE_OK && !merged)
        result = store_load(a->store, note, &a->seen, &err);
    if (*begun == STORE_NEWS_FOLLOW)
        result = store_follow(a->store, NULL, note, &a->seen, &err);
    bool is_good = *begun != STORE_NEWS_FAILED && result == STORE_OK;
    assert_int_equal(is_good, !err_is_set(&err));
    if (result != STORE_OK)
        assert_false(end_news(a->store, &stamp));
    if (!is_good)
        assert_int_equal(err.status, 503);
    return is_good;
}

/* A consumer, its allocation, and the generation of the provider that it uses. */
static struct change_list batch_of(struct attempt *a, int64_t number)
{
    struct change_list list = changes_of(a->fixture);
    int64_t id = number + 1;
    const char *uuid =
        arena_printf(a->fixture->arena, "dddddddd-0000-4000-8000-%012ld%c", id, '\0').data;
    add_consumer(&list, CHANGE_CONSUMER_INSERT, id, uuid, 1);
    add_allocation(&list, id, id, uuid, 2, 0, id);
    add_generation(&list, 2, number - 1, number);
    return list;
}

/* The batch after the newest. */
static enum store_result run_batch(struct attempt *a, struct store_stamp *stamp)
{
    struct err err = new_err(a);
    enum store_news begun;
    bool foreign;
    a->has_taken = take_in(a, a->locks, &begun);
    if (!a->has_taken)
        return STORE_FAILED;
    store_end_read(a->store, stamp);
    struct change_list list = batch_of(a, a->number + 1);
    enum store_result result = commit_list(a->store, &list, stamp, &foreign, &err);
    assert_int_not_equal(result, STORE_REFUSED);
    if (result != STORE_OK)
        assert_int_equal(err.status, 503);
    return result;
}

/* Whether the next batch is in the file: completely, or not at all. If it is, counts it. */
static bool is_there(struct attempt *a)
{
    int64_t id = a->number + 2;
    struct slice sql =
        arena_printf(a->fixture->arena,
                     "SELECT (SELECT count(*) FROM consumers WHERE id = %ld)"
                     " + (SELECT count(*) FROM allocations WHERE id = %ld)"
                     " + (SELECT generation = %ld FROM resource_providers WHERE id = 2)%c",
                     id, id, a->number + 1, '\0');
    long long parts = foreign(a->fixture->path, sql.data);
    assert_true(parts == 0 || parts == 3);
    a->number += parts == 3;
    return parts == 3;
}

static void expect_sound(const struct attempt *a)
{
    struct buf out = {0};
    foreign_rows(a->fixture->path, "PRAGMA integrity_check", &out);
    assert_true(slice_equal((struct slice){out.data, out.len}, SLICE_LIT("ok\n")));
    buf_free(&out);
}

/* When nothing fails any more: another batch is committed, and no store sees it as foreign. */
static void expect_next_batch(struct attempt *a)
{
    struct store_stamp stamp;
    assert_int_equal(run_batch(a, &stamp), STORE_OK);
    assert_true(is_there(a));
    assert_true(store_is_current(a->store, &stamp));
    expect_news(a->fixture, a->store, STORE_NEWS_NONE);
}

static void start(struct attempt *a, struct fixture *fixture)
{
    *a = (struct attempt){.fixture = fixture};
    a->store = open_seeded(fixture, NULL);
    store_close(a->store);
    fixture->busy_timeout_ms = 5; /* the time for which the outcome of a COMMIT is looked for */
    a->store = fixture_open(fixture);
}

static void end(struct attempt *a)
{
    expect_sound(a);
    store_close(a->store);
    buf_free(&a->seen);
}

/* Whether a call has failed. */
static bool try_batch(struct attempt *a, unsigned nth, enum failing_way way, int code)
{
    struct store_stamp stamp;
    failing_arm(nth, way, code);
    enum store_result result = run_batch(a, &stamp);
    bool fired = failing_disarm();
    bool there = is_there(a);
    if (result != STORE_UNKNOWN)
        assert_int_equal(there, result == STORE_OK);
    assert_true(fired || result == STORE_OK);
    return fired;
}

static void commit_batches(void **state, bool locks)
{
    struct attempt a;
    start(&a, *state);
    a.locks = locks;
    for (int way = 0; way < FAILING_WAYS; way++) {
        /* After a commit, only a sync that fails is reported, not a full disk. */
        for (int i = 0; i < (way == FAILING_ONCE ? CODES : 1); i++) {
            unsigned nth = 1;
            while (try_batch(&a, nth, (enum failing_way)way, codes[i])) {
                expect_next_batch(&a);
                nth += FAILING_STEP;
                assert_true(nth < CALLS_MOST);
            }
            assert_true(nth > (way == FAILING_AFTER_COMMIT ? 1 : 8));
        }
    }
    end(&a);
}

static void test_commit_under_a_lock(void **state)
{
    commit_batches(state, true);
}

static void test_commit_without_a_lock(void **state)
{
    commit_batches(state, false);
}

/* The name that another process has written. */
static bool has_seen(const struct attempt *a, int64_t number)
{
    struct slice text = arena_printf(a->fixture->arena, " n%ld parent", number);
    return memmem(a->seen.data, a->seen.len, text.data, text.len) != NULL;
}

/* Begins to read while a call fails. Changes that were not applied are offered again. */
static bool try_to_read(struct attempt *a, unsigned nth, enum failing_way way, int64_t number)
{
    enum store_news begun;
    struct store_stamp stamp;
    failing_arm(nth, way, SQLITE_IOERR);
    bool is_good = take_in(a, false, &begun);
    bool is_current = is_good && end_news(a->store, &stamp);
    bool fired = failing_disarm();
    if (is_good)
        assert_true(begun != STORE_NEWS_NONE && has_seen(a, number));
    else
        assert_true(fired);
    assert_true(fired || is_current);
    assert_true(take_in(a, false, &begun));
    assert_true(end_news(a->store, &stamp));
    if (!fired)
        assert_int_equal(begun, STORE_NEWS_NONE);
    if (!is_good)
        assert_true(has_seen(a, number));
    return fired;
}

static void rename_by_other(const struct attempt *a, struct store *other, int64_t number)
{
    struct change_list list = changes_of(a->fixture);
    const char *name = arena_printf(a->fixture->arena, "n%ld%c", number, '\0').data;
    add(&list, CHANGE_PROVIDER_UPDATE)->provider = (struct change_provider){
        .id = 1, .root_id = 1, .uuid = SLICE_LIT(UUID_A), .name = slice_of(name)};
    commit_changes(a->fixture, other, &list);
}

static void test_news_of_another_berthd(void **state)
{
    struct attempt a;
    start(&a, *state);
    struct store *other = fixture_open(a.fixture);
    expect_next_batch(&a);
    int64_t number = 0;
    for (int way = 0; way <= FAILING_FROM_THEN_ON; way++) {
        for (unsigned nth = 1, fired = 1; fired; nth += FAILING_STEP) {
            rename_by_other(&a, other, ++number);
            fired = try_to_read(&a, nth, (enum failing_way)way, number);
            assert_true(nth < CALLS_MOST && (fired || nth > 5));
        }
    }
    store_close(other);
    end(&a);
}

/* A batch that fails keeps the news that it has read; the others are offered again. */
static void batches_after_news(void **state, bool locks)
{
    struct attempt a;
    start(&a, *state);
    a.locks = locks;
    struct store *other = fixture_open(a.fixture);
    expect_next_batch(&a);
    bool fired = true;
    for (unsigned nth = 1; fired; nth += FAILING_STEP) {
        rename_by_other(&a, other, nth);
        int64_t before = a.number;
        fired = try_batch(&a, nth, FAILING_ONCE, SQLITE_FULL);
        bool has_read = a.has_taken && has_seen(&a, nth);
        assert_int_equal(has_read, a.has_taken);
        if (a.number == before) {
            expect_next_batch(&a);
            assert_true(has_read || has_seen(&a, nth));
        }
    }
    store_close(other);
    end(&a);
}

static void test_batch_after_news_under_a_lock(void **state)
{
    batches_after_news(state, true);
}

static void test_batch_after_news_without_a_lock(void **state)
{
    batches_after_news(state, false);
}

static void read_foreign_writes(void **state, bool knows_little)
{
    struct attempt a;
    start(&a, *state);
    a.knows_little = knows_little;
    expect_next_batch(&a);
    int64_t number = 0;
    for (int way = 0; way <= FAILING_FROM_THEN_ON; way++) {
        for (unsigned nth = 1, fired = 1; fired; nth += FAILING_STEP) {
            struct slice sql = arena_printf(a.fixture->arena,
                                            "PRAGMA synchronous = OFF; UPDATE resource_providers "
                                            "SET name = 'n%ld' WHERE id = 1%c",
                                            ++number, '\0');
            foreign(a.fixture->path, sql.data);
            fired = try_to_read(&a, nth, (enum failing_way)way, number);
            assert_true(nth < CALLS_MOST && (fired || nth > 20));
        }
    }
    end(&a);
}

static void test_merge_of_foreign_writes(void **state)
{
    read_foreign_writes(state, false);
}

static void test_load_of_foreign_writes(void **state)
{
    read_foreign_writes(state, true);
}

/* Reads until memory would have everything; false: it does not within so many attempts. */
static bool read_to_the_end(struct attempt *a)
{
    enum { ATTEMPTS = 3 };
    enum store_news begun;
    struct store_stamp stamp;
    bool is_good = false;
    for (int i = 0; !is_good && i < ATTEMPTS; i++)
        is_good = take_in(a, false, &begun);
    return is_good && end_news(a->store, &stamp);
}

/* A consumer without a row has one by the time that memory has what was read, and one only. It is
 * created by the first calls of a read. */
static void test_missing_consumer(void **state)
{
    enum { CALLS = 60 };
    static const char ROWS[] = "SELECT (SELECT count(*) FROM consumers WHERE uuid = '" UUID_C "')"
                               " + 10 * (SELECT count(*) FROM projects WHERE external_id = 'new')";
    struct attempt a;
    struct fixture *fixture = *state;
    fixture->completes_consumers = true;
    fixture->owner = (struct repair_owner){SLICE_LIT("new"), SLICE_LIT("new")};
    start(&a, *state);
    a.knows_little = true;
    for (int way = 0; way < FAILING_WAYS; way++) {
        for (unsigned nth = 1; nth <= CALLS; nth += FAILING_STEP) {
            enum store_news begun;
            foreign(fixture->path, "PRAGMA synchronous = OFF;"
                                   " DELETE FROM consumers WHERE uuid = '" UUID_C "'");
            assert_false(take_in(&a, false, &begun)); /* it is found */
            failing_arm(nth, (enum failing_way)way, SQLITE_IOERR);
            bool is_good = read_to_the_end(&a);
            failing_disarm();
            if (is_good)
                assert_int_equal(foreign(fixture->path, ROWS), 11);
            assert_true(is_good || read_to_the_end(&a));
            assert_int_equal(foreign(fixture->path, ROWS), 11);
        }
    }
    end(&a);
}

/* Between batches; the writes continue, and nothing is lost. */
static void test_upkeep(void **state)
{
    struct attempt a;
    start(&a, *state);
    for (int way = 0; way <= FAILING_FROM_THEN_ON; way++) {
        for (unsigned nth = 1, fired = 1; fired; nth += FAILING_STEP) {
            expect_next_batch(&a);
            failing_arm(nth, (enum failing_way)way, SQLITE_IOERR);
            store_upkeep(a.store);
            fired = failing_disarm();
            expect_next_batch(&a);
        }
    }
    end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_commit_under_a_lock, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_commit_without_a_lock, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_news_of_another_berthd, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_batch_after_news_under_a_lock, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_batch_after_news_without_a_lock, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_merge_of_foreign_writes, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_load_of_foreign_writes, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_missing_consumer, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_upkeep, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
