/* One instance: its store, replica and pipeline, on tasks of its process. The linker replaces what
 * has nothing to do with batches: housekeeping, and, for each kind of database, the check of the
 * schema and facts about the server.
 * One thread. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/wait.h"
#include "engine/pipeline_internal.h"
#include "fleet.h"
#include "store/server/housekeeping.h"
#include "store/server/store_internal.h"

enum {
    BUSY_TIMEOUT_MS = 5000,
    AGAIN_US = 50000,
    LOOK_US = 500000,
    PARKED_US = 50000, /* as in engine/seat.c */
    RECYCLE_US = 20000000,
    CHANGES_MOST = 12, /* of a batch, in some seeds */
    SCRUB_US = 20000
};

/* ---- what is replaced ---- */

struct housekeeping *__wrap_housekeeping_start(const struct server_address *address,
                                               struct server_lineage *lineage,
                                               struct server_connection_counts *counts,
                                               uint64_t recycle_us, struct server_head *head);
struct housekeeping *__wrap_housekeeping_start(const struct server_address *address,
                                               struct server_lineage *lineage,
                                               struct server_connection_counts *counts,
                                               uint64_t recycle_us, struct server_head *head)
{
    static char nothing;
    (void)address;
    (void)lineage;
    (void)counts;
    (void)recycle_us;
    (void)head;
    return (struct housekeeping *)&nothing;
}

void __wrap_housekeeping_stop(struct housekeeping *housekeeping);
void __wrap_housekeeping_stop(struct housekeeping *housekeeping)
{
    (void)housekeeping;
}

struct log_state __wrap_acknowledged_open(struct acknowledged *file, struct slice directory,
                                          struct slice target, struct epochs_left *epochs);
struct log_state __wrap_acknowledged_open(struct acknowledged *file, struct slice directory,
                                          struct slice target, struct epochs_left *epochs)
{
    const struct remembered *remembered = &fleet.remembered[process_current()->number];
    (void)directory;
    (void)target;
    *file = (struct acknowledged){.fd = -1};
    *epochs = remembered->epochs;
    return remembered->state;
}

void __wrap_acknowledged_write(struct acknowledged *file, const struct log_state *state,
                               const struct epochs_left *epochs);
void __wrap_acknowledged_write(struct acknowledged *file, const struct log_state *state,
                               const struct epochs_left *epochs)
{
    (void)file;
    if (state->number > 0)
        fleet.remembered[process_current()->number] = (struct remembered){*state, *epochs};
}

/* ---- batches ---- */

struct store_batch __real_planned_batch(const struct planned *planned);
struct store_batch __wrap_planned_batch(const struct planned *planned);
struct store_batch __wrap_planned_batch(const struct planned *planned)
{
    struct instance *instance = (struct instance *)process_current();
    size_t before = 0;
    instance->planned_count = 0;
    for (size_t i = 0; i < planned->request_count; before = planned->ends[i++]) {
        struct asked *asked = (struct asked *)planned->requests[i];
        if (asked == NULL || planned->ends[i] == before)
            continue;
        asked->changes = true;
        check(instance->planned_count < ASKED_AT_ONCE);
        instance->planned[instance->planned_count++] = asked;
    }
    return __real_planned_batch(planned);
}

/* A batch gets its mark after it has been handed over. */
void __real_server_make_mark(struct server_store *store, unsigned char mark[static LOG_MARK_LEN]);
void __wrap_server_make_mark(struct server_store *store, unsigned char mark[static LOG_MARK_LEN]);
void __wrap_server_make_mark(struct server_store *store, unsigned char mark[static LOG_MARK_LEN])
{
    struct instance *instance = (struct instance *)process_current();
    __real_server_make_mark(store, mark);
    struct named_batch *batch = calloc(1, sizeof(*batch));
    check(batch != NULL);
    batch->next = fleet.batches;
    batch->instance = instance;
    batch->count = instance->planned_count;
    memcpy(batch->mark, mark, sizeof(batch->mark));
    memcpy(batch->asked, instance->planned, batch->count * sizeof(batch->asked[0]));
    fleet.batches = batch;
    process_trace("instance %d: a batch of %zu is named %02x%02x", instance->process.number,
                  batch->count, mark[0], mark[8]);
}

/* ---- requests ---- */

static bool plan_asked(struct pipeline_request *request, const struct plan *plan)
{
    struct asked *asked = (struct asked *)request;
    asked->changes = false;
    return client_plan(&asked->input, plan, &request->err);
}

