/* Many clients at one host, through the real pipeline and the SQLite store: the last units go out
 * exactly once, and whoever sends no provider generation never meets a conflict of generations. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "engine/pipeline.h"
#include "placement/write/plan_aggregates.h"
#include "placement/write/plan_allocations.h"
#include "placement/write/plan_classes.h"
#include "placement/write/plan_inventories.h"
#include "placement/write/plan_provider_traits.h"
#include "placement/write/plan_providers.h"
#include "unit.h"

#define HOST SLICE_LIT("11111111-1111-4111-8111-111111111111")

enum { CLIENTS = 8, CLAIMS_EACH = 40, UNITS = 150, ROUNDS = 25, MUCH = 1000000 };

struct berth {
    char dir[64];
    struct slice url;
    struct arena *arena;
    struct err err;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
};

static void berth_start(struct berth *berth)
{
    struct store_options options = {.connection = berth->url,
                                    .busy_timeout_ms = 5000,
                                    .sync_schema = true,
                                    .create_missing_file = true,
                                    .synchronous_off = true};
    berth->store = store_open(&options, &berth->err);
    assert_non_null(berth->store);
    berth->replica = replica_create();
    berth->pipeline = pipeline_start(berth->store, berth->replica, NULL, &berth->err);
    assert_non_null(berth->pipeline);
}

static void berth_stop(struct berth *berth)
{
    pipeline_stop(berth->pipeline);
    replica_destroy(berth->replica);
    store_close(berth->store);
}

static int setup(void **state)
{
    struct berth *berth = calloc(1, sizeof(*berth));
    snprintf(berth->dir, sizeof(berth->dir), "/tmp/berth-contention-XXXXXX");
    assert_non_null(mkdtemp(berth->dir));
    berth->arena = arena_create();
    berth->err.arena = berth->arena;
    berth->url = arena_printf(berth->arena, "sqlite:///%s/db", berth->dir);
    berth_start(berth);
    *state = berth;
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"db", "db-wal", "db-shm"};
    struct berth *berth = *state;
    berth_stop(berth);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[96];
        snprintf(path, sizeof(path), "%s/%s", berth->dir, names[i]);
        unlink(path);
    }
    rmdir(berth->dir);
    arena_destroy(berth->arena);
    free(berth);
    return 0;
}

/* One client's request at a time. */
struct ask {
    struct pipeline_request request;
    bool (*plan)(struct ask *ask, const struct plan *plan);
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_done;
    struct slice uuid, name;
    struct inventory_figures figures;
};

static bool plan_ask(struct pipeline_request *request, const struct plan *plan)
{
    struct ask *ask = (struct ask *)request;
    return ask->plan(ask, plan);
}

static void ask_done(struct pipeline_request *request)
{
    struct ask *ask = (struct ask *)request;
    pthread_mutex_lock(&ask->lock);
    ask->is_done = true;
    pthread_cond_signal(&ask->wake);
    pthread_mutex_unlock(&ask->lock);
}

/* The answer's err, with its message in the arena. */
static struct err ask(struct berth *berth, struct arena *arena, struct ask *ask)
{
    ask->request =
        (struct pipeline_request){.plan = plan_ask, .done = ask_done, .err = {.arena = arena}};
    ask->is_done = false;
    pthread_mutex_init(&ask->lock, NULL);
    pthread_cond_init(&ask->wake, NULL);
    pipeline_submit(berth->pipeline, &ask->request);
    pthread_mutex_lock(&ask->lock);
    while (!ask->is_done)
        pthread_cond_wait(&ask->wake, &ask->lock);
    pthread_mutex_unlock(&ask->lock);
    pthread_mutex_destroy(&ask->lock);
    pthread_cond_destroy(&ask->wake);
    return ask->request.err;
}

static bool plan_create(struct ask *ask, const struct plan *plan)
{
    struct planned_provider result;
    return plan_provider_create(ask->uuid, ask->name, (struct slice){0}, plan, &result,
                                &ask->request.err);
}

