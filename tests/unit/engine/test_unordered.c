/* A store whose other writers no lock orders: batches wait for their turn, are planned on what the
 * others have written meanwhile, and not under the lock. */
#include "memory_store/memory_store.h"
#include "unit.h"

#include "base/arena.h"
#include "engine/pipeline.h"
#include "fake_clock.h"
#include "replica/replica.h"

enum { WAITS = 4, WRITERS = 2 };

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
    struct ask other, late;
    unsigned waits; /* for so long it is the other's turn */
    bool is_others; /* the other is writing */
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

/* memory_database.turn: the other one writes once while it is waited for. */
static struct store_turn turn_of(void *cls)
{
    struct bench *bench = cls;
    if (bench->is_others || bench->waits == 0)
        return (struct store_turn){.is_shared = !bench->is_others};
    if (--bench->waits == WAITS / 2) {
        bench->is_others = true;
        submit(bench, 1, &bench->other, "CUSTOM_OTHER");
        assert_true(pipeline_run_once(bench->writers[1].pipeline));
        bench->is_others = false;
        submit(bench, 0, &bench->late, "CUSTOM_LATE");
    }
    return (struct store_turn){.is_shared = true, .wait_us = 200, .look_us = 100};
}

static int setup(void **state)
{
    static struct bench bench;
    bench = (struct bench){.arena = arena_create()};
    struct err err = {.arena = bench.arena};
    memory_database_init(&bench.database);
    bench.database.cls = &bench;
    bench.database.turn = turn_of;
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

/* Whoever arrives meanwhile joins the batch. */
static void test_waits_for_its_turn(void **state)
{
    struct bench *bench = *state;
    struct ask ask;
    bench->database.lock_order = MEMORY_LOCKS_NEVER;
    bench->waits = WAITS;
    submit(bench, 0, &ask, "CUSTOM_OWN");
    assert_true(pipeline_run_once(bench->writers[0].pipeline));
    const struct pipeline_figures figures = pipeline_figures(bench->writers[0].pipeline);
    assert_int_equal(bench->waits, 0);
    assert_int_equal(ask.answers, 1);
    assert_int_equal(bench->other.answers, 1);
    assert_int_equal(bench->late.answers, 1);
    assert_int_equal(figures.commits, 1);
    assert_int_equal(figures.taken, 0);
    assert_int_equal(bench->database.tables.rows[TABLE_TRAITS].count, 3);
}

/* The lock would not keep the others from writing. */
static void test_takes_no_lock(void **state)
{
    struct bench *bench = *state;
    struct ask ask;
    bench->database.faults.permille[MEMORY_LOCK_FAILS] = MEMORY_ALWAYS;
    bench->database.lock_order = MEMORY_LOCKS_FIRST;
    submit(bench, 0, &ask, "CUSTOM_OWN");
    assert_true(pipeline_run_once(bench->writers[0].pipeline));
    assert_int_equal(ask.answers, 1);
}

/* A read under the lock that is not the only one: it is read again without the lock. */
static void test_overtaken_under_the_lock(void **state)
{
    struct bench *bench = *state;
    struct ask ask;
    bench->database.turn = NULL;
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

enum { ENDED = 5 };

/* Another writer's news are read as often as the database ends the read, with the lock or without
 * it, until there are none any more. */
static void test_read_is_ended(void **state)
{
    static const struct {
        enum memory_lock_order order;
        enum memory_fault news; /* a follow, a merge, or a load after that */
    } cases[] = {
        {MEMORY_LOCKS_NEVER, MEMORY_FAULT_COUNT},    {MEMORY_LOCKS_NEVER, MEMORY_LOG_TRIMMED},
        {MEMORY_LOCKS_NEVER, MEMORY_MERGE_GIVEN_UP}, {MEMORY_LOCKS_FIRST, MEMORY_FAULT_COUNT},
        {MEMORY_LOCKS_FIRST, MEMORY_LOG_TRIMMED},
    };
    struct bench *bench = *state;
    size_t traits = bench->database.tables.rows[TABLE_TRAITS].count;
    bench->database.turn = NULL;
    fake_clock_rush(true);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ask ask;
        memset(&bench->database.faults, 0, sizeof(bench->database.faults));
        bench->database.lock_order = cases[i].order;
        submit(bench, 1, &bench->other,
               arena_printf(bench->arena, "CUSTOM_OTHER_%zu%c", i, 0).data);
        assert_true(pipeline_run_once(bench->writers[1].pipeline));
        if (cases[i].news != MEMORY_FAULT_COUNT)
            bench->database.faults.permille[MEMORY_LOG_TRIMMED] = MEMORY_ALWAYS;
        if (cases[i].news == MEMORY_MERGE_GIVEN_UP)
            bench->database.faults.permille[MEMORY_MERGE_GIVEN_UP] = MEMORY_ALWAYS;
        bench->database.ended_reads = ENDED;
        submit(bench, 0, &ask, arena_printf(bench->arena, "CUSTOM_OWN_%zu%c", i, 0).data);
        assert_true(pipeline_run_once(bench->writers[0].pipeline));
        assert_int_equal(bench->database.ended_reads, 0);
        assert_int_equal(ask.answers, 1);
        traits += 2;
        assert_int_equal(bench->database.tables.rows[TABLE_TRAITS].count, traits);
    }
    fake_clock_rush(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read_is_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waits_for_its_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(test_takes_no_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overtaken_under_the_lock, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