static bool is_unknown(struct slice message)
{
    static const char text[] = "it is not known whether the change was made";
    return memmem(message.data, message.len, text, strlen(text)) != NULL;
}

static void end_asked(struct asked *asked)
{
    asked->instance->unanswered--;
    asked->instance = NULL;
    arena_destroy(asked->request.err.arena);
    asked->request.err.arena = NULL;
}

static void asked_done(struct pipeline_request *request)
{
    struct asked *asked = (struct asked *)request;
    const struct err *err = &request->err;
    asked->status = err->status;
    asked->answer = asked->instance->process.is_ending ? ANSWER_LOST
                    : err->status == 0                 ? ANSWER_OK
                    : is_unknown(err->message)         ? ANSWER_UNKNOWN
                                                       : ANSWER_REFUSED;
    process_trace("instance %d: request %p (%d) is answered %d: %.*s",
                  asked->instance->process.number, (void *)asked, (int)asked->input.op, err->status,
                  SLICE_ARG(err->message));
    fleet_digest((uint64_t)asked->answer * 1000 + (uint64_t)asked->status);
    check_answer(asked);
    end_asked(asked);
}

/* What a client of another instance may have seen: the newest state. */
static void draw_input(struct client_request *input)
{
    static struct oracle view;
    bool is_claim = fleet.in_turns && rng_below(&fleet.rng, 8) > 0;
    oracle_read(&view, &states_newest(&server.states)->tables);
    do
        client_draw(input, &view, &fleet.rng);
    while ((client_is_at_metal(input) && !fleet.has_metal) || input->op == OP_WAIT ||
           (is_claim && input->op > OP_ALLOCATIONS_DELETE));
}

void instance_ask(struct instance *instance, bool is_read)
{
    struct asked *asked = calloc(1, sizeof(*asked));
    check(asked != NULL);
    *asked = (struct asked){
        .request = {.plan = is_read ? NULL : plan_asked,
                    .plans_briefly = !is_read,
                    .done = asked_done,
                    .err = {.arena = arena_create()}},
        .next = fleet.asked,
        .instance = instance,
        .is_read = is_read,
        .since = server.states.newest,
        .sent_us = process_now_us(),
    };
    fleet.asked = asked;
    instance->unanswered++;
    process_enter(&instance->process);
    worker_enter(rng_below(&fleet.rng, 8) < fleet.at_workers
                     ? &instance->workers[rng_below(&fleet.rng, WORKERS)]
                     : NULL);
    if (is_read) {
        fleet.tally.reads++;
        pipeline_await_current(instance->pipeline, &asked->request);
    } else {
        fleet.tally.writes++;
        draw_input(&asked->input);
        pipeline_submit(instance->pipeline, &asked->request);
    }
    worker_enter(NULL);
    process_enter(NULL);
}

/* ---- the process ---- */

static bool open_store(struct instance *instance)
{
    char url[64];
    fleet_database.write_url(instance->process.node, url, sizeof(url));
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    const struct store_options options = {.connection = slice_of(url),
                                          .busy_timeout_ms = BUSY_TIMEOUT_MS,
                                          .completes_consumers = true,
                                          .owner = {universe_project(0), universe_user(0)},
                                          .recycle_us = fleet.seed % 2 == 0 ? RECYCLE_US : 0};
    instance->before = fleet.remembered[instance->process.number].state;
    instance->store = store_open(&options, &err);
    arena_destroy(arena);
    return instance->store != NULL;
}

static bool open_pipeline(struct instance *instance)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    instance->metal = (struct metal){
        .mirror = true,
        .host = SLICE_LIT("host"),
        .instance = SLICE_LIT("host 1"),
        .fake_delay_us = 1000000,
        .incomplete_project_id = universe_project(0),
        .incomplete_user_id = universe_user(0),
    };
    const struct rules *rules = products_open(&instance->products, &instance->metal);
    instance->replica = replica_create();
    instance->pipeline = pipeline_create(instance->store, instance->replica, rules, &err);
    if (instance->pipeline != NULL && fleet.seed % 3 == 0)
        pipeline_limit_changes(instance->pipeline, CHANGES_MOST);
    if (instance->pipeline != NULL)
        check(pipeline_start_observer(instance->pipeline, &err));
    arena_destroy(arena);
    if (instance->pipeline == NULL)
        return false;
    pipeline_set_scrub_interval(instance->pipeline, instance->scrubs_no_more ? 0 : SCRUB_US);
    check_restart(instance);
    const struct loss_report_options losses = {.lost = losses_note, .cls = instance};
    pipeline_report_losses(instance->pipeline, &losses);
    return true;
}

