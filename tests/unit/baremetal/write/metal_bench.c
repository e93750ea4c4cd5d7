/* See metal_bench.h. */
#include "baremetal/write/metal_bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "baremetal/write/plan_node_allocations.h"
#include "baremetal/write/plan_nodes.h"
#include "base/clock.h"
#include "log/log.h"
#include "log/settings.h"
#include "unit.h"

static _Atomic int64_t clock_is_ahead_us;
static uint64_t passed_us;                 /* metal_bench_pass, all together */
static _Atomic int64_t clock_stands_at_us; /* 0: it runs */

/* The linker replaces clock_wall_us by this. */
int64_t __real_clock_wall_us(void);
int64_t __wrap_clock_wall_us(void);
int64_t __wrap_clock_wall_us(void)
{
    return (clock_stands_at_us > 0 ? clock_stands_at_us : __real_clock_wall_us()) +
           clock_is_ahead_us;
}

void metal_bench_set_clock(int64_t ahead_us)
{
    clock_is_ahead_us = ahead_us;
}

void metal_bench_stop_clock(void)
{
    clock_stands_at_us = __real_clock_wall_us();
}

void metal_bench_pass(int64_t us)
{
    clock_is_ahead_us += us;
    passed_us += us > 0 ? (uint64_t)us : 0;
}

struct conductor_time metal_bench_now(void)
{
    return (struct conductor_time){clock_wall_us(), clock_monotonic_us() + passed_us};
}

void metal_bench_open(struct metal_bench *bench)
{
    *bench = (struct metal_bench){.arena = arena_create()};
    snprintf(bench->directory, sizeof(bench->directory), "/tmp/berth-conductor-XXXXXX");
    assert_non_null(mkdtemp(bench->directory));
    snprintf(bench->path, sizeof(bench->path), "%s/db", bench->directory);
    snprintf(bench->url, sizeof(bench->url), "sqlite:///%s", bench->path);
    assert_int_equal(sqlite3_open(bench->path, &bench->shell), SQLITE_OK);
    sqlite3_busy_timeout(bench->shell, 5000);
    metal_bench_set_clock(0);
    clock_stands_at_us = 0;
}

void metal_bench_close(struct metal_bench *bench)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    sqlite3_close(bench->shell);
    for (size_t i = 0; i < 3; i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s%s", bench->path, suffixes[i]);
        unlink(name);
    }
    rmdir(bench->directory);
    arena_destroy(bench->arena);
}

void metal_bench_shell(struct metal_bench *bench, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(bench->shell, sql, NULL, NULL, &message) != SQLITE_OK)
        print_error("%s\n", message);
    assert_null(message);
}

unsigned metal_bench_end_log(FILE *log, const char *text)
{
    char line[512];
    unsigned count = 0;
    log_stop();
    rewind(log);
    while (fgets(line, sizeof(line), log) != NULL)
        count += strstr(line, text) != NULL;
    fclose(log);
    log_start(STDERR_FILENO, false); /* messages before a log_start go to the previous log */
    log_stop();
    return count;
}

struct berth berth_new(struct metal_bench *bench, const char *instance)
{
    return (struct berth){
        .bench = bench,
        .metal =
            {
                .mirror = true,
                .host = SLICE_LIT("here"),
                .instance = slice_of(instance),
                .takeover_us = BENCH_TAKEOVER_US,
                .fake_delay_us = BENCH_DELAY_US,
                .locked_retry_attempts = 3,
                .locked_retry_interval_us = 1000000,
                .incomplete_project_id = SLICE_LIT("no-project"),
                .incomplete_user_id = SLICE_LIT("no-user"),
            },
    };
}

