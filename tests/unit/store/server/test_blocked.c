/* The writer while the server does not answer: it is not stuck, answers what it can, and stops long
 * before the time limit. */
#include <stdatomic.h>
#include <stdlib.h>

#include "await.h"
#include "base/clock.h"
#include "engine/pipeline.h"
#include "engine/plan.h"
#include "peer.h"
#include "swallower.h"

enum {
    LIMIT_MS = 120000,  /* of the store: nothing here may take that long */
    STOP_US = 30000000, /* nor, on a busy machine, that */
    BEATS = 5,
};

static const char TAKEN[] = "CUSTOM_TAKEN";

struct request {
    struct pipeline_request base; /* first */
    _Atomic bool is_answered;
};

/* A pipeline whose connections go through the proxy. */
struct world {
    struct fixture *fixture;
    struct swallower *swallower;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct request write, read, covered;
};

static void answered(struct pipeline_request *base)
{
    ((struct request *)base)->is_answered = true;
}

static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
    int64_t id = store_next_id(plan->store, STORE_TRAITS);
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){id, SLICE_LIT(TAKEN)};
    return true;
}

static void submit(struct world *world, struct request *request,
                   bool (*plan)(struct pipeline_request *request, const struct plan *plan),
                   const struct store_stamp *head)
{
    request->base = (struct pipeline_request){.plan = plan,
                                              .head = head,
                                              .done = answered,
                                              .max_rows = 1,
                                              .err = {.arena = world->fixture->arena}};
    pipeline_submit(world->pipeline, &request->base);
}

/* The URL of the proxy in front of the test's server. */
static const char *start_proxy(struct world *world)
{
    struct slice url = slice_of(world->fixture->url);
    const struct slice before = slice_cut(&url, '@');
    const struct slice address = slice_cut(&url, '/');
    const struct slice database = slice_cut(&url, '?');
    const char *socket_path = fixture_is_mariadb() ? strchr(url.data, '=') + 1 : NULL;
    const char *port = fixture_is_mariadb() ? "0" : strchr(address.data, ':') + 1;
    world->swallower = swallower_start(atoi(port), socket_path);
    return arena_printf(world->fixture->arena, "%.*s@127.0.0.1:%d/%.*s", SLICE_ARG(before),
                        swallower_port(world->swallower), SLICE_ARG(database))
        .data;
}

static struct world *open_world(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world->fixture = *state;
    store_close(fixture_open(world->fixture));
    world->fixture->busy_timeout_ms = LIMIT_MS;
    world->store = fixture_try(world->fixture, start_proxy(world), true, true);
    if (world->store == NULL)
        print_error("%.*s\n", SLICE_ARG(world->fixture->err.message));
    assert_non_null(world->store);
    world->replica = replica_create();
    return world;
}

static void start(struct world *world)
{
    world->pipeline = pipeline_start(world->store, world->replica, NULL, &world->fixture->err);
    assert_non_null(world->pipeline);
}

static void close_world(struct world *world)
{
    uint64_t began_us = clock_monotonic_us();
    replica_destroy(world->replica);
    store_close(world->store);
    assert_true(clock_monotonic_us() - began_us < STOP_US);
    swallower_stop(world->swallower);
    free(world);
}

/* The writer waits for an answer to the request. */
static void expect_blocked(struct world *world, const struct request *request)
{
    AWAIT(swallower_has_swallowed(world->swallower));
    uint64_t turns = pipeline_iterations(world->pipeline);
    AWAIT(pipeline_iterations(world->pipeline) > turns + BEATS);
    assert_false(request->is_answered);
}

static void stop(struct world *world, const struct request *request)
{
    uint64_t began_us = clock_monotonic_us();
    pipeline_stop(world->pipeline);
    assert_true(clock_monotonic_us() - began_us < STOP_US);
    assert_true(request->is_answered);
    close_world(world);
}

static void expect_refused(const struct request *request)
{
    assert_int_equal(request->base.err.status, 503);
}

static void test_news(void **state)
{
    struct world *world = open_world(state);
    start(world);
    swallower_arm(world->swallower, "REPEATABLE READ");
    submit(world, &world->read, NULL, NULL);
    expect_blocked(world, &world->read);
    pipeline_give_up(world->pipeline);
    AWAIT(world->read.is_answered);
    expect_refused(&world->read);
    stop(world, &world->read);
}

