/* What the writer does while a batch is on its way to the database. No threads: each step happens
 * when the store is asked about the batch. */
#include "memory_store/memory_store.h"
#include "unit.h"

#include <stdlib.h>

#include "base/arena.h"
#include "engine/pipeline.h"

struct ask {
    struct pipeline_request request; /* first */
    struct pipeline_probe probe;
    bool is_answered;
    unsigned plans;
    size_t traits_seen; /* in its last plan */
};

struct bench {
    struct memory_database database;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct arena *arena;
    bool (*step)(struct bench *bench, unsigned number); /* whether the batch stays pending */
    unsigned steps;
    uint64_t turns; /* pipeline_iterations() at the last one */
    struct ask write, reader, second, prober;
};

static void answered(struct pipeline_request *request)
{
    ((struct ask *)request)->is_answered = true;
}

static void note_plan(struct pipeline_request *request, const struct plan *plan)
{
    struct ask *ask = (struct ask *)request;
    ask->plans++;
    ask->traits_seen = plan->version->traits.by_id.count;
}

/* Refused as soon as there is a trait. */
static bool plan_refused(struct pipeline_request *request, const struct plan *plan)
{
    note_plan(request, plan);
    return plan->version->traits.by_id.count == 0 ||
           err_set(&request->err, 409, NULL, "there is one");
}

static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    note_plan(request, plan);
    int64_t id = store_next_id(plan->store, STORE_TRAITS);
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){id, arena_printf(plan->arena, "CUSTOM_%ld", id)};
    return true;
}

static void submit(struct bench *bench, struct ask *ask, pipeline_plan *plan)
{
    ask->request = (struct pipeline_request){
        .plan = plan, .done = answered, .max_rows = 10, .err = {.arena = bench->arena}};
    ask->request.probe = ask == &bench->prober ? &ask->probe : NULL;
    pipeline_submit(bench->pipeline, &ask->request);
}

/* store.still_pending: the writer is not stuck. */
static bool still_pending(void *cls)
{
    struct bench *bench = cls;
    uint64_t turns = pipeline_iterations(bench->pipeline);
    assert_true(turns > bench->turns);
    bench->turns = turns;
    return bench->step(bench, ++bench->steps);
}

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    memory_database_init(&bench->database);
    bench->database.stamps_never_current = true;
    bench->database.lock_order = MEMORY_LOCKS_NEVER;
    bench->database.faults.permille[MEMORY_COMMIT_PENDING] = MEMORY_ALWAYS;
    bench->arena = arena_create();
    bench->store = memory_store_open(&bench->database);
    bench->store->still_pending = still_pending;
    bench->store->cls = bench;
    bench->replica = replica_create();
    struct err err = {.arena = bench->arena};
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

/* Another program commits the same contents. */
static void write_foreign(struct bench *bench)
{
    static struct tables tables;
    tables_copy(&tables, &bench->database.tables);
    memory_database_commit_foreign(&bench->database, &tables);
}

static bool step_reads(struct bench *bench, unsigned number)
{
    uint64_t newest = replica_newest(bench->replica)->node.birth;
    if (number == 1) {
        submit(bench, &bench->reader, NULL);
        submit(bench, &bench->prober, NULL);
    } else if (number == 2) {
        assert_true(bench->reader.is_answered);
        assert_true(bench->prober.is_answered);
        assert_true(bench->prober.probe.is_reached);
        write_foreign(bench);
        submit(bench, &bench->second, NULL);
    } else if (number < 5) {
        assert_false(bench->second.is_answered);
        assert_int_equal(newest, replica_newest(bench->replica)->node.birth);
    }
    return number < 5;
}

/* Reads are answered, unless they need news: memory does not change before the batch is decided. */
static void test_reads_meanwhile(void **state)
{
    struct bench *bench = *state;
    bench->step = step_reads;
    submit(bench, &bench->write, plan_trait);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->write.is_answered);
    assert_true(bench->second.is_answered);
    assert_int_equal(bench->write.request.err.status, 0);
    assert_int_equal(bench->second.request.err.status, 0);
    assert_int_equal(pipeline_figures(bench->pipeline).taken, 1);
    assert_int_equal(bench->database.tables.rows[TABLE_TRAITS].count, 1);
    assert_int_equal(replica_newest(bench->replica)->traits.by_id.count, 1);
}

