/* A store whose other writers no lock orders. */
#include "memory_store/memory_store.h"
#include "unit.h"

#include "base/arena.h"
#include "engine/pipeline.h"
#include "replica/replica.h"

enum { WRITERS = 2 };

struct ask {
    struct pipeline_request request;
    const char *trait;
    unsigned answers;
};

struct writer {
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
};

struct bench {
    struct memory_database database;
    struct arena *arena;
    struct writer writers[WRITERS];
    struct ask other;
};

static bool plan(struct pipeline_request *request, const struct plan *plan)
{
    const struct ask *ask = (const struct ask *)request;
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){store_next_id(plan->store, STORE_TRAITS), slice_of(ask->trait)};
    return true;
}

static void answered(struct pipeline_request *request)
{
    assert_false(err_is_set(&request->err));
    ((struct ask *)request)->answers++;
}

static void submit(struct bench *bench, unsigned writer, struct ask *ask, const char *trait)
{
    *ask = (struct ask){.request = {.plan = plan, .done = answered, .err = {.arena = bench->arena}},
                        .trait = trait};
    pipeline_submit(bench->writers[writer].pipeline, &ask->request);
}

static int setup(void **state)
{
    static struct bench bench;
    bench = (struct bench){.arena = arena_create()};
    struct err err = {.arena = bench.arena};
    memory_database_init(&bench.database);
    for (int i = 0; i < WRITERS; i++) {
        struct writer *writer = &bench.writers[i];
        writer->store = memory_store_open(&bench.database);
        writer->replica = replica_create();
        writer->pipeline = pipeline_create(writer->store, writer->replica, NULL, &err);
        assert_non_null(writer->pipeline);
    }
    *state = &bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    for (int i = 0; i < WRITERS; i++) {
        pipeline_destroy(bench->writers[i].pipeline);
        replica_destroy(bench->writers[i].replica);
        store_close(bench->writers[i].store);
    }
    memory_database_free(&bench->database);
    arena_destroy(bench->arena);
    return 0;
}

/* A read under the lock that is not the only one: it is read again without the lock. */
static void test_overtaken_under_the_lock(void **state)
{
    struct bench *bench = *state;
    struct ask ask;
    bench->database.lock_order = MEMORY_LOCKS_FIRST;
    submit(bench, 1, &bench->other, "CUSTOM_OTHER");
    assert_true(pipeline_run_once(bench->writers[1].pipeline));
    bench->database.overtakes = 1;
    submit(bench, 0, &ask, "CUSTOM_OWN");
    assert_true(pipeline_run_once(bench->writers[0].pipeline));
    assert_int_equal(bench->database.overtakes, 0);
    assert_int_equal(ask.answers, 1);
    assert_int_equal(bench->database.tables.rows[TABLE_TRAITS].count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_overtaken_under_the_lock, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
