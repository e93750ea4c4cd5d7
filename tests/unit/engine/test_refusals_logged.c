/* What is logged of requests that the database refuses: at most one line a minute, and then how
 * many were not logged. */
#include "logged_pipeline.h"
#include "unit.h"

#include "fake_clock.h"

static enum store_result refuse(void *cls, const struct change *change, const char **broken)
{
    (void)cls;
    (void)change;
    *broken = TABLES_UNIQUE "name";
    return STORE_REFUSED;
}

static int setup(void **state)
{
    fake_clock_stop();
    int rc = logged_pipeline_setup(state);
    struct logged_pipeline *bench = *state;
    bench->database.constraint = refuse;
    return rc;
}

static int teardown(void **state)
{
    int rc = logged_pipeline_teardown(state);
    fake_clock_run();
    return rc;
}

static void answered(struct pipeline_request *request)
{
    assert_int_equal(request->err.status, 409);
}

static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
    int64_t id = store_next_id(plan->store, STORE_TRAITS);
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){id, SLICE_LIT("CUSTOM_A")};
    return true;
}

static void be_refused(struct logged_pipeline *bench, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        struct pipeline_request request = {
            .plan = plan_trait, .done = answered, .max_rows = 1, .err = {.arena = bench->arena}};
        pipeline_submit(bench->pipeline, &request);
        assert_true(pipeline_run_once(bench->pipeline));
    }
}

/* Since the last time the log has got these lines: how many others were not logged (NULL: no such
 * line), and a refusal. */
static void expect_lines(struct logged_pipeline *bench, const char *others, bool has_refusal)
{
    char text[LOGGED_BYTES];
    size_t len = logged_pipeline_read(bench, text);
    const char *line = strstr(text, " more requests that the database refused were not logged\n");
    const char *refusal = strstr(text, "The database refused one request, which is answered with "
                                       "409: ");
    assert_int_equal(line != NULL, others != NULL);
    assert_int_equal(refusal != NULL, has_refusal);
    if (others != NULL) {
        assert_true(line < refusal);
        assert_memory_equal(line - strlen(others), others, strlen(others));
    }
    if (has_refusal)
        assert_ptr_equal(strchr(refusal, '\n'), text + len - 1);
}

static void one_line_a_minute(void **state)
{
    struct logged_pipeline *bench = *state;
    be_refused(bench, 1);
    expect_lines(bench, NULL, true);
    be_refused(bench, 3);
    fake_clock_advance_ms(59000);
    be_refused(bench, 4);
    expect_lines(bench, NULL, false);
    fake_clock_advance_ms(2000);
    be_refused(bench, 2);
    expect_lines(bench, " 7", true);
    fake_clock_advance_ms(61000);
    be_refused(bench, 1);
    expect_lines(bench, " 1", true);
    fake_clock_advance_ms(61000);
    be_refused(bench, 1);
    expect_lines(bench, NULL, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_line_a_minute, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
