/* A database in which other programs write what no log tells: memory is read before each batch, so
 * that no request is planned, and refused, on what was there before. */
#include <stdlib.h>

#include "memory_store/memory_store.h"
#include "unit.h"

#include "base/arena.h"
#include "engine/pipeline.h"

struct bench {
    struct memory_database database;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct arena *arena;
};

struct ask {
    struct pipeline_request request; /* first */
    struct slice needs;              /* a trait, or the request is refused */
    struct slice trait;              /* what it creates; empty: nothing */
    unsigned plans;
    unsigned answers;
};

static bool plan(struct pipeline_request *request, const struct plan *plan)
{
    struct ask *ask = (struct ask *)request;
    ask->plans++;
    if (ask->needs.len > 0 && catalog_find(&plan->version->traits, ask->needs) == NULL)
        return err_set(&request->err, 404, NULL, "no such trait");
    if (ask->trait.len > 0)
        change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
            (struct change_catalog){store_next_id(plan->store, STORE_TRAITS), ask->trait};
    return true;
}

static void answered(struct pipeline_request *request)
{
    ((struct ask *)request)->answers++;
}

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    assert_non_null(bench);
    bench->arena = arena_create();
    struct err err = {.arena = bench->arena};
    memory_database_init(&bench->database);
    bench->database.must_be_asked = true;
    bench->database.lock_order = MEMORY_LOCKS_NEVER;
    memory_database_commit_foreign(&bench->database,
                                   &bench->database.tables); /* stamps are known */
    bench->store = memory_store_open(&bench->database);
    bench->replica = replica_create();
    bench->pipeline = pipeline_create(bench->store, bench->replica, NULL, &err);
    assert_non_null(bench->pipeline);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    pipeline_destroy(bench->pipeline);
    replica_destroy(bench->replica);
    store_close(bench->store);
    memory_database_free(&bench->database);
    arena_destroy(bench->arena);
    free(bench);
    return 0;
}

static void submit(struct bench *bench, struct ask *ask)
{
    ask->request = (struct pipeline_request){
        .plan = plan, .done = answered, .max_rows = 1, .err = {.arena = bench->arena}};
    pipeline_submit(bench->pipeline, &ask->request);
}

/* Another program creates the trait, of which memory knows nothing. */
static void create_elsewhere(struct bench *bench, int64_t id, struct slice trait)
{
    static struct tables tables;
    struct change_list list = {.arena = bench->arena};
    change_append(&list, CHANGE_TRAIT_INSERT)->catalog = (struct change_catalog){id, trait};
    tables_copy(&tables, &bench->database.tables);
    assert_null(tables_execute(&tables, &list.items[0]));
    memory_database_commit_foreign(&bench->database, &tables);
}

/* A request that needs what another program has just created, in one batch with one that writes.
 * Returns how often it was planned. */
static unsigned plans_beside_a_write(struct bench *bench)
{
    struct ask other = {.trait = SLICE_LIT("CUSTOM_OTHER")};
    struct ask ask = {.needs = SLICE_LIT("CUSTOM_NEW")};
    create_elsewhere(bench, 101, ask.needs);
    submit(bench, &ask);
    submit(bench, &other);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_int_equal(ask.answers + other.answers, 2);
    assert_false(err_is_set(&ask.request.err) || err_is_set(&other.request.err));
    assert_int_equal(bench->database.tables.rows[TABLE_TRAITS].count, 2);
    return ask.plans;
}

static void test_plans_on_what_was_read_first(void **state)
{
    struct bench *bench = *state;
    bench->database.reads_first = true;
    assert_int_equal(plans_beside_a_write(bench), 1);
}

/* Otherwise, the commit tells that memory is old. */
static void test_plans_again_without(void **state)
{
    assert_int_equal(plans_beside_a_write(*state), 2);
}

/* Also if memory would count as new: as the program's transactions change nothing that tells. */
static void test_reads_although_memory_is_current(void **state)
{
    struct bench *bench = *state;
    bench->database.must_be_asked = false;
    bench->database.reads_first = true;
    struct ask ask = {.trait = SLICE_LIT("CUSTOM_OTHER")};
    for (unsigned reads = 1; reads <= 2; reads++, ask.trait = SLICE_LIT("CUSTOM_NEXT")) {
        const uint64_t before = bench->store->reads;
        submit(bench, &ask);
        assert_true(pipeline_run_once(bench->pipeline));
        assert_false(err_is_set(&ask.request.err));
        assert_int_equal(bench->store->reads - before, 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plans_on_what_was_read_first),
        TEST(test_plans_again_without),
        TEST(test_reads_although_memory_is_current),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
