/* How long a batch gathers, on a store whose commits take some time. */
#include "memory_store/memory_store.h"
#include "unit.h"

#include <stdatomic.h>

#include "await.h"
#include "base/arena.h"
#include "engine/pipeline.h"
#include "fake_clock.h"

enum { CROWD = 8, SLOW_US = 600000 };

struct disk {
    atomic_uint takes_us; /* each commit */
    atomic_bool is_held;  /* none ends */
    atomic_bool is_busy;
};

/* memory_store.before_commit */
static void take_time(void *cls)
{
    struct disk *disk = cls;
    disk->is_busy = true;
    while (disk->is_held)
        await_pause();
    fake_clock_add_us(disk->takes_us);
    disk->is_busy = false;
}

struct ask {
    struct pipeline_request request;
    struct slice trait;
    unsigned more; /* further traits that it creates */
    _Atomic bool is_answered;
};

static bool plan(struct pipeline_request *request, const struct plan *plan)
{
    const struct ask *ask = (const struct ask *)request;
    for (unsigned i = 0; i <= ask->more; i++)
        change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog = (struct change_catalog){
            store_next_id(plan->store, STORE_TRAITS),
            i == 0 ? ask->trait : arena_printf(plan->arena, "%.*s_%u", SLICE_ARG(ask->trait), i)};
    return true;
}

static void answered(struct pipeline_request *request)
{
    ((struct ask *)request)->is_answered = true;
}

static void submit_many(struct pipeline *pipeline, struct ask *ask, unsigned traits,
                        struct arena *arena)
{
    static unsigned number;
    ask->more = traits - 1;
    ask->is_answered = false;
    ask->trait = arena_printf(arena, "CUSTOM_%u", number++);
    ask->request =
        (struct pipeline_request){.plan = plan, .done = answered, .err = {.arena = arena}};
    pipeline_submit(pipeline, &ask->request);
}

static void submit(struct pipeline *pipeline, struct ask *ask, struct arena *arena)
{
    submit_many(pipeline, ask, 1, arena);
}

/* A batch of one, during whose commit a batch of many gathers; both commits take long. */
static void commit_slowly(struct pipeline *pipeline, struct disk *disk, struct arena *arena)
{
    struct ask crowd[CROWD];
    disk->takes_us = SLOW_US;
    disk->is_held = true;
    submit(pipeline, &crowd[0], arena);
    AWAIT(disk->is_busy);
    for (int i = 1; i < CROWD; i++)
        submit(pipeline, &crowd[i], arena);
    disk->is_held = false;
    for (int i = 0; i < CROWD; i++)
        AWAIT(crowd[i].is_answered);
    disk->takes_us = 0;
}

/* A disk that once took long is no reason for the next request to wait for company. */
static void test_no_patience_after_a_slow_commit(void **state)
{
    enum { PATIENCE_MS = 10 };
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct disk disk = {0};
    static struct memory_database database;
    fake_clock_stop();
    memory_database_init(&database);
    struct store *store = memory_store_open(&database);
    store->before_commit = take_time;
    store->cls = &disk;
    struct ask ask;
    struct replica *replica = replica_create();
    struct pipeline *pipeline = pipeline_start(store, replica, NULL, &err);
    assert_non_null(pipeline);
    commit_slowly(pipeline, &disk, arena);
    submit(pipeline, &ask, arena);
    AWAIT(fake_clock_is_awaited_in_ms(PATIENCE_MS, PATIENCE_MS));
    assert_false(ask.is_answered);
    fake_clock_add_us(PATIENCE_MS * 1000);
    AWAIT(ask.is_answered);
    pipeline_stop(pipeline);
    replica_destroy(replica);
    store_close(store);
    memory_database_free(&database);
    arena_destroy(arena);
}

/* A request that arrives while the writer waits for the lock. */
struct latecomer {
    struct pipeline *pipeline;
    struct memory_database *database;
    struct ask ask;
    struct arena *arena;
};

/* memory_store.while_locked */
static void submit_and_release(void *cls)
{
    struct latecomer *latecomer = cls;
    submit(latecomer->pipeline, &latecomer->ask, latecomer->arena);
    latecomer->database->faults.permille[MEMORY_LOCK_HELD] = 0;
}

