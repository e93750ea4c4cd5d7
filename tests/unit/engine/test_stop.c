/* A request that arrives while the writer stops is refused at once, on the thread that submits it;
 * those before it are written, unless that takes more than a second because of other processes. */
#include <stdlib.h>

#include "memory_store/memory_store.h"
#include "unit.h"

#include "base/arena.h"
#include "engine/pipeline.h"
#include "fake_clock.h"

struct ask {
    struct pipeline_request request; /* first */
    struct pipeline *pipeline;
    unsigned written;
};

static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    const struct ask *ask = (const struct ask *)request;
    int64_t id = store_next_id(plan->store, STORE_TRAITS);
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){id, arena_printf(plan->arena, "CUSTOM_%u", ask->written)};
    return true;
}

/* On the writer's thread: submits the next one until one is refused. */
static void answered(struct pipeline_request *request)
{
    struct ask *ask = (struct ask *)request;
    if (err_is_set(&request->err))
        return;
    ask->written++;
    pipeline_submit(ask->pipeline, request);
}

static void refused_while_it_stops(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    static struct memory_database database;
    memory_database_init(&database);
    struct store *store = memory_store_open(&database);
    struct replica *replica = replica_create();
    struct ask ask = {
        .request = {.plan = plan_trait, .done = answered, .max_rows = 1, .err = {.arena = arena}},
        .pipeline = pipeline_start(store, replica, NULL, &err),
    };
    assert_non_null(ask.pipeline);
    pipeline_submit(ask.pipeline, &ask.request);
    pipeline_stop(ask.pipeline);
    assert_true(ask.written > 0);
    assert_int_equal(ask.request.err.status, 503);
    assert_true(slice_equal(ask.request.err.message, SLICE_LIT("The service is stopping.")));
    assert_int_equal(database.tables.rows[TABLE_TRAITS].count, ask.written);
    assert_int_equal(replica_newest(replica)->traits.by_id.count, ask.written);
    replica_destroy(replica);
    store_close(store);
    memory_database_free(&database);
    arena_destroy(arena);
}

enum { GIVEN_UP_US = 1000000, STOPS_AT = 3, IS_OVER_AT = 5 };

/* A write that other processes hold up for as long as the writer lets them. */
struct held {
    struct pipeline_request request; /* first */
    struct memory_database database;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    unsigned attempts;
    bool is_answered;
};

/* The process begins to stop at the third attempt. At the fourth, half a second has passed since,
 * and at the fifth a second. */
static void attempt(struct held *held)
{
    held->attempts++;
    if (held->attempts == STOPS_AT)
        pipeline_give_up(held->pipeline);
    else if (held->attempts > STOPS_AT)
        fake_clock_add_us(GIVEN_UP_US / 2);
    assert_true(held->attempts <= IS_OVER_AT);
}

/* memory_store.while_locked */
static void is_locked(void *cls)
{
    attempt(cls);
}

/* memory_database.foreign_write */
static void write_first(void *cls, struct memory_database *database)
{
    (void)cls;
    memory_database_commit_foreign(database, &database->tables);
}

static bool plan_held(struct pipeline_request *request, const struct plan *plan)
{
    struct held *held = (struct held *)request;
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){store_next_id(plan->store, STORE_TRAITS), SLICE_LIT("CUSTOM_T")};
    if (held->database.lock_order == MEMORY_LOCKS_NEVER)
        attempt(held);
    return true;
}

static void answered_held(struct pipeline_request *request)
{
    ((struct held *)request)->is_answered = true;
}

static int open_held(void **state)
{
    struct held *held = calloc(1, sizeof(*held));
    assert_non_null(held);
    fake_clock_stop();
    fake_clock_rush(true);
    held->request = (struct pipeline_request){
        .plan = plan_held, .done = answered_held, .max_rows = 1, .err = {.arena = arena_create()}};
    memory_database_init(&held->database);
    held->database.cls = held;
    held->database.foreign_write = write_first;
    held->store = memory_store_open(&held->database);
    held->store->while_locked = is_locked;
    held->store->cls = held;
    held->replica = replica_create();
    held->pipeline = pipeline_create(held->store, held->replica, NULL, &held->request.err);
    assert_non_null(held->pipeline);
    *state = held;
    return 0;
}

static int close_held(void **state)
{
    struct held *held = *state;
    pipeline_destroy(held->pipeline);
    replica_destroy(held->replica);
    store_close(held->store);
    memory_database_free(&held->database);
    arena_destroy(held->request.err.arena);
    free(held);
    fake_clock_rush(false);
    fake_clock_run();
    return 0;
}

static void expect_refused_when_it_is_over(struct held *held)
{
    pipeline_submit(held->pipeline, &held->request);
    assert_true(pipeline_run_once(held->pipeline));
    assert_true(held->is_answered);
    assert_int_equal(held->attempts, IS_OVER_AT);
    assert_int_equal(held->request.err.status, 503);
    assert_false(held->store->is_locked);
    assert_int_equal(held->database.tables.rows[TABLE_TRAITS].count, 0);
    assert_int_equal(replica_newest(held->replica)->traits.by_id.count, 0);
}

/* Another process holds the lock, and keeps it. */
static void lock_is_not_waited_for(void **state)
{
    struct held *held = *state;
    held->database.lock_order = MEMORY_LOCKS_FIRST;
    held->database.faults.permille[MEMORY_LOCK_HELD] = MEMORY_ALWAYS;
    expect_refused_when_it_is_over(held);
}

/* Another process commits first, each time. */
static void batch_is_not_planned_again(void **state)
{
    struct held *held = *state;
    held->database.lock_order = MEMORY_LOCKS_NEVER;
    held->database.faults.permille[MEMORY_FOREIGN_WRITE] = MEMORY_ALWAYS;
    expect_refused_when_it_is_over(held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_while_it_stops),
        cmocka_unit_test_setup_teardown(lock_is_not_waited_for, open_held, close_held),
        cmocka_unit_test_setup_teardown(batch_is_not_planned_again, open_held, close_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
