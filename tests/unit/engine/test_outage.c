/* What is logged about a database that fails and works again. */
#include "logged_pipeline.h"
#include "unit.h"

#include <limits.h>
#include <stdio.h>

#include "fake_clock.h"

static int setup(void **state)
{
    int rc = logged_pipeline_setup(state);
    struct logged_pipeline *bench = *state;
    bench->database.stamps_never_current = true;
    return rc;
}

static void answered(struct pipeline_request *request)
{
    (void)request;
}

static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
    int64_t id = store_next_id(plan->store, STORE_TRAITS);
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){id, arena_printf(plan->arena, "CUSTOM_%ld", id)};
    return true;
}

static bool plan_refuse(struct pipeline_request *request, const struct plan *plan)
{
    (void)plan;
    return err_set(&request->err, 404, NULL, "no");
}

/* Asks three times; all are answered with that status (0: no error). */
static void ask(struct logged_pipeline *bench, pipeline_plan *plan, int status)
{
    for (int i = 0; i < 3; i++) {
        struct pipeline_request request = {
            .plan = plan, .done = answered, .err = {.arena = bench->arena}};
        pipeline_submit(bench->pipeline, &request);
        assert_true(pipeline_run_once(bench->pipeline));
        assert_int_equal(request.err.status, status);
    }
}

/* Since the last time the log has got one such line, or none (NULL). */
static void expect_line(struct logged_pipeline *bench, const char *level_and_text)
{
    char text[LOGGED_BYTES];
    char expected[256];
    size_t len = logged_pipeline_read(bench, text);
    if (level_and_text == NULL) {
        assert_string_equal(text, "");
        return;
    }
    const char *level = strstr(text, level_and_text[0] == 'E' ? "ERROR" : "INFO");
    assert_non_null(level);
    snprintf(expected, sizeof(expected), "%s\n", level_and_text);
    assert_string_equal(level, expected);
    assert_ptr_equal(strchr(text, '\n'), text + len - 1);
}

#define WORKS  "INFO berth [-] the database works again"
#define WRITES "ERROR berth [-] writes are answered 503 from now on: the database in memory "
#define ALL    "ERROR berth [-] reads and writes are answered 503 from now on: the database in memory "

/* The fault strikes from now on, for that reason; NULL: never. */
static void set_fault(struct logged_pipeline *bench, enum memory_fault fault, const char *reason)
{
    bench->database.faults.permille[fault] = reason == NULL ? 0 : MEMORY_ALWAYS;
    bench->database.faults.reason[fault] = reason;
}

static void set_begin_fault(struct logged_pipeline *bench, const char *reason)
{
    set_fault(bench, MEMORY_BEGIN_READ_FAILS, reason);
    set_fault(bench, MEMORY_LOCK_FAILS, reason);
}

static void test_reads_fail(void **state)
{
    struct logged_pipeline *bench = *state;
    ask(bench, NULL, 0);
    ask(bench, plan_trait, 0);
    expect_line(bench, NULL);
    set_begin_fault(bench, "is gone");
    ask(bench, NULL, 503);
    expect_line(bench, ALL "is gone");
    ask(bench, plan_trait, 503);
    ask(bench, NULL, 503);
    expect_line(bench, NULL);
    set_begin_fault(bench, NULL);
    ask(bench, NULL, 0);
    expect_line(bench, WORKS);
    ask(bench, plan_trait, 0);
    expect_line(bench, NULL);
    /* In the other order it is also logged once. */
    set_begin_fault(bench, "is gone");
    ask(bench, plan_trait, 503);
    expect_line(bench, WRITES "is gone");
    ask(bench, NULL, 503);
    expect_line(bench, NULL);
    set_begin_fault(bench, NULL);
    ask(bench, plan_trait, 0);
    expect_line(bench, WORKS);
}

static void test_load_fails(void **state)
{
    struct logged_pipeline *bench = *state;
    memory_store_forget(bench->store);
    set_fault(bench, MEMORY_READ_FAILS, "cannot be used: no such table: inventories");
    ask(bench, plan_trait, 503);
    expect_line(bench, ALL "cannot be used: no such table: inventories");
    ask(bench, NULL, 503);
    expect_line(bench, NULL);
    set_fault(bench, MEMORY_READ_FAILS, NULL);
    ask(bench, NULL, 0);
    expect_line(bench, WORKS);
}

/* Others change the schema, and each change ends the read: it is tried again for a while. */
static void test_reads_are_ended(void **state)
{
    struct logged_pipeline *bench = *state;
    fake_clock_rush(true);
    memory_store_forget(bench->store);
    bench->database.ended_reads = 100;
    ask(bench, NULL, 0);
    expect_line(bench, NULL);
    memory_store_forget(bench->store);
    bench->database.ended_reads = UINT_MAX;
    ask(bench, NULL, 503);
    expect_line(bench, ALL "the read was ended");
    ask(bench, plan_trait, 503);
    expect_line(bench, NULL);
    bench->database.ended_reads = 0;
    ask(bench, NULL, 0);
    expect_line(bench, WORKS);
    fake_clock_rush(false);
}