/* Two requests, the second of which arrives while the lock is awaited, and the number of batches.
 */
static void commit_with_a_latecomer(bool reads_first, unsigned batches)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    static struct memory_database database;
    memset(&database, 0, sizeof(database)); /* of the last time */
    memory_database_init(&database);
    database.lock_order = MEMORY_LOCKS_FIRST;
    database.reads_first = reads_first;
    struct store *store = memory_store_open(&database);
    struct replica *replica = replica_create();
    struct pipeline *pipeline = pipeline_create(store, replica, NULL, &err);
    assert_non_null(pipeline);
    struct latecomer latecomer = {.pipeline = pipeline, .database = &database, .arena = arena};
    struct ask ask;
    store->while_locked = submit_and_release;
    store->cls = &latecomer;
    database.faults.permille[MEMORY_LOCK_HELD] = MEMORY_ALWAYS;
    submit(pipeline, &ask, arena);
    for (unsigned i = 0; i < batches; i++)
        assert_true(pipeline_run_once(pipeline));
    assert_false(pipeline_run_once(pipeline));
    assert_true(ask.is_answered && latecomer.ask.is_answered);
    assert_false(err_is_set(&ask.request.err) || err_is_set(&latecomer.ask.request.err));
    struct pipeline_figures figures = pipeline_figures(pipeline);
    assert_int_equal(figures.commits, batches);
    assert_int_equal(figures.requests, 2);
    assert_int_equal(figures.batch_requests.sum, 2);
    pipeline_destroy(pipeline);
    replica_destroy(replica);
    store_close(store);
    memory_database_free(&database);
    arena_destroy(arena);
}

/* With two instances under load, half of the clients would otherwise always be one turn late. */
static void test_who_arrives_while_the_lock_is_awaited_joins_the_batch(void **state)
{
    (void)state;
    commit_with_a_latecomer(false, 1);
}

/* Other programs do not wait for the lock: what they had written before the request arrived need
 * not be in what was read. */
static void test_nobody_joins_what_was_read_before(void **state)
{
    (void)state;
    commit_with_a_latecomer(true, 2);
}

/* The requests that wait are committed in as few batches as their number of changes allows. */
static void test_a_batch_has_a_bound(void **state)
{
    enum { MOST = 4, ASKS = 8 };
    static const struct {
        unsigned traits[ASKS];
        unsigned commits;
    } cases[] = {
        {{1, 1, 1, 1}, 1}, {{1, 1, 1, 1, 1}, 2},    {{1, 1, 1, 1, 1, 1, 1, 1}, 2},
        {{9}, 1},          /* alone */ {{9, 1}, 2}, {{1, 9, 1}, 2},
        {{4, 4, 4}, 3},    {{3, 3, 1, 1}, 2},       {{9, 9, 1, 1, 1, 1, 1}, 4},
    };
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    static struct memory_database database;
    memory_database_init(&database);
    struct store *store = memory_store_open(&database);
    struct replica *replica = replica_create();
    struct pipeline *pipeline = pipeline_create(store, replica, NULL, &err);
    assert_non_null(pipeline);
    pipeline_limit_changes(pipeline, MOST);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ask asks[ASKS];
        uint64_t before = pipeline_figures(pipeline).commits;
        unsigned count = 0;
        for (; count < ASKS && cases[i].traits[count] > 0; count++)
            submit_many(pipeline, &asks[count], cases[i].traits[count], arena);
        while (pipeline_run_once(pipeline))
            continue;
        for (unsigned at = 0; at < count; at++)
            assert_true(asks[at].is_answered && !err_is_set(&asks[at].request.err));
        assert_int_equal(pipeline_figures(pipeline).commits - before, cases[i].commits);
    }
    pipeline_destroy(pipeline);
    replica_destroy(replica);
    store_close(store);
    memory_database_free(&database);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_patience_after_a_slow_commit),
        cmocka_unit_test(test_who_arrives_while_the_lock_is_awaited_joins_the_batch),
        cmocka_unit_test(test_nobody_joins_what_was_read_before),
        cmocka_unit_test(test_a_batch_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
