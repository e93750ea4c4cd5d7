/* A thread with an event loop plans and sends a request by itself, and takes the answer when it
 * comes; the writer takes over what is not the usual case. No threads: the test runs the writer. */
#include "memory_store/memory_store.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/event_loop.h"
#include "engine/pipeline.h"
#include "engine/rules.h"

enum { ROWS_MOST = 64, MAX_ROWS = 1000 };

struct ask {
    struct pipeline_request request; /* first */
    bool is_answered;
    unsigned plans;
    unsigned traits; /* to insert */
};

struct bench {
    struct memory_database database;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct arena *arena;
    int epoll;
    struct ask one, two, three;
};

static void answered(struct pipeline_request *request)
{
    ((struct ask *)request)->is_answered = true;
}

static bool plan_traits(struct pipeline_request *request, const struct plan *plan)
{
    struct ask *ask = (struct ask *)request;
    ask->plans++;
    for (unsigned i = 0; i < ask->traits; i++) {
        int64_t id = store_next_id(plan->store, STORE_TRAITS);
        change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
            (struct change_catalog){id, arena_printf(plan->arena, "CUSTOM_%ld", id)};
    }
    return true;
}

static bool plan_refused(struct pipeline_request *request, const struct plan *plan)
{
    (void)plan;
    ((struct ask *)request)->plans++;
    return err_set(&request->err, 409, NULL, "no");
}

static void prepare(struct bench *bench, struct ask *ask)
{
    *ask = (struct ask){.request = {.plan = plan_traits,
                                    .done = answered,
                                    .plans_briefly = true,
                                    .max_rows = MAX_ROWS,
                                    .err = {.arena = bench->arena}},
                        .traits = 1};
}

static void submit(struct bench *bench, struct ask *ask)
{
    prepare(bench, ask);
    pipeline_submit(bench->pipeline, &ask->request);
}

static void *submit_prepared(void *cls)
{
    struct bench *bench = cls;
    pipeline_submit(bench->pipeline, &bench->three.request);
    return NULL;
}

/* On a thread without an event loop. */
static void submit_elsewhere(struct bench *bench)
{
    pthread_t thread;
    prepare(bench, &bench->three);
    assert_int_equal(pthread_create(&thread, NULL, submit_prepared, bench), 0);
    pthread_join(thread, NULL);
}

/* One turn of the loop. */
static void turn(struct bench *bench)
{
    struct epoll_event event;
    assert_int_equal(event_loop_wait(bench->epoll, &event, 1, 0), 0);
}

static uint64_t traits(const struct bench *bench)
{
    size_t count = replica_newest(bench->replica)->traits.by_id.count;
    assert_int_equal(bench->database.tables.rows[TABLE_TRAITS].count, count);
    return count;
}

static struct pipeline_figures figures(const struct bench *bench)
{
    return pipeline_figures(bench->pipeline);
}

/* The request waits in the queue: only the writer decides it. */
static void expect_queued(struct bench *bench, struct ask *ask, int status)
{
    turn(bench);
    turn(bench);
    assert_false(ask->is_answered);
    assert_int_equal(figures(bench).queued, 1);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(ask->is_answered);
    assert_int_equal(ask->request.err.status, status);
    assert_int_equal(ask->request.max_rows, MAX_ROWS);
    assert_int_equal(figures(bench).direct, 0);
}

/* A rule that may have something to make up for. */
static struct {
    bool is_due;
    bool has_followed;
} owing;

static bool owes(const void *context)
{
    (void)context;
    return owing.is_due;
}

static void *make_up(void *context, const struct plan *plan)
{
    (void)context;
    (void)plan;
    owing.has_followed = false;
    return owing.is_due ? &owing : NULL;
}

static bool follow(void *noted, const struct plan *plan)
{
    if (noted != &owing || owing.has_followed)
        return false;
    owing.has_followed = true;
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){store_next_id(plan->store, STORE_TRAITS), SLICE_LIT("CUSTOM_OWED")};
    return true;
}

static void made_up(void *context)
{
    (void)context;
    owing.is_due = false;
}

static const struct rule owing_rule = {
    .name = "owing", .owes = owes, .make_up = make_up, .follow = follow, .made_up = made_up};

