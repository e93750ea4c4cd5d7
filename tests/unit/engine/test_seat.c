/* The writer thread keeps its seat while something is planned ahead, also when that plan is dropped
 * before it is used: because a reader brings news. Afterwards, everything is answered. */
#include "memory_store/memory_store.h"
#include "unit.h"

#include <stdatomic.h>

#include "await.h"
#include "base/arena.h"
#include "engine/pipeline.h"

static struct {
    struct memory_database database;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct pipeline_request first, second, reader;
    atomic_int answered;
    _Atomic int64_t names;
    unsigned awaits;
} bench;

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

static void test_plan_ahead_is_dropped(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    memory_database_init(&bench.database);
    bench.database.must_be_asked = true;
    bench.database.lock_order = MEMORY_LOCKS_NEVER;
    bench.database.faults.permille[MEMORY_COMMIT_PENDING] = MEMORY_ALWAYS;
    bench.store = memory_store_open(&bench.database);
    bench.store->still_pending = still_pending;
    bench.replica = replica_create();
    bench.pipeline = pipeline_start(bench.store, bench.replica, NULL, &err);
    assert_non_null(bench.pipeline);
    bench.first = (struct pipeline_request){
        .plan = plan_trait, .done = first_is_answered, .err = {.arena = arena}};
    bench.second =
        (struct pipeline_request){.plan = plan_trait, .done = answered, .err = {.arena = arena}};
    bench.reader = (struct pipeline_request){.done = answered, .err = {.arena = arena}};
    pipeline_submit(bench.pipeline, &bench.first);
    AWAIT(bench.answered == 3);
    pipeline_stop(bench.pipeline);
    assert_int_equal(bench.database.tables.rows[TABLE_TRAITS].count, 2);
    replica_destroy(bench.replica);
    store_close(bench.store);
    memory_database_free(&bench.database);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plan_ahead_is_dropped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
