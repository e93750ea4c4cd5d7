/* A database that must be asked: since when the newest version is known to be the newest state,
 * without a single query. A load, a read and a commit are knowledge, too. */
#include <stdlib.h>

#include "memory_store/memory_store.h"
#include "unit.h"

#include "base/arena.h"
#include "base/clock.h"
#include "engine/pipeline.h"
#include "fake_clock.h"

struct ask {
    struct pipeline_request request; /* first */
    struct memory_database database;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    uint64_t opened_us;
    unsigned answers;
};

static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
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
    ask->request.err.arena = arena_create();
    memory_database_init(&ask->database);
    ask->database.must_be_asked = true;
    ask->database.lock_order = MEMORY_LOCKS_NEVER;
    memory_database_commit_foreign(&ask->database, &ask->database.tables); /* stamps are not zero */
    ask->store = memory_store_open(&ask->database);
    ask->replica = replica_create();
    fake_clock_stop();
    fake_clock_add_us(1000000);
    ask->opened_us = clock_monotonic_us();
    ask->pipeline = pipeline_create(ask->store, ask->replica, NULL, &ask->request.err);
    assert_non_null(ask->pipeline);
    *state = ask;
    return 0;
}

static int teardown(void **state)
{
    struct ask *ask = *state;
    fake_clock_run();
    pipeline_destroy(ask->pipeline);
    replica_destroy(ask->replica);
    store_close(ask->store);
    memory_database_free(&ask->database);
    arena_destroy(ask->request.err.arena);
    free(ask);
    return 0;
}

/* Returns when the batch began, a second after whatever was before. */
static uint64_t run(struct ask *ask, pipeline_plan *plan)
{
    fake_clock_add_us(1000000);
    uint64_t began_us = clock_monotonic_us();
    ask->request = (struct pipeline_request){
        .plan = plan, .done = answered, .max_rows = 1, .err = {.arena = ask->request.err.arena}};
    pipeline_submit(ask->pipeline, &ask->request);
    assert_true(pipeline_run_once(ask->pipeline));
    return began_us;
}

static void assert_known(const struct ask *ask, uint64_t at_us)
{
    assert_in_range(pipeline_known_at_us(ask->pipeline), at_us, at_us + 999999);
}

static void a_load(void **state)
{
    const struct ask *ask = *state;
    assert_known(ask, ask->opened_us);
}

static void a_read(void **state)
{
    struct ask *ask = *state;
    assert_known(ask, run(ask, NULL)); /* nothing was new */
    memory_database_commit_foreign(&ask->database, &ask->database.tables);
    assert_known(ask, run(ask, NULL));
    assert_int_equal(ask->answers, 2);
}

static void a_commit(void **state)
{
    struct ask *ask = *state;
    assert_known(ask, run(ask, plan_trait));
    assert_int_equal(ask->answers, 1);
    assert_false(err_is_set(&ask->request.err));
}

static void not_what_failed(void **state)
{
    struct ask *ask = *state;
    ask->database.faults.permille[MEMORY_COMMIT_FAILS] = MEMORY_ALWAYS;
    (void)run(ask, plan_trait);
    ask->database.faults.permille[MEMORY_BEGIN_READ_FAILS] = MEMORY_ALWAYS;
    (void)run(ask, NULL);
    assert_int_equal(ask->request.err.status, 503);
    assert_known(ask, ask->opened_us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_load, setup, teardown),
        cmocka_unit_test_setup_teardown(a_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_commit, setup, teardown),
        cmocka_unit_test_setup_teardown(not_what_failed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
