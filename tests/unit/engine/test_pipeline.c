/* The pipeline on a file that other processes lock, write and take away. */
#include "engine/bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "await.h"
#include "base/clock.h"
#include "fake_clock.h"
#include "replica/apply.h"
#include "unit.h"

struct ask {
    struct pipeline_request request;
    struct bench *bench;
    const char *trait; /* to be inserted */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    uint64_t answered_at_us; /* 0: not yet */
    bool known;              /* the trait "CUSTOM_NEWS", to the version at that time */
};

static int setup(void **state)
{
    *state = bench_open();
    return 0;
}

static int teardown(void **state)
{
    fake_clock_run();
    bench_close(*state);
    return 0;
}

static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    const struct ask *ask = (const struct ask *)request;
    struct change *change = change_append(plan->changes, CHANGE_TRAIT_INSERT);
    change->catalog.id = store_next_id(plan->store, STORE_TRAITS);
    change->catalog.name = slice_of(ask->trait);
    return true;
}

static bool knows(const struct version *version, const char *trait)
{
    return catalog_find(&version->traits, slice_of(trait)) != NULL;
}

static void answered(struct pipeline_request *request)
{
    struct ask *ask = (struct ask *)request;
    pthread_mutex_lock(&ask->lock);
    ask->known = knows(replica_newest(ask->bench->replica), "CUSTOM_NEWS");
    ask->answered_at_us = clock_monotonic_us();
    pthread_cond_signal(&ask->answered);
    pthread_mutex_unlock(&ask->lock);
}

static void submit_plan(struct bench *bench, struct ask *ask, pipeline_plan *plan)
{
    ask->request.plan = plan;
    ask->request.done = answered;
    ask->request.err = (struct err){.arena = bench->arena};
    ask->answered_at_us = 0;
    pthread_mutex_init(&ask->lock, NULL);
    pthread_cond_init(&ask->answered, NULL);
    pipeline_submit(bench->pipeline, &ask->request);
}

static void submit(struct bench *bench, struct ask *ask, const char *trait)
{
    *ask = (struct ask){.bench = bench, .trait = trait};
    submit_plan(bench, ask, trait == NULL ? NULL : plan_trait);
}

static void submit_probe(struct bench *bench, struct ask *ask, struct pipeline_probe *probe)
{
    ask->request.probe = probe;
    submit_plan(bench, ask, NULL);
}

/* How long it took; the request's status is in its err. */
static uint64_t await(struct ask *ask, uint64_t since_us)
{
    pthread_mutex_lock(&ask->lock);
    while (ask->answered_at_us == 0)
        pthread_cond_wait(&ask->answered, &ask->lock);
    pthread_mutex_unlock(&ask->lock);
    pthread_cond_destroy(&ask->answered);
    pthread_mutex_destroy(&ask->lock);
    return ask->answered_at_us - since_us;
}

static bool is_answered(struct ask *ask)
{
    pthread_mutex_lock(&ask->lock);
    bool is = ask->answered_at_us != 0;
    pthread_mutex_unlock(&ask->lock);
    return is;
}

/* Once the writer has taken what was submitted, it waits for a lock that somebody else holds. */
static bool is_taken(struct bench *bench)
{
    return pipeline_figures(bench->pipeline).queued == 0;
}

/* A while of waiting for a lock passes. */
static bool is_answered_later(struct ask *ask)
{
    fake_clock_add_us(BENCH_BUSY_MS * 1000 / 20);
    return is_answered(ask);
}

/* The next upkeep is due, and is over. */
static void wait_for_upkeep(struct bench *bench)
{
    uint64_t turns = pipeline_iterations(bench->pipeline);
    fake_clock_add_us(100000);
    AWAIT(pipeline_iterations(bench->pipeline) > turns);
    fake_clock_add_us(100000);
    AWAIT(pipeline_iterations(bench->pipeline) > turns + 1);
}

static void test_reads_go_on_under_a_lock(void **state)
{
    struct bench *bench = *state;
    struct ask read;
    bench_shell(bench, "INSERT INTO traits (name) VALUES ('CUSTOM_NEWS'); BEGIN IMMEDIATE;"
                       "DELETE FROM traits WHERE name = 'CUSTOM_NEWS'");
    for (int i = 0; i < 3; i++) {
        submit(bench, &read, NULL);
        await(&read, 0);
        assert_false(err_is_set(&read.request.err));
        assert_true(read.known);
    }
    /* A lock that is held for too long refuses the write and nothing else. */
    struct ask write;
    uint64_t began_us = clock_monotonic_us();
    submit(bench, &write, "CUSTOM_MINE");
    AWAIT(is_answered_later(&write));
    assert_true(await(&write, began_us) >= BENCH_BUSY_MS * 1000);
    assert_int_equal(write.request.err.status, 503);
    submit(bench, &read, NULL);
    await(&read, 0);
    assert_false(err_is_set(&read.request.err));
    bench_shell(bench, "COMMIT");
    submit(bench, &write, "CUSTOM_MINE");
    submit(bench, &read, NULL);
    await(&write, 0);
    await(&read, 0);
    assert_false(err_is_set(&write.request.err) || err_is_set(&read.request.err));
    assert_false(read.known);
    assert_true(knows(replica_newest(bench->replica), "CUSTOM_MINE"));
}