void berth_open(struct berth *berth, bool has_threads)
{
    struct err err = {.arena = berth->bench->arena};
    const struct store_options options = {
        .connection = slice_of(berth->bench->url),
        .busy_timeout_ms = BENCH_BUSY_MS,
        .sync_schema = true,
        .create_missing_file = true,
        .synchronous_off = true,
    };
    berth->has_threads = has_threads;
    berth->store = store_open(&options, &err);
    assert_non_null(berth->store);
    berth->replica = replica_create();
    const struct rules *rules = products_open(&berth->products, &berth->metal);
    berth->pipeline = has_threads ? pipeline_start(berth->store, berth->replica, rules, &err)
                                  : pipeline_create(berth->store, berth->replica, rules, &err);
    assert_non_null(berth->pipeline);
    berth->conductor = has_threads
                           ? conductor_start(berth->pipeline, berth->replica, &berth->metal, &err)
                           : conductor_create(berth->pipeline, berth->replica, &berth->metal);
    assert_non_null(berth->conductor);
    berth->reader = replica_reader_open(berth->replica);
}

void berth_close(struct berth *berth)
{
    replica_reader_close(berth->reader);
    if (berth->has_threads) {
        if (berth->conductor != NULL)
            conductor_stop(berth->conductor);
        pipeline_stop(berth->pipeline);
    } else {
        conductor_destroy(berth->conductor);
        pipeline_destroy(berth->pipeline);
    }
    products_close(&berth->products);
    replica_destroy(berth->replica);
    store_close(berth->store);
}

enum what { ASK_NEWS, ASK_CREATE, ASK_VERB, ASK_POWER, ASK_ALLOCATE, ASK_RELEASE };

/* A request of this test. */
struct asked {
    struct pipeline_request request; /* must be first */
    enum what what;
    const char *uuid;
    const char *word;
    _Atomic bool is_done;
};

static bool plan_create(const struct asked *asked, const struct plan *plan, struct err *err)
{
    const struct node *node;
    struct node_draft draft = node_draft_new(0);
    node_set_text(&draft, NODE_UUID, slice_of(asked->uuid));
    node_set_text(&draft, NODE_RESOURCE_CLASS, SLICE_LIT("gold"));
    node_set_text(&draft, NODE_POWER_STATE, SLICE_LIT("power on"));
    node_set_text(&draft, NODE_PROVISION_STATE, slice_of(asked->word));
    return plan_node_create(&draft, plan, &node, err);
}

static bool plan_allocate(const struct asked *asked, const struct plan *plan, struct err *err)
{
    struct planned_node_allocation planned;
    struct node_allocation_draft draft = node_allocation_draft_new(0);
    const struct plan_node_allocation input = {.draft = &draft, .has_uuid = true};
    node_allocation_set_text(&draft, NODE_ALLOCATION_UUID, slice_of(asked->uuid));
    node_allocation_set_text(&draft, NODE_ALLOCATION_RESOURCE_CLASS, SLICE_LIT("gold"));
    return plan_node_allocation_create(&input, plan, &planned, err);
}

static bool plan_asked(struct pipeline_request *request, const struct plan *plan)
{
    const struct asked *asked = (struct asked *)request;
    struct err *err = &request->err;
    if (asked->what == ASK_CREATE)
        return plan_create(asked, plan, err);
    if (asked->what == ASK_ALLOCATE)
        return plan_allocate(asked, plan, err);
    if (asked->what == ASK_RELEASE)
        return plan_node_allocation_delete(
            version_node_allocation_by_uuid(plan->version, slice_of(asked->uuid)), plan, err);
    const struct node *node = version_node_by_uuid(plan->version, slice_of(asked->uuid));
    struct slice name = slice_of(asked->word);
    if (asked->what == ASK_POWER)
        return plan_node_power(node, name, name, node_power_verb_find(name), plan, err);
    const struct node_verb_name *known = node_verb_find(name);
    const struct plan_node_verb verb = {.verb = known->verb};
    return plan_node_provision_check(node, name, known, plan, err) &&
           plan_node_provision(node, &verb, plan, err);
}

static void asked_done(struct pipeline_request *request)
{
    struct asked *asked = (struct asked *)request;
    asked->is_done = true;
}

static void wait_for(struct asked *asked)
{
    METAL_BENCH_AWAIT(asked->is_done);
}