static void close_pipeline(struct instance *instance)
{
    if (instance->pipeline != NULL)
        pipeline_destroy(instance->pipeline);
    products_close(&instance->products);
    replica_destroy(instance->replica);
    store_close(instance->store);
    instance->pipeline = NULL;
    instance->replica = NULL;
    instance->store = NULL;
}

/* Until that succeeds; false: the process is killed. */
static bool open_all(struct instance *instance)
{
    while (!instance->process.is_ending) {
        if (open_store(instance)) {
            if (open_pipeline(instance))
                return true;
            close_pipeline(instance);
        }
        wait_sleep_us(AGAIN_US);
    }
    return false;
}

/* When the writer looks after a batch that a worker has sent, in world time. */
static uint64_t look_us(void *cls)
{
    const struct instance *instance = cls;
    const struct pipeline *pipeline = instance->pipeline;
    return pipeline->seat == SEAT_PARKED
               ? pipeline->direct.sent_us - instance->process.ahead_us + PARKED_US
               : UINT64_MAX;
}

/* The writer reads the clock of its process. */
static bool has_work(void *cls)
{
    struct instance *instance = cls;
    process_enter(&instance->process);
    bool has = seat_is_wanted(instance->pipeline) || instance->pipeline->ahead.edit != NULL;
    process_enter(NULL);
    return has;
}

static void add_figures(struct instance *instance)
{
    struct pipeline_figures figures = pipeline_figures(instance->pipeline);
    fleet.tally.taken += figures.taken;
    fleet.tally.follows += figures.follows;
    fleet.tally.direct += figures.direct;
    fleet.tally.reloads += figures.reloads;
    fleet.tally.looks += histogram_count(&figures.observer.look_us);
    fleet.tally.scrubs += figures.observer.scrubs;
    if (fleet.permille[FLEET_FOREIGN] == 0)
        check_observer(instance, &figures.observer);
}

static void serve(struct instance *instance)
{
    const uint64_t sleep_us = fleet.permille[FLEET_FOREIGN] > 0 ? LOOK_US : UINT64_MAX;
    instance->is_up = true;
    workers_start(instance);
    while (!instance->process.is_ending) {
        process_idle_until(has_work, look_us, instance, sleep_us);
        (void)pipeline_run_once(instance->pipeline);
        pipeline_tend_once(instance->pipeline);
    }
    instance->is_up = false;
    workers_stop(instance);
    observer_stop(instance->pipeline->observer);
    add_figures(instance);
    currency_stop(instance->pipeline->currency);
}

static void run(void *cls)
{
    struct instance *instance = cls;
    if (open_all(instance)) {
        serve(instance);
        close_pipeline(instance);
    }
    instance->has_ended = true;
}

void instance_start(struct instance *instance)
{
    int number = instance->process.number;
    uint64_t lost_at = instance->lost_at;
    *instance = (struct instance){
        .lost_at = lost_at,
        .process = {.number = number,
                    .node = rng_below(&fleet.rng, server.node_count),
                    .ahead_us = (uint64_t)rng_below(&fleet.rng, 1000000)},
    };
    process_start(&instance->process, run, instance);
}

/* Its connections break as those of a process that has ended: what was sent may arrive. */
static void cut_connections(const struct instance *instance)
{
    for (int s = 0; s < server.session_count; s++)
        if (server.sessions[s].is_used && server.sessions[s].process == &instance->process)
            fake_server_cut(&server.sessions[s]);
}

static void forget_asked(const struct instance *instance)
{
    for (struct asked *asked = fleet.asked; asked != NULL; asked = asked->next)
        if (asked->instance == instance) {
            asked->answer = ANSWER_LOST;
            check_answer(asked);
            end_asked(asked);
        }
}

void instance_kill(struct instance *instance)
{
    cut_connections(instance);
    instance->process.is_ending = true;
    instance->process.stopped_until_us = 0;
    for (uint64_t i = 0; !process_reap(&instance->process); i++)
        process_run(&instance->process, i);
    check(instance->has_ended);
    losses_forget(instance);
    forget_asked(instance);
    check(instance->unanswered == 0);
}

void instance_end_scrubs(struct instance *instance)
{
    instance->scrubs_no_more = true;
    if (instance->is_up)
        pipeline_set_scrub_interval(instance->pipeline, 0);
}

bool instance_is_idle(const struct instance *instance)
{
    return instance->unanswered == 0 && instance->is_up && !process_can_run(&instance->process);
}
