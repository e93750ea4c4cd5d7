/* Which versions a request may read, on a database in memory whose states another process changes.
 * The test is the writer, and decides when queries to the database are answered. */
#include "api/pin.h"
#include "unit.h"

#include "api/api.h"
#include "api/passage.h"
#include "base/arena.h"
#include "engine/pipeline.h"
#include "fake_clock.h"
#include "memory_store/memory_store.h"

enum { STALENESS_MS = 20 };

static struct {
    struct memory_database database;
    struct store *store;
    struct replica *replica;
    struct replica_reader *reader;
    struct arena *arena;
    struct api api;
    struct api_passage passage;
    struct api_request request;
    struct pipeline_request wait;
    unsigned done;
} bench;

/* Another process adds a trait. */
static void write_elsewhere(void)
{
    static struct tables tables;
    static const char *const NAMES[] = {"CUSTOM_A", "CUSTOM_B", "CUSTOM_C", "CUSTOM_D"};
    uint32_t count = bench.database.tables.rows[TABLE_TRAITS].count;
    const struct change change = {.kind = CHANGE_TRAIT_INSERT,
                                  .catalog = {count + 1, slice_of(NAMES[count])}};
    tables_copy(&tables, &bench.database.tables);
    assert_null(tables_execute(&tables, &change));
    memory_database_commit_foreign(&bench.database, &tables);
}

static void bench_open(bool must_be_asked)
{
    fake_clock_stop();
    memset(&bench, 0, sizeof(bench));
    memory_database_init(&bench.database);
    bench.database.must_be_asked = must_be_asked;
    bench.arena = arena_create();
    write_elsewhere(); /* the stamp of the first state is that of no known state */
    bench.store = memory_store_open(&bench.database);
    bench.replica = replica_create();
    struct err err = {.arena = bench.arena};
    bench.api.pipeline = pipeline_create(bench.store, bench.replica, NULL, &err);
    assert_non_null(bench.api.pipeline);
    bench.reader = replica_reader_open(bench.replica);
    bench.request.api = &bench.api;
    bench.request.passage = &bench.passage;
}

static void bench_close(void)
{
    replica_reader_close(bench.reader);
    pipeline_destroy(bench.api.pipeline);
    replica_destroy(bench.replica);
    store_close(bench.store);
    memory_database_free(&bench.database);
    arena_destroy(bench.arena);
}

/* Fails the test unless the request may read a version with that many traits; -1: it must wait. */
static void expect_traits(int count)
{
    const struct version *version = pin_current(&bench.request, bench.reader);
    assert_int_equal(version != NULL, count >= 0);
    if (version == NULL)
        return;
    assert_int_equal(version->traits.by_id.count, count);
    replica_unpin(bench.reader);
}

static void done(struct pipeline_request *request)
{
    assert_false(err_is_set(&request->err));
    bench.done++;
}

static void begin_to_wait(void)
{
    bench.wait = (struct pipeline_request){.done = done, .err = {.arena = bench.arena}};
    pipeline_await_current(bench.api.pipeline, &bench.wait);
}

static void test_known_state(void **state)
{
    (void)state;
    bench_open(false);
    expect_traits(1);
    write_elsewhere();
    expect_traits(-1);
    begin_to_wait();
    assert_true(pipeline_run_once(bench.api.pipeline));
    assert_int_equal(bench.done, 1);
    expect_traits(2);
    bench_close();
}

/* Others commit faster than the request can look. */
static void test_one_wait_is_enough(void **state)
{
    (void)state;
    for (int must_be_asked = 0; must_be_asked < 2; must_be_asked++) {
        bench_open(must_be_asked != 0);
        write_elsewhere();
        expect_traits(-1);
        begin_to_wait();
        if (must_be_asked != 0)
            assert_true(memory_store_answer(bench.store, 0));
        assert_true(pipeline_run_once(bench.api.pipeline));
        write_elsewhere();
        assert_int_equal(bench.done, 1);
        expect_traits(-1); /* another request */
        bench.passage.has_waited = true;
        expect_traits(2);
        bench_close();
    }
}

/* The writer is not involved while nothing has changed. */
static void test_query_is_enough_if_nothing_has_changed(void **state)
{
    (void)state;
    bench_open(true);
    expect_traits(-1);
    begin_to_wait();
    assert_int_equal(bench.done, 0);
    assert_true(memory_store_answer(bench.store, 0));
    assert_int_equal(bench.done, 1);
    assert_false(pipeline_run_once(bench.api.pipeline));
    expect_traits(-1); /* strict: the next request needs a query of its own */
    bench_close();
}

static void test_bounded_reads(void **state)
{
    (void)state;
    bench_open(true);
    bench.api.staleness_us = STALENESS_MS * 1000;
    fake_clock_advance_ms(10 * STALENESS_MS);
    expect_traits(-1);
    begin_to_wait();
    fake_clock_advance_ms(STALENESS_MS / 2);
    assert_true(memory_store_answer(bench.store, 0));
    expect_traits(1);
    write_elsewhere();
    fake_clock_advance_ms(STALENESS_MS / 2); /* since the query was sent */
    expect_traits(1);
    fake_clock_advance_ms(1);
    expect_traits(-1);
    begin_to_wait();
    assert_true(memory_store_answer(bench.store, 0));
    expect_traits(-1);
    assert_true(pipeline_run_once(bench.api.pipeline));
    assert_int_equal(bench.done, 2);
    bench.passage.has_waited = true;
    expect_traits(2);
    bench_close();
}

/* The database is still in a state that the writer has just published. */
static void test_writer_does_not_read_what_is_published(void **state)
{
    (void)state;
    bench_open(true);
    write_elsewhere();
    begin_to_wait();
    assert_true(memory_store_answer(bench.store, 0)); /* now the writer is to take the news */
    struct pipeline_request other = {.done = done, .err = {.arena = bench.arena}};
    pipeline_submit(bench.api.pipeline, &other);
    assert_true(pipeline_run_once(bench.api.pipeline));
    assert_int_equal(bench.done, 2);
    uint64_t reads = pipeline_figures(bench.api.pipeline).reloads;
    struct store_stamp head;
    memcpy(&head, &replica_newest(bench.replica)->stamp, sizeof(head));
    struct pipeline_request again = {.head = &head, .done = done, .err = {.arena = bench.arena}};
    write_elsewhere();
    pipeline_submit(bench.api.pipeline, &again);
    assert_true(pipeline_run_once(bench.api.pipeline));
    assert_int_equal(bench.done, 3);
    assert_int_equal(pipeline_figures(bench.api.pipeline).reloads, reads);
    bench_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_state),
        cmocka_unit_test(test_one_wait_is_enough),
        cmocka_unit_test(test_query_is_enough_if_nothing_has_changed),
        cmocka_unit_test(test_bounded_reads),
        cmocka_unit_test(test_writer_does_not_read_what_is_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