/* Another program commits the same contents. */
static void write_foreign(struct bench *bench)
{
    static struct tables tables;
    tables_copy(&tables, &bench->database.tables);
    memory_database_commit_foreign(&bench->database, &tables);
}

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    memory_database_init(&bench->database);
    bench->database.must_be_asked = true;
    bench->database.lock_order = MEMORY_LOCKS_NEVER;
    bench->database.faults.permille[MEMORY_COMMIT_PENDING] = MEMORY_ALWAYS;
    static struct rules rules = {.count = 1, .rows[0].rule = &owing_rule};
    owing.is_due = false;
    bench->arena = arena_create();
    bench->store = memory_store_open(&bench->database);
    bench->store->does_at_once = true;
    bench->store->descriptor = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK); /* always readable */
    bench->replica = replica_create();
    bench->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct err err = {.arena = bench->arena};
    write_foreign(bench); /* memory without a state would have to be read */
    bench->pipeline = pipeline_create(bench->store, bench->replica, &rules, &err);
    assert_non_null(bench->pipeline);
    event_loop_begin();
    turn(bench);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    event_loop_end();
    pipeline_destroy(bench->pipeline);
    replica_destroy(bench->replica);
    close(bench->epoll);
    close(bench->store->descriptor);
    store_close(bench->store);
    memory_database_free(&bench->database);
    arena_destroy(bench->arena);
    free(bench);
    return 0;
}

static void test_without_the_writer(void **state)
{
    struct bench *bench = *state;
    submit(bench, &bench->one);
    assert_int_equal(bench->one.plans, 1);
    assert_int_equal(bench->store->commits, 1);
    turn(bench); /* a part of the answer */
    assert_false(bench->one.is_answered);
    assert_int_equal(traits(bench), 0);
    turn(bench);
    assert_true(bench->one.is_answered);
    assert_int_equal(bench->one.request.err.status, 0);
    assert_int_equal(bench->one.request.max_rows, MAX_ROWS);
    assert_int_equal(traits(bench), 1);
    assert_false(pipeline_run_once(bench->pipeline));
    assert_int_equal(bench->one.plans, 1);
    assert_int_equal(figures(bench).batches, 1);
    assert_int_equal(figures(bench).requests, 1);
    assert_int_equal(figures(bench).commits, 1);
    assert_int_equal(figures(bench).direct, 1);
    submit(bench, &bench->two);
    turn(bench);
    turn(bench);
    assert_true(bench->two.is_answered);
    assert_int_equal(traits(bench), 2);
}

static void test_thread_without_a_loop(void **state)
{
    struct bench *bench = *state;
    submit_elsewhere(bench);
    expect_queued(bench, &bench->three, 0);
}

/* The writer waits for the batch, and plans what has come meanwhile on top of it. */
static void test_taken_over(void **state)
{
    struct bench *bench = *state;
    submit(bench, &bench->one);
    submit(bench, &bench->two);
    assert_int_equal(bench->two.plans, 0);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->one.is_answered);
    assert_false(bench->two.is_answered);
    turn(bench);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->two.is_answered);
    turn(bench);
    assert_int_equal(bench->one.plans + bench->two.plans, 2);
    assert_int_equal(traits(bench), 2);
    assert_int_equal(figures(bench).batches, 2);
    assert_int_equal(figures(bench).requests, 2);
    assert_int_equal(figures(bench).direct, 0);
}

/* Others may have sent several requests, which share a batch. */
static void test_not_while_batches_are_large(void **state)
{
    struct bench *bench = *state;
    bench->store->does_at_once = false;
    submit(bench, &bench->one);
    submit(bench, &bench->two);
    assert_true(pipeline_run_once(bench->pipeline));
    bench->store->does_at_once = true;
    submit(bench, &bench->one);
    expect_queued(bench, &bench->one, 0);
    submit(bench, &bench->one);
    turn(bench);
    turn(bench);
    assert_true(bench->one.is_answered);
    assert_int_equal(figures(bench).direct, 1);
}

static void test_refusal_is_the_writers(void **state)
{
    struct bench *bench = *state;
    prepare(bench, &bench->one);
    bench->one.request.plan = plan_refused;
    pipeline_submit(bench->pipeline, &bench->one.request);
    assert_int_equal(bench->store->commits, 0);
    expect_queued(bench, &bench->one, 409);
    assert_int_equal(bench->one.plans, 2);
}

static void test_no_change_is_the_writers(void **state)
{
    struct bench *bench = *state;
    prepare(bench, &bench->one);
    bench->one.traits = 0;
    pipeline_submit(bench->pipeline, &bench->one.request);
    assert_int_equal(bench->store->commits, 0);
    expect_queued(bench, &bench->one, 0);
}

static void test_large_plan_is_the_writers(void **state)
{
    struct bench *bench = *state;
    prepare(bench, &bench->one);
    bench->one.traits = ROWS_MOST + 1;
    pipeline_submit(bench->pipeline, &bench->one.request);
    expect_queued(bench, &bench->one, 0);
    assert_int_equal(traits(bench), ROWS_MOST + 1);
    prepare(bench, &bench->one);
    bench->one.request.least_rows = ROWS_MOST + 1;
    pipeline_submit(bench->pipeline, &bench->one.request);
    assert_int_equal(bench->one.plans, 0);
    expect_queued(bench, &bench->one, 0);
    prepare(bench, &bench->one);
    bench->one.request.plans_briefly = false;
    pipeline_submit(bench->pipeline, &bench->one.request);
    assert_int_equal(bench->one.plans, 0);
    expect_queued(bench, &bench->one, 0);
}

