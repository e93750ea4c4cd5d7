/* Another program writes each time that it can while a batch is about to be planned under the lock:
 * memory is compared with everything only while the lock is free, which the memory store checks,
 * and at last the batch is planned without it. */
#include <stdlib.h>

#include "memory_store/memory_store.h"
#include "unit.h"

#include "base/arena.h"
#include "engine/pipeline.h"

enum { WRITES_EACH = 3 }; /* before the lock, before a read without it, and after that read */

struct ask {
    struct pipeline_request request; /* first */
    struct memory_database database;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    unsigned writes_left; /* of the other program */
    bool was_locked;      /* when it was planned */
    unsigned answers;
};

static void write_foreign(void *cls, struct memory_database *database)
{
    struct ask *ask = cls;
    if (ask->writes_left == 0)
        return;
    ask->writes_left--;
    memory_database_commit_foreign(database, &database->tables);
}

static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    struct ask *ask = (struct ask *)request;
    ask->was_locked = ask->store->is_locked;
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){store_next_id(plan->store, STORE_TRAITS), SLICE_LIT("CUSTOM_T")};
    return true;
}

static void answered(struct pipeline_request *request)
{
    ((struct ask *)request)->answers++;
}

static int setup(void **state)
{
    struct ask *ask = calloc(1, sizeof(*ask));
    assert_non_null(ask);
    ask->request = (struct pipeline_request){
        .plan = plan_trait, .done = answered, .max_rows = 1, .err = {.arena = arena_create()}};
    memory_database_init(&ask->database);
    ask->database.cls = ask;
    ask->database.foreign_write = write_foreign;
    ask->database.lock_order = MEMORY_LOCKS_FIRST;
    ask->database.checks_loads = true;
    ask->store = memory_store_open(&ask->database);
    ask->replica = replica_create();
    ask->pipeline = pipeline_create(ask->store, ask->replica, NULL, &ask->request.err);
    assert_non_null(ask->pipeline);
    ask->database.faults.permille[MEMORY_FOREIGN_WRITE] = MEMORY_ALWAYS;
    *state = ask;
    return 0;
}

static int teardown(void **state)
{
    struct ask *ask = *state;
    pipeline_destroy(ask->pipeline);
    replica_destroy(ask->replica);
    store_close(ask->store);
    memory_database_free(&ask->database);
    arena_destroy(ask->request.err.arena);
    free(ask);
    return 0;
}

/* Returns how often everything was read. */
static uint64_t run(struct ask *ask, unsigned writes)
{
    uint64_t before = pipeline_figures(ask->pipeline).reloads;
    ask->writes_left = writes;
    pipeline_submit(ask->pipeline, &ask->request);
    assert_true(pipeline_run_once(ask->pipeline));
    assert_int_equal(ask->answers, 1);
    assert_false(err_is_set(&ask->request.err));
    assert_int_equal(ask->database.tables.rows[TABLE_TRAITS].count, 1);
    return pipeline_figures(ask->pipeline).reloads - before;
}

static void others_write_once(void **state)
{
    struct ask *ask = *state;
    assert_int_equal(run(ask, 1), 1);
    assert_true(ask->was_locked);
}

static void others_write_each_time(void **state)
{
    struct ask *ask = *state;
    assert_int_equal(run(ask, 3 * WRITES_EACH - 1), 3); /* not after the last read */
    assert_false(ask->was_locked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(others_write_once, setup, teardown),
        cmocka_unit_test_setup_teardown(others_write_each_time, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
