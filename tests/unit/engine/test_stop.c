/* A request that arrives while the writer stops is refused at once, on the thread that submits it;
 * those before it are written. */
#include "memory_store/memory_store.h"
#include "unit.h"

#include "base/arena.h"
#include "engine/pipeline.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused_while_it_stops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