/* Inventory of a class that the host does not have yet. */
static bool plan_stock(struct ask *ask, const struct plan *plan)
{
    int64_t generation;
    struct plan_inventory item = {ask->name, ask->figures, true};
    struct plan_inventories input = {.provider_uuid = ask->uuid, .items = &item, .item_count = 1};
    return plan_inventory_create(&input, plan, &generation, &ask->request.err);
}

static bool plan_unstock(struct ask *ask, const struct plan *plan)
{
    return plan_inventory_delete(ask->uuid, ask->name, plan, &ask->request.err);
}

static bool plan_class(struct ask *ask, const struct plan *plan)
{
    return plan_class_create(ask->name, plan, &ask->request.err);
}

/* One VCPU of the host for a new consumer. */
static bool plan_unit(struct ask *ask, const struct plan *plan)
{
    struct claim_amount amount = {SLICE_LIT("VCPU"), 1};
    struct claim_provider provider = {HOST, &amount, 1};
    struct claim claim = {.consumer = ask->uuid,
                          .project = SLICE_LIT("project"),
                          .user = SLICE_LIT("user"),
                          .generation_rule = CLAIM_GENERATION_NULL,
                          .providers = &provider,
                          .provider_count = 1};
    return plan_allocations(&claim, 1, CLAIM_BY_PUT, plan, &ask->request.err);
}

static bool plan_release(struct ask *ask, const struct plan *plan)
{
    return plan_allocations_delete(ask->uuid, ask->uuid, plan, &ask->request.err);
}

static bool plan_join(struct ask *ask, const struct plan *plan)
{
    int64_t generation;
    struct plan_aggregates input = {
        .provider_uuid = HOST, .uuids = &ask->uuid, .uuid_count = 1, .has_generation = false};
    return plan_aggregates_set(&input, plan, &generation, &ask->request.err);
}

static bool plan_no_traits(struct ask *ask, const struct plan *plan)
{
    struct planned_traits result;
    struct plan_provider_traits input = {.provider_uuid = HOST, .has_generation = false};
    return plan_provider_traits_set(&input, plan, &result, &ask->request.err);
}

static void host_with(struct berth *berth, int32_t units)
{
    struct ask create = {.plan = plan_create, .uuid = HOST, .name = SLICE_LIT("host")};
    assert_int_equal(ask(berth, berth->arena, &create).status, 0);
    struct ask stock = {.plan = plan_stock,
                        .uuid = HOST,
                        .name = SLICE_LIT("VCPU"),
                        .figures = {units, 0, 1, units, 1, 1.0}};
    assert_int_equal(ask(berth, berth->arena, &stock).status, 0);
}

static const struct provider_inventory *host_vcpus(struct berth *berth)
{
    const struct version *version = replica_newest(berth->replica);
    const struct provider *host = version_provider_by_uuid(version, HOST);
    const struct catalog_row *row = catalog_find(&version->classes, SLICE_LIT("VCPU"));
    return provider_inventory_of(host, (struct class_no){row->number});
}

struct client {
    struct berth *berth;
    pthread_t thread;
    struct arena *arena;
    int number;
    int accepted;
    int refused;      /* for want of capacity */
    int conflicts;    /* of generations */
    struct err other; /* any other answer */
};

static void count(struct client *client, struct err err)
{
    if (err.status == 0)
        client->accepted++;
    else if (err.code != NULL && strcmp(err.code, "placement.concurrent_update") == 0)
        client->conflicts++;
    else if (err.status == 409 && memmem(err.message.data, err.message.len, "exceed the capacity",
                                         strlen("exceed the capacity")) != NULL)
        client->refused++;
    else if (client->other.status == 0)
        client->other = err;
}

static struct slice consumer_of(struct client *client, int number)
{
    return arena_printf(client->arena, "%08d-0000-4000-8000-%012d", client->number, number);
}