static void test_largest_plan(void **state)
{
    struct bench *bench = *state;
    prepare(bench, &bench->one);
    bench->one.traits = ROWS_MOST;
    pipeline_submit(bench->pipeline, &bench->one.request);
    turn(bench);
    turn(bench);
    assert_true(bench->one.is_answered);
    assert_int_equal(figures(bench).direct, 1);
}

static void test_ids_that_must_be_asked_for(void **state)
{
    struct bench *bench = *state;
    bench->store->lacks_at_once = true;
    submit(bench, &bench->one);
    expect_queued(bench, &bench->one, 0);
}

static void test_store_that_would_wait(void **state)
{
    struct bench *bench = *state;
    bench->store->does_at_once = false;
    submit(bench, &bench->one);
    assert_int_equal(bench->one.plans, 0);
    expect_queued(bench, &bench->one, 0);
}

/* What other programs' writes require is the writer's, however little it may be. */
static void test_what_is_owed(void **state)
{
    struct bench *bench = *state;
    owing.is_due = true;
    submit(bench, &bench->one);
    assert_int_equal(bench->one.plans, 0);
    expect_queued(bench, &bench->one, 0);
    assert_int_equal(traits(bench), 2);
    submit(bench, &bench->one);
    turn(bench);
    turn(bench);
    assert_true(bench->one.is_answered);
    assert_int_equal(figures(bench).direct, 1);
}

static void test_memory_that_is_outdated(void **state)
{
    struct bench *bench = *state;
    bench->database.must_be_asked = false;
    bench->database.stamps_never_current = true;
    submit(bench, &bench->one);
    assert_int_equal(bench->one.plans, 0);
    expect_queued(bench, &bench->one, 0);
}

static void test_others_were_faster(void **state)
{
    struct bench *bench = *state;
    submit(bench, &bench->one);
    write_foreign(bench);
    turn(bench);
    turn(bench);
    turn(bench);
    assert_false(bench->one.is_answered);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->one.is_answered);
    assert_int_equal(bench->one.request.err.status, 0);
    assert_int_equal(bench->one.plans, 2);
    assert_int_equal(figures(bench).taken, 1);
    assert_int_equal(traits(bench), 1);
}

static void test_failed_commit(void **state)
{
    struct bench *bench = *state;
    bench->database.faults.permille[MEMORY_COMMIT_FAILS] = MEMORY_ALWAYS;
    submit(bench, &bench->one);
    turn(bench);
    turn(bench);
    assert_false(bench->one.is_answered);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->one.is_answered);
    assert_int_equal(bench->one.request.err.status, 503);
    assert_int_equal(traits(bench), 0);
    bench->database.faults.permille[MEMORY_COMMIT_FAILS] = 0;
    submit(bench, &bench->two);
    turn(bench);
    turn(bench);
    assert_true(bench->two.is_answered);
    assert_int_equal(bench->two.request.err.status, 0);
}

/* It fails before anything is on its way. */
static void test_failure_at_once(void **state)
{
    struct bench *bench = *state;
    bench->database.faults.permille[MEMORY_COMMIT_BEGIN_FAILS] = MEMORY_ALWAYS;
    submit(bench, &bench->one);
    turn(bench);
    assert_false(bench->one.is_answered);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->one.is_answered);
    assert_int_equal(bench->one.request.err.status, 503);
}

static void test_batch_that_cannot_be_watched(void **state)
{
    struct bench *bench = *state;
    int descriptor = bench->store->descriptor;
    bench->store->descriptor = -1;
    submit(bench, &bench->one);
    assert_int_equal(bench->store->commits, 1);
    turn(bench);
    assert_false(bench->one.is_answered);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->one.is_answered);
    assert_int_equal(bench->one.plans, 1);
    bench->store->descriptor = descriptor;
}

/* The edit is given back; the request is not answered. */
static void test_pipeline_ends_meanwhile(void **state)
{
    struct bench *bench = *state;
    submit(bench, &bench->one);
    assert_int_equal(bench->store->commits, 1);
    assert_false(bench->one.is_answered);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_without_the_writer),
        TEST(test_thread_without_a_loop),
        TEST(test_taken_over),
        TEST(test_not_while_batches_are_large),
        TEST(test_refusal_is_the_writers),
        TEST(test_no_change_is_the_writers),
        TEST(test_large_plan_is_the_writers),
        TEST(test_largest_plan),
        TEST(test_ids_that_must_be_asked_for),
        TEST(test_store_that_would_wait),
        TEST(test_what_is_owed),
        TEST(test_memory_that_is_outdated),
        TEST(test_others_were_faster),
        TEST(test_failed_commit),
        TEST(test_failure_at_once),
        TEST(test_batch_that_cannot_be_watched),
        TEST(test_pipeline_ends_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
