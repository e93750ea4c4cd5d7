/* Plans whose cloud changes between their search and their commit, and objects that are deleted
 * between the handler and its planner: real requests at a listener, with a write by another client
 * that always reaches the writer just before theirs. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/api.h"
#include "api/dispatch.h"
#include "api/routes.h"
#include "api/services/slow_lane.h"
#include "await.h"
#include "placement/write/plan_allocations.h"
#include "policy/keeper.h"
#include "unit.h"
#include "valet/api/definition.h"
#include "valet/api/handlers.h"
#include "valet/api/plans/plan_solving.h"
#include "valet/api/routes.h"
#include "valet/api/stack/flavors.h"
#include "valet/api/valet_settings.h"
#include "valet/write/valet_bench.h"

enum { HOSTS = 6, ANSWER_BYTES = 4096 };

/* Fills the host that the plan has found. */
struct meddler {
    struct pipeline_request write;
    struct arena *arena;
    struct slice consumer;
    struct slice host;
};

typedef enum api_step handler(struct api_request *request);

static struct world {
    struct valet_bench bench;
    struct api api;
    struct conf_valet conf;
    struct valet_settings settings;
    struct api_route routes[VALET_ROUTE_COUNT];
    struct api_definition definition;
    struct api_endpoint endpoint;
    struct http_server *server;
    struct meddler meddlers[HOSTS];
    unsigned meddlings; /* still to come */
    const char *sql;    /* what a non-member commits just before the plan; NULL: nothing */
    unsigned runs;      /* of the handler */
    handler *handle;    /* the real planner of the route, which is wrapped below */
    char answer[ANSWER_BYTES];
    size_t answer_len;
    atomic_bool is_answered;
} world;

static bool fill_host(struct pipeline_request *write, const struct plan *plan)
{
    struct meddler *meddler = (struct meddler *)write;
    const struct claim_amount amount = {SLICE_LIT("VCPU"), HOST_VCPU};
    const struct claim_provider provider = {meddler->host, &amount, 1};
    const struct claim claim = {.consumer = meddler->consumer,
                                .project = SLICE_LIT("p"),
                                .user = SLICE_LIT("u"),
                                .providers = &provider,
                                .provider_count = 1};
    return plan_allocations(&claim, 1, CLAIM_BY_PUT, plan, &write->err);
}

static void done(struct pipeline_request *write)
{
    assert_false(err_is_set(&write->err));
}

static void meddle(const struct api_request *request)
{
    const struct solved *solved = request->state;
    struct meddler *meddler = &world.meddlers[--world.meddlings];
    *meddler =
        (struct meddler){.write = {.plan = fill_host, .done = done}, .arena = arena_create()};
    meddler->write.err.arena = meddler->arena;
    meddler->host = arena_copy(meddler->arena, solved->commit.rows[0].host);
    meddler->consumer =
        arena_printf(meddler->arena, "cccccccc-0000-4000-8000-%012u", world.meddlings);
    pipeline_submit(world.bench.pipeline, &meddler->write);
}

static enum api_step create(struct api_request *request)
{
    enum api_step step = handle_valet_plan_create(request);
    if (step == API_SLOW)
        return step;
    world.runs++;
    if (step == API_WRITE && world.meddlings > 0)
        meddle(request);
    if (step == API_WRITE && world.sql != NULL)
        valet_shell(&world.bench, world.sql);
    return step;
}

static enum api_step wrapped(struct api_request *request)
{
    enum api_step step = world.handle(request);
    world.runs++;
    if (step == API_WRITE)
        valet_shell(&world.bench, world.sql);
    return step;
}

static const struct http_limits LIMITS = {
    .max_body_bytes = 1 << 20,
    .large_answers_bytes = 1 << 20,
    .connection_memory_bytes = 64 << 10,
    .connections_max = 10,
    .connections_per_address = 10,
    .idle_timeout_s = 30,
    .header_deadline_ms = 30000,
    .body_deadline_ms = 30000,
    .worker_threads = 2,
};