static void *claim_units(void *cls)
{
    struct client *client = cls;
    for (int i = 0; i < CLAIMS_EACH; i++) {
        struct ask unit = {.plan = plan_unit, .uuid = consumer_of(client, i)};
        count(client, ask(client->berth, client->arena, &unit));
    }
    return NULL;
}

/* Everything that can be written without naming a provider's generation. */
static void *write_without_generations(void *cls)
{
    struct client *client = cls;
    struct slice class_name = arena_printf(client->arena, "CUSTOM_%d", client->number);
    struct ask class = {.plan = plan_class, .name = class_name};
    count(client, ask(client->berth, client->arena, &class));
    for (int i = 0; i < ROUNDS; i++) {
        struct slice consumer = consumer_of(client, i);
        struct inventory_figures figures = {8, 0, 1, 8, 1, 1.0};
        struct ask all[] = {
            {.plan = plan_unit, .uuid = consumer},
            {.plan = plan_stock, .uuid = HOST, .name = class_name, .figures = figures},
            {.plan = plan_join, .uuid = consumer},
            {.plan = plan_no_traits},
            {.plan = plan_unstock, .uuid = HOST, .name = class_name},
            {.plan = plan_release, .uuid = consumer},
        };
        for (size_t a = 0; a < sizeof(all) / sizeof(all[0]); a++)
            count(client, ask(client->berth, client->arena, &all[a]));
    }
    return NULL;
}

static struct client run_clients(struct berth *berth, void *work(void *cls))
{
    static struct client clients[CLIENTS];
    struct client sum = {0};
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.berth = berth, .arena = arena_create(), .number = i + 1};
        assert_int_equal(pthread_create(&clients[i].thread, NULL, work, &clients[i]), 0);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        sum.accepted += clients[i].accepted;
        sum.refused += clients[i].refused;
        sum.conflicts += clients[i].conflicts;
        if (clients[i].other.status != 0)
            fail_msg("%d %.*s", clients[i].other.status, SLICE_ARG(clients[i].other.message));
        arena_destroy(clients[i].arena);
    }
    return sum;
}

static void last_units_go_out_once(void **state)
{
    struct berth *berth = *state;
    host_with(berth, UNITS);
    struct client sum = run_clients(berth, claim_units);
    assert_int_equal(sum.accepted, UNITS);
    assert_int_equal(sum.refused, CLIENTS * CLAIMS_EACH - UNITS);
    assert_int_equal(sum.conflicts, 0);
    assert_int_equal(host_vcpus(berth)->used, UNITS);

    berth_stop(berth);
    berth_start(berth);
    assert_int_equal(host_vcpus(berth)->used, UNITS);
    assert_int_equal(replica_newest(berth->replica)->consumers.count, UNITS);
}

static void no_generation_no_conflict(void **state)
{
    struct berth *berth = *state;
    host_with(berth, MUCH);
    struct client sum = run_clients(berth, write_without_generations);
    assert_int_equal(sum.conflicts, 0);
    assert_int_equal(sum.refused, 0);
    assert_int_equal(sum.accepted, CLIENTS * (1 + 6 * ROUNDS));
    assert_int_equal(host_vcpus(berth)->used, 0);
}

/* The other side of it: who names the generation that another one has moved is refused. */
static bool plan_old_generation(struct ask *ask, const struct plan *plan)
{
    int64_t generation;
    struct plan_inventories input = {.provider_uuid = ask->uuid, .generation = 0};
    return plan_inventories_set(&input, plan, &generation, &ask->request.err);
}

static void old_generation_is_refused(void **state)
{
    struct berth *berth = *state;
    host_with(berth, UNITS);
    struct ask old = {.plan = plan_old_generation, .uuid = HOST};
    struct err err = ask(berth, berth->arena, &old);
    assert_int_equal(err.status, 409);
    assert_string_equal(err.code, "placement.concurrent_update");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(last_units_go_out_once, setup, teardown),
        cmocka_unit_test_setup_teardown(no_generation_no_conflict, setup, teardown),
        cmocka_unit_test_setup_teardown(old_generation_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
