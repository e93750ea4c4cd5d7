/* Who has the writer's seat, and when others may take it. */
#include "memory_store/memory_store.h"
#include "unit.h"

#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "await.h"
#include "base/arena.h"
#include "base/event_loop.h"
#include "engine/pipeline_internal.h"

static struct {
    struct memory_database database;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct arena *arena;
    struct pipeline_request first, second, reader;
    atomic_int answered;
    _Atomic int64_t names;
    unsigned awaits;
} bench;

static int setup(void **state)
{
    (void)state;
    memset(&bench, 0, sizeof(bench));
    bench.arena = arena_create();
    memory_database_init(&bench.database);
    bench.database.must_be_asked = true;
    bench.database.lock_order = MEMORY_LOCKS_NEVER;
    bench.database.faults.permille[MEMORY_COMMIT_PENDING] = MEMORY_ALWAYS;
    bench.store = memory_store_open(&bench.database);
    bench.replica = replica_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    replica_destroy(bench.replica);
    store_close(bench.store);
    memory_database_free(&bench.database);
    arena_destroy(bench.arena);
    return 0;
}

static struct pipeline_request request(bool (*plan)(struct pipeline_request *request,
                                                    const struct plan *plan),
                                       void (*done)(struct pipeline_request *request))
{
    return (struct pipeline_request){
        .plan = plan, .done = done, .plans_briefly = true, .err = {.arena = bench.arena}};
}

static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
    int64_t id = store_next_id(plan->store, STORE_TRAITS);
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){id, arena_printf(plan->arena, "CUSTOM_%ld", bench.names++)};
    return true;
}

static void answered(struct pipeline_request *request)
{
    (void)request;
    bench.answered++;
}

/* The second request is planned ahead by now. */
static void first_is_answered(struct pipeline_request *request)
{
    static struct tables tables;
    tables_copy(&tables, &bench.database.tables);
    memory_database_commit_foreign(&bench.database, &tables);
    pipeline_submit(bench.pipeline, &bench.reader);
    answered(request);
}

static bool still_pending(void *cls)
{
    (void)cls;
    if (bench.awaits++ == 0)
        pipeline_submit(bench.pipeline, &bench.second);
    return bench.awaits < 5;
}

/* The writer thread keeps its seat while something is planned ahead, also when that plan is dropped
 * before it is used: because a reader brings news. Afterwards, everything is answered. */
static void test_plan_ahead_is_dropped(void **state)
{
    (void)state;
    struct err err = {.arena = bench.arena};
    bench.store->still_pending = still_pending;
    bench.pipeline = pipeline_start(bench.store, bench.replica, NULL, &err);
    assert_non_null(bench.pipeline);
    bench.first = request(plan_trait, first_is_answered);
    bench.second = request(plan_trait, answered);
    bench.reader = request(NULL, answered);
    pipeline_submit(bench.pipeline, &bench.first);
    AWAIT(bench.answered == 3);
    pipeline_stop(bench.pipeline);
    assert_int_equal(bench.database.tables.rows[TABLE_TRAITS].count, 2);
}

static bool is_free(void)
{
    bool taken = seat_take_if_idle(bench.pipeline);
    if (taken)
        seat_leave(bench.pipeline);
    return taken;
}

/* Nobody overtakes what waits for the writer, or the writer itself, or begins anything while it
 * stops. */
static void test_not_idle(void **state)
{
    (void)state;
    struct err err = {.arena = bench.arena};
    bench.pipeline = pipeline_create(bench.store, bench.replica, NULL, &err);
    assert_non_null(bench.pipeline);
    assert_true(is_free());
    bench.first = request(plan_trait, answered);
    pipeline_submit(bench.pipeline, &bench.first);
    assert_false(is_free());
    assert_true(pipeline_run_once(bench.pipeline));
    assert_int_equal(bench.answered, 1);
    assert_true(is_free());
    bench.pipeline->awaits_seat = true;
    assert_false(is_free());
    bench.pipeline->awaits_seat = false;
    bench.pipeline->stopping = true;
    assert_false(is_free());
    bench.pipeline->stopping = false;
    assert_true(seat_take_if_idle(bench.pipeline));
    assert_false(is_free());
    assert_false(seat_take_parked(bench.pipeline));
    seat_park(bench.pipeline, true);
    assert_false(is_free());
    assert_false(seat_take_parked(bench.pipeline)); /* the writer is to look after it */
    pipeline_destroy(bench.pipeline);
}

static bool awaits_seat(void)
{
    pthread_mutex_lock(&bench.pipeline->lock);
    bool awaits = bench.pipeline->awaits_seat;
    pthread_mutex_unlock(&bench.pipeline->lock);
    return awaits;
}

/* The writer thread wants to tend the store, and nothing else will wake it. */
static void test_writer_is_woken(void **state)
{
    (void)state;
    struct err err = {.arena = bench.arena};
    bench.pipeline = pipeline_start(bench.store, bench.replica, NULL, &err);
    assert_non_null(bench.pipeline);
    AWAIT(seat_take_if_idle(bench.pipeline));
    AWAIT(awaits_seat());
    seat_leave(bench.pipeline);
    AWAIT(!awaits_seat());
    pipeline_stop(bench.pipeline);
}

/* With a batch on its way, whose answer no thread will take by itself. */
static void test_stop_while_parked(void **state)
{
    (void)state;
    struct err err = {.arena = bench.arena};
    struct epoll_event event;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    bench.store->does_at_once = true;
    bench.store->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); /* never readable */
    bench.pipeline = pipeline_start(bench.store, bench.replica, NULL, &err);
    assert_non_null(bench.pipeline);
    event_loop_begin();
    assert_int_equal(event_loop_wait(epoll, &event, 1, 0), 0);
    AWAIT(is_free());
    bench.first = request(plan_trait, answered);
    pipeline_submit(bench.pipeline, &bench.first);
    pipeline_stop(bench.pipeline);
    assert_int_equal(bench.answered, 1);
    assert_false(err_is_set(&bench.first.err));
    assert_int_equal(bench.database.tables.rows[TABLE_TRAITS].count, 1);
    event_loop_end();
    close(bench.store->descriptor);
    close(epoll);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plan_ahead_is_dropped),
        TEST(test_not_idle),
        TEST(test_writer_is_woken),
        TEST(test_stop_while_parked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