/* In one batch with a write that waits for the lock, a read is answered first. */
static void test_reads_of_a_batch_go_first(void **state)
{
    struct bench *bench = *state;
    struct ask first;
    struct ask write;
    struct ask read;
    bench_shell(bench, "BEGIN IMMEDIATE");
    submit(bench, &first, "CUSTOM_ONE"); /* the writer waits in here */
    AWAIT(is_taken(bench));
    submit(bench, &write, "CUSTOM_TWO");
    submit(bench, &read, NULL);
    bench_shell(bench, "INSERT INTO traits (name) VALUES ('CUSTOM_NEWS')");
    await(&read, 0);
    assert_false(err_is_set(&read.request.err));
    assert_false(read.known);
    assert_false(is_answered(&first) || is_answered(&write));
    AWAIT(is_answered_later(&write));
    await(&first, 0);
    await(&write, 0);
    assert_int_equal(first.request.err.status, 503);
    assert_int_equal(write.request.err.status, 503);
    bench_shell(bench, "COMMIT");
    submit(bench, &read, NULL);
    await(&read, 0);
    assert_true(read.known);
}

/* Reads that come while a write waits for the lock are answered meanwhile, with what is new. */
static void test_reads_do_not_wait_with_a_write(void **state)
{
    struct bench *bench = *state;
    struct ask write;
    struct ask reads[3];
    bench_shell(bench, "INSERT INTO traits (name) VALUES ('CUSTOM_NEWS'); BEGIN IMMEDIATE");
    submit(bench, &write, "CUSTOM_MINE");
    AWAIT(is_taken(bench));
    for (int i = 0; i < 3; i++) {
        submit(bench, &reads[i], NULL);
        await(&reads[i], 0);
        fake_clock_add_us(BENCH_BUSY_MS * 1000 / 5);
        assert_false(err_is_set(&reads[i].request.err));
        assert_true(reads[i].known);
    }
    assert_false(is_answered(&write));
    bench_shell(bench, "COMMIT");
    await(&write, 0);
    assert_false(err_is_set(&write.request.err));
    /* The next wait is as long as the first could have been. */
    bench_shell(bench, "BEGIN IMMEDIATE");
    uint64_t began_us = clock_monotonic_us();
    submit(bench, &write, "CUSTOM_LATE");
    AWAIT(is_answered_later(&write));
    assert_true(await(&write, began_us) >= BENCH_BUSY_MS * 1000);
    assert_int_equal(write.request.err.status, 503);
    bench_shell(bench, "COMMIT");
}

/* What a foreign writer wrote is read once, and a write is planned on it. */
static void test_write_after_a_foreign_writer(void **state)
{
    struct bench *bench = *state;
    for (int i = 0; i < 3; i++) {
        struct ask write;
        struct pipeline_figures before = pipeline_figures(bench->pipeline);
        char name[32];
        snprintf(name, sizeof(name), "CUSTOM_%d", i);
        bench_shell(bench, i == 0 ? "INSERT INTO traits (id, name) VALUES (100000, 'CUSTOM_NEWS')"
                                  : "UPDATE traits SET id = id + 1000 WHERE name = 'CUSTOM_NEWS'");
        submit(bench, &write, name);
        await(&write, 0);
        assert_false(err_is_set(&write.request.err));
        assert_true(write.known);
        assert_true(knows(replica_newest(bench->replica), name));
        struct pipeline_figures after = pipeline_figures(bench->pipeline);
        assert_int_equal(after.reloads - before.reloads, 1);
        assert_int_equal(after.commits - before.commits, 1);
    }
}

/* The file is taken away: nothing can be answered; put back, everything goes on. */
static void test_file_gone(void **state)
{
    struct bench *bench = *state;
    struct ask ask;
    char away[128];
    snprintf(away, sizeof(away), "%s-away", bench->path);
    assert_int_equal(rename(bench->path, away), 0);
    wait_for_upkeep(bench); /* notices */
    submit(bench, &ask, NULL);
    await(&ask, 0);
    assert_int_equal(ask.request.err.status, 503);
    submit(bench, &ask, "CUSTOM_ONE");
    await(&ask, 0);
    assert_int_equal(ask.request.err.status, 503);
    assert_int_equal(rename(away, bench->path), 0);
    submit(bench, &ask, NULL);
    await(&ask, 0);
    assert_false(err_is_set(&ask.request.err));
    submit(bench, &ask, "CUSTOM_ONE");
    await(&ask, 0);
    assert_false(err_is_set(&ask.request.err));
}