static int ask(struct berth *berth, enum what what, const char *uuid, const char *word)
{
    struct asked asked = {
        .request = {.plan = what == ASK_NEWS ? NULL : plan_asked,
                    .done = asked_done,
                    .err = {.arena = berth->bench->arena}},
        .what = what,
        .uuid = uuid,
        .word = word,
    };
    pipeline_submit(berth->pipeline, &asked.request);
    while (!berth->has_threads && pipeline_run_once(berth->pipeline))
        ;
    wait_for(&asked);
    return asked.request.err.status;
}

void berth_follow(struct berth *berth)
{
    assert_int_equal(ask(berth, ASK_NEWS, NULL, NULL), 0);
}

unsigned berth_pass(struct berth *berth)
{
    berth_follow(berth);
    unsigned count = conductor_begin_pass(berth->conductor, metal_bench_now());
    while (pipeline_run_once(berth->pipeline))
        ;
    conductor_end_pass(berth->conductor, metal_bench_now());
    return count;
}

void berth_await_rest(struct berth *berth)
{
    for (unsigned i = 0; berth_pass(berth) > 0; i++)
        assert_true(i < 1000);
}

int berth_create_node(struct berth *berth, const char *uuid, const char *state)
{
    return ask(berth, ASK_CREATE, uuid, state);
}

int berth_verb(struct berth *berth, const char *uuid, const char *verb)
{
    return ask(berth, ASK_VERB, uuid, verb);
}

int berth_power(struct berth *berth, const char *uuid, const char *verb)
{
    return ask(berth, ASK_POWER, uuid, verb);
}

int berth_allocate(struct berth *berth, const char *uuid)
{
    return ask(berth, ASK_ALLOCATE, uuid, NULL);
}

int berth_release(struct berth *berth, const char *uuid)
{
    return ask(berth, ASK_RELEASE, uuid, NULL);
}

struct verb_request {
    struct asked asked; /* must be first */
    struct conductor_wait wait;
    struct arena *arena;
};

struct verb_request *berth_begin_verb(struct berth *berth, const char *uuid, const char *verb)
{
    struct verb_request *waiting = calloc(1, sizeof(*waiting));
    waiting->arena = arena_create();
    waiting->asked.request = (struct pipeline_request){
        .plan = plan_asked, .done = asked_done, .err = {.arena = waiting->arena}};
    waiting->asked.what = ASK_VERB;
    waiting->asked.uuid = uuid;
    waiting->asked.word = verb;
    conductor_submit(berth->conductor, &waiting->wait, &waiting->asked.request);
    return waiting;
}

bool verb_request_is_done(struct verb_request *waiting)
{
    return waiting->asked.is_done;
}

int verb_request_end(struct verb_request *waiting)
{
    wait_for(&waiting->asked);
    int status = waiting->asked.request.err.status;
    arena_destroy(waiting->arena);
    free(waiting);
    return status;
}

int berth_verb_waiting(struct berth *berth, const char *uuid, const char *verb)
{
    return verb_request_end(berth_begin_verb(berth, uuid, verb));
}

static const char *shown(struct berth *berth, struct slice text)
{
    return text.data == NULL ? "null" : arena_copy(berth->bench->arena, text).data;
}

const char *berth_node_text(struct berth *berth, const char *uuid, enum node_field field)
{
    const struct version *version = replica_pin(berth->reader);
    const struct node *node = version_node_by_uuid(version, slice_of(uuid));
    const char *text = node == NULL ? "null" : shown(berth, node_text(node, field));
    replica_unpin(berth->reader);
    return text;
}

const char *berth_allocation_text(struct berth *berth, const char *uuid,
                                  enum node_allocation_field field)
{
    const struct version *version = replica_pin(berth->reader);
    const struct node_allocation *at = version_node_allocation_by_uuid(version, slice_of(uuid));
    const char *text = at == NULL ? "null" : shown(berth, node_allocation_text(at, field));
    replica_unpin(berth->reader);
    return text;
}

void berth_assert_node(struct berth *berth, const char *uuid, const char *state)
{
    assert_string_equal(berth_node_text(berth, uuid, NODE_PROVISION_STATE), state);
}

void berth_assert_allocation(struct berth *berth, const char *uuid, const char *state)
{
    assert_string_equal(berth_allocation_text(berth, uuid, NODE_ALLOCATION_STATE), state);
}