static void open_api(void)
{
    struct err err = {.arena = world.bench.arena};
    static const struct policy_places PLACES = {.file = ""};
    static const struct policy_options OPTIONS = {.enforce_new_defaults = true};
    world.conf = (struct conf_valet){
        .default_zone = SLICE_LIT("nova"), .step_limit = 1000, .max_servers = 10};
    world.api = (struct api){
        .replica = world.bench.replica,
        .pipeline = world.bench.pipeline,
        .slow_lane = slow_lane_start(
            &(struct slow_lane_settings){.turns = 1, .permits = 1, .waiting = 8, .slice_us = 1000}),
        .policies = policy_keeper_open(&PLACES, &OPTIONS, &err),
    };
    world.settings = (struct valet_settings){
        .conf = &world.conf,
        .flavors = flavors_open((struct slice){0}, &err),
    };
    assert_non_null(world.api.policies);
    assert_non_null(world.settings.flavors);
    memcpy(world.routes, valet_routes, sizeof(world.routes));
    for (unsigned i = 0; i < VALET_ROUTE_COUNT; i++)
        if (world.routes[i].handle == handle_valet_plan_create)
            world.routes[i].handle = create;
    world.definition = valet_definition;
    world.definition.routes = world.routes;
    world.endpoint = (struct api_endpoint){
        .definition = &world.definition,
        .api = &world.api,
        .settings = &world.settings,
        .routes = route_finder_create(world.routes, VALET_ROUTE_COUNT, world.bench.arena),
    };
    const struct http_address address = {.host = "127.0.0.1"};
    struct http_service service = dispatch_service(&world.endpoint);
    world.server = http_server_start(&address, &LIMITS, &service, &err);
    assert_non_null(world.server);
}

static int set_up(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    valet_open(&world.bench);
    for (unsigned i = 0; i < HOSTS; i++)
        valet_host(&world.bench, arena_printf(world.bench.arena, "h%u", i).data);
    open_api();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    http_server_stop(world.server, 1);
    slow_lane_stop(world.api.slow_lane);
    flavors_close(world.settings.flavors);
    policy_keeper_close(world.api.policies);
    for (unsigned i = 0; i < HOSTS; i++)
        if (world.meddlers[i].arena != NULL)
            arena_destroy(world.meddlers[i].arena);
    valet_close(&world.bench);
    return 0;
}

/* What is sent. */
struct question {
    struct arena *arena;
    const char *line; /* "GET /v1/plans" */
    const char *token;
    const char *body;
};