/* Asks the database itself; the status is that of the request. */
static struct pipeline_probe probe(struct bench *bench, int status)
{
    struct pipeline_probe found;
    struct ask ask = {.bench = bench};
    submit_probe(bench, &ask, &found);
    await(&ask, 0);
    if (ask.request.err.status != status)
        print_error("%.*s\n", SLICE_ARG(ask.request.err.message));
    assert_int_equal(ask.request.err.status, status);
    return found;
}

/* A probe reads the database although memory seems to be as new, and follows what it finds. */
static void test_probes(void **state)
{
    struct bench *bench = *state;
    struct pipeline_probe found = probe(bench, 0);
    assert_true(found.is_reached && found.is_served && found.is_followed);
    assert_string_equal(found.revision, "a082b8bb98d0");
    uint64_t number = replica_figures(bench->replica).number;
    probe(bench, 0);
    assert_int_equal(replica_figures(bench->replica).number, number); /* nothing new, no version */
    assert_true(pipeline_figures(bench->pipeline).fresh_us < 5000000);
    bench_shell(bench, "INSERT INTO traits (name) VALUES ('CUSTOM_NEWS')");
    found = probe(bench, 0);
    assert_true(found.is_followed);
    assert_true(knows(replica_newest(bench->replica), "CUSTOM_NEWS"));
    /* a lock in the way of writes is none in the way of a probe, also while a write waits for it */
    struct ask write;
    bench_shell(bench, "BEGIN IMMEDIATE");
    submit(bench, &write, "CUSTOM_LATE");
    AWAIT(is_taken(bench));
    found = probe(bench, 0);
    assert_false(is_answered(&write));
    assert_true(found.is_reached && found.is_followed);
    bench_shell(bench, "COMMIT");
    await(&write, 0);
}

static void test_probes_find_faults(void **state)
{
    struct bench *bench = *state;
    bench_shell(bench, "UPDATE alembic_version SET version_num = 'b4ed3a175331'");
    struct pipeline_probe found = probe(bench, 503);
    assert_true(found.is_reached && !found.is_served && found.is_followed);
    assert_string_equal(found.revision, "b4ed3a175331");
    bench_shell(bench, "DELETE FROM alembic_version");
    found = probe(bench, 503);
    assert_true(found.is_reached && !found.is_served);
    assert_string_equal(found.revision, "");
    bench_shell(bench, "INSERT INTO alembic_version VALUES ('a082b8bb98d0');"
                       "ALTER TABLE inventories RENAME TO elsewhere");
    found = probe(bench, 503);
    assert_true(found.is_reached && found.is_served && !found.is_followed);
    assert_int_equal(pipeline_figures(bench->pipeline).outage, OUTAGE_ALL);
    bench_shell(bench, "ALTER TABLE elsewhere RENAME TO inventories");
    probe(bench, 0);
    assert_int_equal(pipeline_figures(bench->pipeline).outage, OUTAGE_NONE);
    char away[128];
    snprintf(away, sizeof(away), "%s-away", bench->path);
    assert_int_equal(rename(bench->path, away), 0);
    found = probe(bench, 503);
    assert_false(found.is_reached || found.is_followed);
    assert_int_equal(rename(away, bench->path), 0);
    probe(bench, 0);
}

static struct {
    atomic_bool is_held;
    atomic_bool is_busy;
} writer;

static bool plan_hold(struct pipeline_request *request, const struct plan *plan)
{
    (void)plan;
    writer.is_busy = true;
    while (writer.is_held)
        await_pause();
    return err_set(&request->err, 409, NULL, "held");
}

/* The writer's signs of life, and the database's figures. */
static void test_figures(void **state)
{
    struct bench *bench = *state;
    struct ask ask = {.bench = bench};
    fake_clock_stop();
    for (int i = 0; i < 3; i++)
        wait_for_upkeep(bench);
    assert_in_range(pipeline_figures(bench->pipeline).silent_us, 0, 100000);
    writer.is_held = true;
    submit_plan(bench, &ask, plan_hold);
    AWAIT(writer.is_busy);
    fake_clock_add_us(250000);
    assert_in_range(pipeline_figures(bench->pipeline).silent_us, 250000, 350000);
    writer.is_held = false;
    await(&ask, 0);
    struct store_figures before = store_figures(bench->store);
    submit(bench, &ask, "CUSTOM_ONE");
    await(&ask, 0);
    struct store_figures after = store_figures(bench->store);
    assert_int_equal(after.log_head, before.log_head + 1);
    assert_true(after.wal_bytes >= before.wal_bytes + 4096);
    assert_int_equal((after.wal_bytes - 32) % (4096 + 24), 0);
    assert_false(after.is_read_only);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads_go_on_under_a_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reads_of_a_batch_go_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reads_do_not_wait_with_a_write, setup, teardown),
        cmocka_unit_test_setup_teardown(test_write_after_a_foreign_writer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_probes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_probes_find_faults, setup, teardown),
        cmocka_unit_test_setup_teardown(test_figures, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
