/* The page that says whether the process is alive, while the writer works and while it is stuck. */
#include <semaphore.h>

#include "api/admin/admin_internal.h"
#include "api/api.h"
#include "api/fake_request.h"
#include "api/services/readiness.h"
#include "await.h"
#include "engine/bench.h"
#include "fake_clock.h"
#include "unit.h"

static sem_t planning;
static sem_t release;

static bool plan_stuck(struct pipeline_request *request, const struct plan *plan)
{
    (void)plan;
    sem_post(&planning);
    while (sem_wait(&release) != 0)
        continue;
    return err_set(&request->err, 409, NULL, "was stuck");
}

static void done(struct pipeline_request *request)
{
    (void)request;
    sem_post(&planning);
}

static void await_planning(void)
{
    while (sem_wait(&planning) != 0)
        continue;
}

/* Asks for the page, as JSON or as text. */
static void expect(struct admin *admin, bool as_json, int status, const char *begins)
{
    struct fake_request fake;
    fake_request_open(&fake, admin->api);
    if (as_json)
        fake_request_header(&fake, "Accept", SLICE_LIT("application/json"));
    struct http_exchange *http = &fake.exchange.http;
    health_write_alive(admin, http);
    assert_int_equal(http->status, status);
    struct slice page = arena_copy(fake.arena, buf_slice(&http->out));
    if (!slice_starts_with(page, slice_of(begins)))
        fail_msg("%s", page.data);
    fake_request_close(&fake);
}

static void alive(void **state)
{
    (void)state;
    assert_int_equal(sem_init(&planning, 0, 0), 0);
    assert_int_equal(sem_init(&release, 0, 0), 0);
    struct bench *bench = bench_open();
    const struct api api = {.pipeline = bench->pipeline};
    struct admin admin = {.api = &api};
    struct pipeline_request stuck = {
        .plan = plan_stuck, .done = done, .err = {.arena = bench->arena}};
    expect(&admin, false, 200, "alive\n");
    expect(&admin, true, 200, "{\"alive\": true, \"writer_silence_seconds\": ");
    pipeline_submit(bench->pipeline, &stuck);
    await_planning();
    fake_clock_stop();
    fake_clock_add_us(ALIVE_MOST_S * 500000);
    expect(&admin, false, 200, "alive\n");
    fake_clock_add_us(ALIVE_MOST_S * 1000000);
    expect(&admin, false, 503, "stuck: the writer has given no sign of life for 4");
    expect(&admin, true, 503, "{\"alive\": false, \"writer_silence_seconds\": 4");
    fake_clock_run();
    sem_post(&release);
    await_planning();
    AWAIT(pipeline_figures(bench->pipeline).silent_us < 1000000);
    expect(&admin, false, 200, "alive\n");
    bench_close(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
