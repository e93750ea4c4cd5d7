/* Threads with event loops and threads without write at the same time, and read, while another
 * program writes now and then: everything is answered, and everything that was answered is there,
 * in the database and for each reader. For ThreadSanitizer, too. */
#include "memory_store/memory_store.h"
#include "memory_store/rng.h"
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/event_loop.h"
#include "engine/pipeline.h"

enum { CLIENTS = 5, WITH_LOOP = 3, WRITES = 90, PAUSE_EVERY = 9, ROUNDS = 8, ROUNDS_MOST = 100 };

struct client {
    struct pipeline_request request; /* first */
    pthread_t thread;
    struct arena *arena;
    struct replica_reader *reader;
    unsigned accepted;
    atomic_bool is_answered;
};

static struct {
    struct memory_database database;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    _Atomic int64_t names;
    atomic_uint answered; /* requests, before anything of it is read */
} bench;

static void answered(struct pipeline_request *request)
{
    atomic_store(&((struct client *)request)->is_answered, true);
}

static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
    int64_t id = store_next_id(plan->store, STORE_TRAITS);
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){id, arena_printf(plan->arena, "CUSTOM_%ld", bench.names++)};
    return true;
}

static void read_all(struct client *client)
{
    unsigned answered = bench.answered;
    const struct version *version = replica_pin(client->reader);
    check(version->traits.by_id.count >= answered);
    replica_unpin(client->reader);
}

static void *write_often(void *cls)
{
    struct client *client = cls;
    struct epoll_event event;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    bool has_loop = client->request.submitter != NULL;
    check(epoll >= 0);
    if (has_loop)
        event_loop_begin();
    (void)event_loop_wait(epoll, &event, 1, 0);
    for (unsigned i = 0; i < WRITES; i++) {
        arena_reset(client->arena);
        client->request = (struct pipeline_request){.plan = plan_trait,
                                                    .done = answered,
                                                    .plans_briefly = true,
                                                    .max_rows = 1,
                                                    .err = {.arena = client->arena}};
        atomic_store(&client->is_answered, false);
        pipeline_submit(bench.pipeline, &client->request);
        while (!atomic_load(&client->is_answered))
            if (has_loop)
                (void)event_loop_wait(epoll, &event, 1, 1);
            else
                sched_yield();
        check(!err_is_set(&client->request.err));
        client->accepted++;
        bench.answered++;
        read_all(client);
        if (i % PAUSE_EVERY == 0) /* the others have it to themselves for a moment */
            (void)event_loop_wait(epoll, &event, 1, 2);
    }
    close(epoll);
    return NULL;
}

/* Another program commits the same contents, in whichever thread is the writer. */
static void write_foreign(void *cls, struct memory_database *database)
{
    static struct tables tables;
    (void)cls;
    tables_copy(&tables, &database->tables);
    memory_database_commit_foreign(database, &tables);
}

/* Returns how many batches threads have committed without the writer. */
static uint64_t run_round(uint64_t seed)
{
    static struct client clients[CLIENTS];
    struct rng rng = {seed};
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    memset(&bench, 0, sizeof(bench));
    memset(clients, 0, sizeof(clients));
    memory_database_init(&bench.database);
    bench.database.must_be_asked = true;
    bench.database.lock_order = MEMORY_LOCKS_NEVER;
    bench.database.rng = &rng;
    bench.database.faults.permille[MEMORY_COMMIT_PENDING] = 800;
    bench.database.faults.permille[MEMORY_FOREIGN_WRITE] = 20;
    bench.database.foreign_write = write_foreign;
    bench.store = memory_store_open(&bench.database);
    bench.store->does_at_once = true;
    bench.store->descriptor = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    bench.replica = replica_create();
    bench.pipeline = pipeline_start(bench.store, bench.replica, NULL, &err);
    assert_non_null(bench.pipeline);
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i].arena = arena_create();
        clients[i].reader = replica_reader_open(bench.replica);
        clients[i].request.submitter = i < WITH_LOOP ? &bench : NULL;
        assert_int_equal(pthread_create(&clients[i].thread, NULL, write_often, &clients[i]), 0);
    }
    unsigned accepted = 0;
    for (unsigned i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        accepted += clients[i].accepted;
        replica_reader_close(clients[i].reader);
        arena_destroy(clients[i].arena);
    }
    struct pipeline_figures figures = pipeline_figures(bench.pipeline);
    assert_int_equal(accepted, CLIENTS * WRITES);
    assert_int_equal(figures.requests, CLIENTS * WRITES);
    assert_true(figures.direct < figures.commits);
    pipeline_stop(bench.pipeline);
    assert_int_equal(bench.database.tables.rows[TABLE_TRAITS].count, CLIENTS * WRITES);
    replica_destroy(bench.replica);
    close(bench.store->descriptor);
    store_close(bench.store);
    memory_database_free(&bench.database);
    arena_destroy(arena);
    return figures.direct;
}

static void test_all_at_once(void **state)
{
    (void)state;
    uint64_t direct = 0;
    for (uint64_t round = 0; round < ROUNDS; round++)
        direct += run_round(round);
    /* while the machine is busy, each batch may have several requests, and then nobody does */
    for (uint64_t round = ROUNDS; direct == 0 && round < ROUNDS_MOST; round++)
        direct = run_round(round);
    assert_true(direct > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