/* Reads in between work, and so does a write that has nothing to write. */
static void expect_writes_logged(struct logged_pipeline *bench, enum memory_fault fault)
{
    set_fault(bench, fault, "cannot be written");
    ask(bench, plan_trait, 503);
    expect_line(bench, WRITES "cannot be written");
    ask(bench, NULL, 0);
    ask(bench, plan_trait, 503);
    expect_line(bench, NULL);
    /* Something worse comes. */
    set_fault(bench, MEMORY_BEGIN_READ_FAILS, "cannot be read");
    ask(bench, NULL, 503);
    expect_line(bench, ALL "cannot be read");
    set_fault(bench, fault, NULL);
    set_fault(bench, MEMORY_BEGIN_READ_FAILS, NULL);
    ask(bench, plan_trait, 0);
    expect_line(bench, WORKS);
    ask(bench, NULL, 0);
    ask(bench, plan_refuse, 404);
    expect_line(bench, NULL);
}

static void test_writes_fail(void **state)
{
    struct logged_pipeline *bench = *state;
    expect_writes_logged(bench, MEMORY_LOCK_FAILS);
    expect_writes_logged(bench, MEMORY_APPLY_FAILS);
    expect_writes_logged(bench, MEMORY_COMMIT_FAILS);
    expect_writes_logged(bench, MEMORY_COMMIT_UNKNOWN);
    set_fault(bench, MEMORY_APPLY_FAILS, "is full");
    ask(bench, plan_trait, 503);
    expect_line(bench, WRITES "is full");
    ask(bench, plan_refuse, 404);
    expect_line(bench, NULL);
}

static bool plan_refuse_claim(struct pipeline_request *request, const struct plan *plan)
{
    (void)plan;
    err_set(&request->err, 409, NULL, "no");
    return err_of_kind(&request->err, REFUSED_CAPACITY);
}

/* What metrics tell of the same. */
static void test_figures(void **state)
{
    struct logged_pipeline *bench = *state;
    ask(bench, plan_trait, 0);
    ask(bench, plan_refuse, 404);
    ask(bench, plan_refuse_claim, 409);
    struct pipeline_figures figures = pipeline_figures(bench->pipeline);
    assert_int_equal(figures.refused[REFUSED_OTHERWISE], 3);
    assert_int_equal(figures.refused[REFUSED_CAPACITY], 3);
    assert_int_equal(figures.refused[REFUSED_CONSUMER_GENERATION], 0);
    assert_int_equal(figures.refused[REFUSED_BY_DATABASE], 0);
    assert_int_equal(figures.outage, OUTAGE_NONE);
    assert_int_equal(histogram_count(&figures.commit_us), 3);
    assert_int_equal(figures.commits, 3);
    assert_int_equal(figures.batch_requests.buckets[0], 9); /* each alone */
    assert_int_equal(figures.batch_requests.sum, 9);
    assert_true(figures.arena_bytes > 0);

    set_fault(bench, MEMORY_LOCK_FAILS, "is locked");
    ask(bench, plan_trait, 503);
    figures = pipeline_figures(bench->pipeline);
    assert_int_equal(figures.outage, OUTAGE_WRITES);
    assert_int_equal(figures.outages[OUTAGE_WRITES], 1);
    assert_int_equal(figures.refused[REFUSED_BY_DATABASE], 3);
    set_fault(bench, MEMORY_BEGIN_READ_FAILS, "is gone");
    ask(bench, NULL, 503);
    figures = pipeline_figures(bench->pipeline);
    assert_int_equal(figures.outage, OUTAGE_ALL);
    assert_int_equal(figures.outages[OUTAGE_ALL], 1);
    assert_int_equal(figures.refused[REFUSED_BY_DATABASE], 3); /* that was no write */
    set_begin_fault(bench, NULL);
    ask(bench, plan_trait, 0);
    set_fault(bench, MEMORY_LOCK_FAILS, "is locked");
    ask(bench, plan_trait, 503);
    figures = pipeline_figures(bench->pipeline);
    assert_int_equal(figures.outages[OUTAGE_WRITES], 2);
    assert_int_equal(figures.outages[OUTAGE_ALL], 1);
}

/* Requests that were queued together are one batch; those that only wait are none of it. */
static void test_figures_of_batches(void **state)
{
    struct logged_pipeline *bench = *state;
    struct pipeline_request requests[8];
    for (int i = 0; i < 8; i++) {
        requests[i] = (struct pipeline_request){
            .plan = i == 0 ? NULL : plan_trait, .done = answered, .err = {.arena = bench->arena}};
        pipeline_submit(bench->pipeline, &requests[i]);
    }
    assert_int_equal(pipeline_figures(bench->pipeline).queued, 8);
    assert_true(pipeline_run_once(bench->pipeline));
    struct pipeline_figures figures = pipeline_figures(bench->pipeline);
    assert_int_equal(figures.queued, 0);
    assert_int_equal(figures.batch_requests.sum, 7);
    assert_int_equal(histogram_count(&figures.batch_requests), 1);
    assert_int_equal(figures.batch_requests.buckets[histogram_bucket(&PIPELINE_BATCH_SHAPE, 7)], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads_fail, setup, logged_pipeline_teardown),
        cmocka_unit_test_setup_teardown(test_reads_are_ended, setup, logged_pipeline_teardown),
        cmocka_unit_test_setup_teardown(test_load_fails, setup, logged_pipeline_teardown),
        cmocka_unit_test_setup_teardown(test_writes_fail, setup, logged_pipeline_teardown),
        cmocka_unit_test_setup_teardown(test_figures, setup, logged_pipeline_teardown),
        cmocka_unit_test_setup_teardown(test_figures_of_batches, setup, logged_pipeline_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