static void *ask(void *cls)
{
    const struct question *question = cls;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(http_server_port(world.server)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct slice request =
        arena_printf(question->arena,
                     "%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Auth-Token: %s\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     question->line, question->token, strlen(question->body), question->body);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    check(write(fd, request.data, request.len) == (ssize_t)request.len);
    ssize_t got;
    while ((got = read(fd, world.answer + world.answer_len,
                       sizeof(world.answer) - 1 - world.answer_len)) > 0)
        world.answer_len += (size_t)got;
    close(fd);
    atomic_store(&world.is_answered, true);
    return NULL;
}

/* Runs what is queued; whether the client has its answer. */
static bool run_until_answered(void)
{
    while (pipeline_run_once(world.bench.pipeline))
        ;
    return atomic_load(&world.is_answered);
}

/* This thread is the writer. */
static void send_and_write(const char *line, const char *token, const char *body)
{
    struct arena *arena = arena_create();
    struct question question = {arena, line, token, body};
    pthread_t client;
    world.runs = 0;
    world.answer_len = 0;
    memset(world.answer, 0, sizeof(world.answer));
    atomic_store(&world.is_answered, false);
    assert_int_equal(pthread_create(&client, NULL, ask, &question), 0);
    AWAIT(run_until_answered());
    pthread_join(client, NULL);
    arena_destroy(arena);
}

/* The answer to a create that meets that many writes of others. */
static void create_among(unsigned meddlings)
{
    world.meddlings = meddlings;
    send_and_write(
        "POST /v1/plans", "somebody",
        "{\"plan_name\": \"web\", \"stack_id\": \"s\", \"resources\": {\"a\": {\"type\": "
        "\"OS::Nova::Server\", \"properties\": {\"flavor\": {\"vcpus\": 8, \"ram\": 1, "
        "\"disk\": 0}}}}}");
}

static void assert_planned(unsigned meddlings)
{
    create_among(meddlings);
    assert_memory_equal(world.answer, "HTTP/1.1 201", 12);
    assert_int_equal(world.runs, meddlings + 1);
    assert_int_equal(world.meddlings, 0);
    const struct valet_placement *placement =
        version_next_valet_placement(valet_version(&world.bench), 0);
    assert_non_null(placement);
    assert_non_null(placement_hold(valet_version(&world.bench), placement));
}

static void nobody_meddles(void **state)
{
    (void)state;
    assert_planned(0);
}

static void it_is_planned_again(void **state)
{
    (void)state;
    assert_planned(1);
}

static void and_three_times(void **state)
{
    (void)state;
    assert_planned(3);
}

/* Another host would still be possible. */
static void and_not_more_often(void **state)
{
    (void)state;
    create_among(4);
    assert_memory_equal(world.answer, "HTTP/1.1 409", 12);
    assert_non_null(
        strstr(world.answer, "\"Valet error: the cloud changed while planning for 'web'\""));
    assert_int_equal(world.runs, 4);
    assert_null(version_next_valet_plan(valet_version(&world.bench), 0));
    assert_null(version_next_valet_placement(valet_version(&world.bench), 0));
}

/* What the API's own limits allow is written, however few rows [berth] max_write_rows allows. */
static void its_rows_are_allowed(void **state)
{
    (void)state;
    world.api.max_write_rows = 1;
    assert_planned(0);
}

/* The number that memory has for a trait that hosts have. */
static uint32_t number_of_trait(void)
{
    return catalog_find(&valet_version(&world.bench)->traits, SLICE_LIT("CUSTOM_SECOND"))->number;
}

/* A non-member commits something unrelated to the plan, and too much to be merged. Everything is
 * loaded, and the hosts' traits and aggregates get other numbers in memory, because the numbers of
 * deleted ones are used again. */
static void a_load_changes_nothing(void **state)
{
    (void)state;
    struct valet_bench *bench = &world.bench;
    valet_shell(bench, "INSERT INTO traits (name) VALUES ('CUSTOM_FIRST'), ('CUSTOM_SECOND');"
                       "INSERT INTO placement_aggregates (uuid) VALUES ('first')");
    valet_read(bench);
    valet_delete_provider(bench, "h0");
    for (unsigned i = 1; i < HOSTS; i++) {
        const char *host = arena_printf(bench->arena, "h%u", i).data;
        valet_traits(bench, host, "CUSTOM_SECOND");
        valet_aggregates(bench, host, "second");
    }
    uint32_t number = number_of_trait();
    world.sql = "DELETE FROM traits WHERE name = 'CUSTOM_FIRST';"
                "DELETE FROM placement_aggregates WHERE uuid = 'first';"
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
                " INSERT INTO traits (name) SELECT 'CUSTOM_' || i FROM n";
    assert_planned(0);
    assert_int_not_equal(number_of_trait(), number);
}

/* The object exists when the handler looks for it, and is deleted before its planner runs. */
static void assert_gone(handler *handle, const char *line, const char *body, const char *sql,
                        const char *text)
{
    for (unsigned i = 0; i < VALET_ROUTE_COUNT; i++)
        if (world.routes[i].handle == handle)
            world.routes[i].handle = wrapped;
    world.handle = handle;
    world.sql = sql;
    send_and_write(line, "admin", body);
    assert_memory_equal(world.answer, "HTTP/1.1 404", 12);
    if (strstr(world.answer, text) == NULL)
        fail_msg("%s", world.answer);
    assert_int_equal(world.runs, 1);
}

static void a_plan_that_is_to_be_deleted_is_gone(void **state)
{
    (void)state;
    assert_planned(0);
    assert_gone(handle_valet_plan_delete, "DELETE /v1/plans/s", "",
                "UPDATE berth_valet_plans SET stack_id = 't'", "\"There is no plan s\"");
    const struct version *version = valet_version(&world.bench);
    const struct valet_placement *placement = version_next_valet_placement(version, 0);
    assert_non_null(version_next_valet_plan(version, 0));
    assert_non_null(placement_hold(version, placement));
}

static void a_placement_that_is_to_be_deleted_is_gone(void **state)
{
    (void)state;
    assert_planned(0);
    assert_gone(handle_valet_placement_delete, "DELETE /v1/placements/a", "",
                "UPDATE berth_valet_placements SET orchestration_id = 'b'",
                "\"There is no placement a\"");
    const struct version *version = valet_version(&world.bench);
    const struct valet_placement *placement = version_next_valet_placement(version, 0);
    assert_non_null(placement);
    assert_non_null(placement_hold(version, placement));
}

static void a_group_that_is_to_be_described_is_gone(void **state)
{
    (void)state;
    valet_group(&world.bench, "g");
    struct slice uuid = valet_uuid(&world.bench, "g");
    const char *line = arena_printf(world.bench.arena, "PUT /v1/groups/%.*s", SLICE_ARG(uuid)).data;
    assert_gone(
        handle_valet_group_update, line, "{\"description\": \"new\"}",
        "DELETE FROM berth_valet_groups",
        arena_printf(world.bench.arena, "\"There is no group %.*s\"", SLICE_ARG(uuid)).data);
    assert_null(version_next_valet_group(valet_version(&world.bench), 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nobody_meddles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_is_planned_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(and_three_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(and_not_more_often, set_up, tear_down),
        cmocka_unit_test_setup_teardown(its_rows_are_allowed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_load_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_plan_that_is_to_be_deleted_is_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_placement_that_is_to_be_deleted_is_gone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_group_that_is_to_be_described_is_gone, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