static void test_ids(void **state)
{
    struct world *world = open_world(state);
    struct store_stamp newest;
    start(world);
    memcpy(&newest, &replica_newest(world->replica)->stamp, sizeof(newest));
    swallower_arm(world->swallower, peer_sql("nextval", "LAST_INSERT_ID"));
    submit(world, &world->write, plan_trait, NULL);
    expect_blocked(world, &world->write);
    /* memory has what one of the reads waits for */
    submit(world, &world->read, NULL, NULL);
    submit(world, &world->covered, NULL, &newest);
    AWAIT(world->covered.is_answered);
    assert_false(err_is_set(&world->covered.base.err));
    assert_false(world->read.is_answered);
    assert_false(world->write.is_answered);
    assert_int_equal(pipeline_figures(world->pipeline).queued, 1);
    pipeline_give_up(world->pipeline);
    AWAIT(world->write.is_answered && world->read.is_answered);
    expect_refused(&world->write);
    expect_refused(&world->read);
    stop(world, &world->write);
}

/* As a statement of its own: MariaDB's command for a query, and its text. */
static const char *rollback(void)
{
    return peer_sql("ROLLBACK", "\x03ROLLBACK");
}

/* Another program has written the trait, and the batch is refused. */
static void test_rollback(void **state)
{
    struct world *world = open_world(state);
    start(world);
    (void)peer_execute(world->fixture, "INSERT INTO traits (name) VALUES ('CUSTOM_TAKEN')");
    swallower_arm(world->swallower, rollback());
    submit(world, &world->write, plan_trait, NULL);
    expect_blocked(world, &world->write);
    stop(world, &world->write);
}

static void test_connecting(void **state)
{
    struct world *world = open_world(state);
    start(world);
    swallower_cut(world->swallower);
    submit(world, &world->write, plan_trait, NULL);
    expect_blocked(world, &world->write);
    stop(world, &world->write);
}

/* The query for the newest state, which has a thread of its own. */
static void test_query(void **state)
{
    struct world *world = open_world(state);
    start(world);
    swallower_cut(world->swallower);
    world->read.base =
        (struct pipeline_request){.done = answered, .err = {.arena = world->fixture->arena}};
    pipeline_await_current(world->pipeline, &world->read.base);
    AWAIT(swallower_has_swallowed(world->swallower));
    assert_false(world->read.is_answered);
    stop(world, &world->read);
}

/* The look for what other programs have written, which has a thread and a session of its own: while
 * it connects, while it reads ids, because a row is missing, and at its end. */
static void test_look(void **state)
{
    const char *const statements[] = {peer_sql("plan_cache_mode", "sql_mode"), "SELECT id FROM",
                                      rollback()};
    (void)state;
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        void *fixture;
        fixture_setup(&fixture);
        struct world *world = open_world(&fixture);
        start(world);
        (void)peer_execute(world->fixture, "DELETE FROM traits WHERE name = 'HW_CPU_X86_AVX2'");
        swallower_arm(world->swallower, statements[i]);
        assert_true(pipeline_start_observer(world->pipeline, &world->fixture->err));
        AWAIT(swallower_has_swallowed(world->swallower));
        uint64_t began_us = clock_monotonic_us();
        pipeline_stop(world->pipeline);
        assert_true(clock_monotonic_us() - began_us < STOP_US);
        close_world(world);
        fixture_teardown(&fixture);
    }
}

struct waiting {
    const struct swallower *swallower;
    unsigned calls;
};

/* Ends the waits after a few calls; those before the server is silent do not count. */
static bool count(void *cls)
{
    struct waiting *waiting = cls;
    waiting->calls += swallower_has_swallowed(waiting->swallower);
    return waiting->calls < BEATS;
}

/* At the start. */
static void test_load(void **state)
{
    struct world *world = open_world(state);
    struct waiting waiting = {.swallower = world->swallower};
    const struct store_meanwhile meanwhile = {count, &waiting};
    uint64_t began_us = clock_monotonic_us();
    swallower_arm(world->swallower, "FROM allocations");
    store_set_meanwhile(world->store, &meanwhile);
    assert_null(pipeline_start(world->store, world->replica, NULL, &world->fixture->err));
    assert_true(swallower_has_swallowed(world->swallower));
    assert_true(clock_monotonic_us() - began_us < STOP_US);
    assert_int_equal(waiting.calls, BEATS);
    assert_non_null(strstr(world->fixture->err.message.data, "berthd is stopping"));
    close_world(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_news, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_ids, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_rollback, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_connecting, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_query, fixture_setup, fixture_teardown),
        cmocka_unit_test(test_look),
        cmocka_unit_test_setup_teardown(test_load, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