static bool step_give_up(struct bench *bench, unsigned number)
{
    assert_true(number <= 4);
    if (number == 3)
        pipeline_give_up(bench->pipeline);
    return true;
}

/* Without that, the batch would stay pending for ever. */
static void test_given_up(void **state)
{
    struct bench *bench = *state;
    bench->step = step_give_up;
    bench->database.faults.permille[MEMORY_COMMIT_UNKNOWN] = MEMORY_ALWAYS;
    submit(bench, &bench->write, plan_trait);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_int_equal(bench->write.request.err.status, 503);
    assert_non_null(strstr(bench->write.request.err.message.data, "not known whether"));
    assert_int_equal(replica_newest(bench->replica)->traits.by_id.count, 0);
}

static bool step_write(struct bench *bench, unsigned number)
{
    if (number == 1)
        submit(bench, &bench->second, plan_trait);
    if (number == 3) {
        assert_int_equal(bench->second.plans, 1);
        assert_int_equal(bench->second.traits_seen, 1);
        assert_int_equal(replica_newest(bench->replica)->traits.by_id.count, 0);
    }
    assert_false(bench->second.is_answered);
    return bench->write.is_answered ? number < 5 : number < 4;
}

static bool step_write_later(struct bench *bench, unsigned number)
{
    if (number == 1)
        submit(bench, &bench->second, plan_trait);
    assert_true(number == 1 || bench->second.plans == 0 || bench->write.is_answered);
    return number < 4;
}

/* Batches that are planned under the lock are planned one after the other. */
static void test_not_planned_ahead_of_the_lock(void **state)
{
    struct bench *bench = *state;
    bench->database.lock_order = MEMORY_LOCKS_FIRST;
    bench->step = step_write_later;
    submit(bench, &bench->write, plan_trait);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->write.is_answered);
    assert_int_equal(bench->second.plans, 0);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->second.is_answered);
    assert_int_equal(bench->second.request.err.status, 0);
    assert_int_equal(bench->second.plans, 1);
    assert_int_equal(bench->database.tables.rows[TABLE_TRAITS].count, 2);
}

/* A request that arrives is planned on what is on its way, and answered after its own commit. */
static void test_planned_ahead(void **state)
{
    struct bench *bench = *state;
    bench->step = step_write;
    submit(bench, &bench->write, plan_trait);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->write.is_answered);
    assert_false(bench->second.is_answered);
    assert_int_equal(replica_newest(bench->replica)->traits.by_id.count, 1);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->second.is_answered);
    assert_int_equal(bench->second.request.err.status, 0);
    assert_int_equal(bench->second.plans, 1);
    assert_int_equal(bench->database.tables.rows[TABLE_TRAITS].count, 2);
    assert_int_equal(replica_newest(bench->replica)->traits.by_id.count, 2);
    assert_false(pipeline_run_once(bench->pipeline));
}

static bool step_fail(struct bench *bench, unsigned number)
{
    if (number == 1)
        submit(bench, &bench->second, plan_refused);
    bench->database.faults.permille[MEMORY_COMMIT_FAILS] = number == 3 ? MEMORY_ALWAYS : 0;
    assert_false(bench->second.is_answered);
    return number < 3;
}

/* A refusal that rests on what was never committed is not answered: it is planned again. */
static void test_planned_on_nothing(void **state)
{
    struct bench *bench = *state;
    bench->step = step_fail;
    submit(bench, &bench->write, plan_trait);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_int_equal(bench->write.request.err.status, 503);
    assert_false(bench->second.is_answered);
    assert_int_equal(bench->second.plans, 1);
    assert_int_equal(bench->second.traits_seen, 1);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_true(bench->second.is_answered);
    assert_int_equal(bench->second.request.err.status, 0);
    assert_int_equal(bench->second.plans, 2);
    assert_int_equal(bench->second.traits_seen, 0);
    assert_int_equal(bench->database.tables.rows[TABLE_TRAITS].count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads_meanwhile, setup, teardown),
        cmocka_unit_test_setup_teardown(test_given_up, setup, teardown),
        cmocka_unit_test_setup_teardown(test_planned_ahead, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_planned_ahead_of_the_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_planned_on_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
