/* A database that does not keep values as they are: memory has the form that they have there, in
 * whatever a batch changes. */
#include "memory_store/memory_store.h"
#include "unit.h"

#include "base/arena.h"
#include "engine/pipeline.h"
#include "replica/replica.h"
#include "replica/version.h"

enum { SECOND_US = 1000000 };

struct bench {
    struct memory_database database;
    struct store *store;
    struct arena *arena;
    struct replica *replica;
    struct pipeline *pipeline;
};

static void prepare(struct bench *bench)
{
    bench->arena = arena_create();
    bench->replica = replica_create();
    struct err err = {.arena = bench->arena};
    memory_database_init(&bench->database);
    bench->database.has_whole_seconds = true;
    bench->store = memory_store_open(&bench->database);
    bench->pipeline = pipeline_create(bench->store, bench->replica, NULL, &err);
    assert_non_null(bench->pipeline);
}

static void clean_up(struct bench *bench)
{
    pipeline_destroy(bench->pipeline);
    replica_destroy(bench->replica);
    store_close(bench->store);
    memory_database_free(&bench->database);
    arena_destroy(bench->arena);
}

static bool plan_provider(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
    struct change *change = change_append(plan->changes, CHANGE_PROVIDER_INSERT);
    change->created_at_us = plan->now_us;
    change->provider = (struct change_provider){1, 0, 1, 0, SLICE_LIT("uuid"), SLICE_LIT("name")};
    return true;
}

/* The generation is raised in addition. */
static bool plan_inventory(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
    struct change *change = change_append(plan->changes, CHANGE_INVENTORY_INSERT);
    change->created_at_us = plan->now_us;
    change->inventory = (struct change_inventory){1, 1, 10, 0, 1, 10, 1, 1.0};
    return true;
}

static bool plan_class(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
    change_append(plan->changes, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("CUSTOM_CLASS")};
    return true;
}

static void answered(struct pipeline_request *request)
{
    assert_false(err_is_set(&request->err));
}

static void decide(struct bench *bench, pipeline_plan *plan)
{
    struct pipeline_request request = {
        .plan = plan, .done = answered, .err = {.arena = bench->arena}};
    pipeline_submit(bench->pipeline, &request);
    assert_true(pipeline_run_once(bench->pipeline));
}

static void test_new_generations_too(void **state)
{
    struct bench bench = {0};
    (void)state;
    prepare(&bench);
    decide(&bench, plan_class);
    decide(&bench, plan_provider);
    decide(&bench, plan_inventory);
    const struct provider *provider = version_provider_by_id(replica_newest(bench.replica), 1);
    assert_int_equal(provider->generation, 1);
    assert_true(provider->modified_at_us > 0);
    assert_int_equal(provider->modified_at_us % SECOND_US, 0);
    clean_up(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_new_generations_too)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
