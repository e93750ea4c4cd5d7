/* The writer thread: its queue, how long it waits for a batch to gather, its start and stop.
 *
 * While one commit syncs, the next batch gathers in the queue, or is planned ahead (ahead.c);
 * batch.c decides it. Any thread may submit requests; everything else runs on the writer thread. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/wait.h"
#include "engine/pipeline_internal.h"
#include "engine/pulse.h"

enum {
    UPKEEP_EVERY_MS = 100,
    LOOK_EVERY_MS = 25, /* whether a batch that another thread has begun takes long */
    PATIENCE_MAX_US = 10000,
    GIVEN_UP_US = 1000000, /* what the database has not answered by then is not waited for */
};

/* PostgreSQL takes 0.3 s for the 12 500 claims that make so many, and may take five for each
 * statement. */
enum { CHANGES_MOST = 50000 };

/* Under the lock. Without a wait, half of the clients would always be one batch late: they get a
 * moment to send their next request. */
static void let_gather(struct pipeline *pipeline)
{
    if (pipeline->queue.count == 0 || pipeline->queue.count >= pipeline->usual_batch)
        return;
    /* One slow commit (a busy disk) does not predict the next one. */
    uint64_t patience_us = pipeline->last_commit_us / 8;
    if (patience_us > PATIENCE_MAX_US)
        patience_us = PATIENCE_MAX_US;
    uint64_t patience_end = clock_monotonic_us() + patience_us;
    pipeline->waiting_for = pipeline->usual_batch;
    while (pipeline->queue.count < pipeline->usual_batch && clock_monotonic_us() < patience_end)
        wait_until(&pipeline->wake, &pipeline->lock, patience_end);
}

/* Takes the seat, and the next batch, unless one is on its way already; NULL when it is time for
 * that, for upkeep or to stop. */
static struct pipeline_request *next_batch(struct pipeline *pipeline, unsigned *count)
{
    pthread_mutex_lock(&pipeline->lock);
    uint64_t upkeep_at = pipeline->last_upkeep_us + UPKEEP_EVERY_MS * 1000;
    pipeline->waiting_for = 1;
    while (!seat_is_wanted(pipeline) && clock_monotonic_us() < upkeep_at) {
        uint64_t look_at = clock_monotonic_us() + LOOK_EVERY_MS * 1000;
        wait_until(&pipeline->wake, &pipeline->lock, look_at < upkeep_at ? look_at : upkeep_at);
    }
    seat_take(pipeline);
    struct pipeline_request *first = NULL;
    *count = 0;
    if (!direct_is_parked(pipeline)) {
        let_gather(pipeline);
        first = queue_take_all(pipeline, count);
    }
    pthread_mutex_unlock(&pipeline->lock);
    return first;
}

static void count_and_run(struct pipeline *pipeline, struct pipeline_request *first, unsigned count)
{
    queue_begin_batch(pipeline, count);
    batch_run(pipeline, first);
    queue_end_batch(pipeline, count);
}

/* The batch that another thread has begun, and has left. */
static bool run_parked(struct pipeline *pipeline)
{
    struct pipeline_request *request = pipeline->direct.request;
    if (request == NULL)
        return false;
    batch_run(pipeline, request);
    queue_end_batch(pipeline, 1);
    return true;
}

/* The batch that was planned while the last one was on its way. Reads come first, as in any batch:
 * if they find news, the plan was in vain. */
static bool run_ahead(struct pipeline *pipeline)
{
    unsigned count;
    if (pipeline->ahead.edit == NULL)
        return false;
    waiting_meanwhile(pipeline);
    struct pipeline_request *first = ahead_adopt(pipeline, &count);
    if (first != NULL)
        count_and_run(pipeline, first, count);
    return first != NULL;
}

bool pipeline_run_once(struct pipeline *pipeline)
{
    unsigned count = 0;
    if (pipeline->ahead.edit == NULL) { /* otherwise it has kept the seat */
        pthread_mutex_lock(&pipeline->lock);
        seat_take(pipeline);
        pthread_mutex_unlock(&pipeline->lock);
    }
    bool ran = run_parked(pipeline) || run_ahead(pipeline);
    if (!ran) {
        pthread_mutex_lock(&pipeline->lock);
        struct pipeline_request *first = queue_take_all(pipeline, &count);
        pthread_mutex_unlock(&pipeline->lock);
        if (first != NULL)
            count_and_run(pipeline, first, count);
    }
    if (pipeline->ahead.edit == NULL)
        seat_leave(pipeline);
    return ran || count > 0;
}

/* Also while there are no requests, so that the first one after a pause finds what is right. */
static void read_if_wrong(struct pipeline *pipeline)
{
    struct err err = {.arena = pipeline->arena};
    if (store_should_read(pipeline->store) && news_take(pipeline, &err) == NEWS_FAILED)
        pipeline_beat(pipeline); /* it took as long as the time limit; it is logged as an outage */
    arena_reset(pipeline->arena);
}

static void tend(struct pipeline *pipeline)
{
    store_upkeep(pipeline->store);
    read_if_wrong(pipeline);
    replica_tidy(pipeline->replica);
}

void pipeline_tend_once(struct pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    bool is_free = pipeline->seat == SEAT_FREE;
    if (is_free)
        seat_take(pipeline);
    pthread_mutex_unlock(&pipeline->lock);
    if (!is_free)
        return;
    tend(pipeline);
    seat_leave(pipeline);
}

static bool run_next(struct pipeline *pipeline)
{
    unsigned count;
    struct pipeline_request *first = next_batch(pipeline, &count);
    if (first == NULL)
        return run_parked(pipeline);
    count_and_run(pipeline, first, count);
    return true;
}

/* It has the seat, except while it waits for something to do. */
static void *writer(void *cls)
{
    struct pipeline *pipeline = cls;
    bool stop = false;
    pthread_setname_np(pthread_self(), "writer"); /* for top, and for bench/occupy.py */
    while (!stop) {
        const bool has_seat = pipeline->ahead.edit != NULL;
        pipeline_beat(pipeline);
        bool ran = run_ahead(pipeline);
        if (!ran && has_seat) /* the plan was dropped */
            seat_leave(pipeline);
        ran = ran || run_next(pipeline);
        uint64_t now = clock_monotonic_us();
        if (now - pipeline->last_upkeep_us >= UPKEEP_EVERY_MS * 1000) {
            tend(pipeline);
            pipeline->last_upkeep_us = clock_monotonic_us();
        }
        if (pipeline->ahead.edit != NULL)
            continue;
        pthread_mutex_lock(&pipeline->lock);
        stop = !ran && pipeline->stopping && pipeline->queue.count == 0;
        pthread_mutex_unlock(&pipeline->lock);
        seat_leave(pipeline);
    }
    return NULL;
}

static void submit_to_writer(void *cls, struct pipeline_request *request)
{
    pipeline_submit(cls, request);
}

struct pipeline *pipeline_create(struct store *store, struct replica *replica,
                                 const struct rules *rules, struct err *err)
{
    struct pipeline *pipeline = calloc(1, sizeof(*pipeline));
    check(pipeline != NULL);
    pipeline->store = store;
    pipeline->replica = replica;
    pipeline->rules = rules;
    pipeline->changes_most = CHANGES_MOST;
    pipeline->arena = arena_create();
    pipeline->currency =
        currency_create(store, (struct currency_writer){submit_to_writer, pipeline});
    pipeline_beat(pipeline);
    direct_init(pipeline);
    queue_clear(&pipeline->queue);
    queue_clear(&pipeline->late);
    queue_clear(&pipeline->ahead.requests);
    pipeline->ahead.arena = arena_create();
    pthread_mutex_init(&pipeline->lock, NULL);
    wait_init(&pipeline->wake);
    if (news_try(pipeline, err) == NEWS_TAKEN) {
        const struct store_meanwhile meanwhile = {waiting_in_store, pipeline};
        store_set_meanwhile(store, &meanwhile);
        return pipeline;
    }
    pipeline_destroy(pipeline);
    return NULL;
}

void pipeline_plan_twice(struct pipeline *pipeline)
{
    pipeline->plans_twice = true;
}

void pipeline_limit_changes(struct pipeline *pipeline, size_t most)
{
    pipeline->changes_most = most;
}

void pipeline_report_losses(struct pipeline *pipeline, const struct loss_report_options *options)
{
    pipeline->losses.options = *options;
}

void pipeline_destroy(struct pipeline *pipeline)
{
    store_set_meanwhile(pipeline->store, NULL);
    observer_destroy(pipeline->observer);
    pthread_cond_destroy(&pipeline->wake);
    pthread_mutex_destroy(&pipeline->lock);
    currency_destroy(pipeline->currency);
    /* requests of these may be gone already */
    if (pipeline->ahead.edit != NULL)
        replica_abandon(pipeline->replica, pipeline->ahead.edit);
    if (direct_is_parked(pipeline))
        replica_abandon(pipeline->replica, pipeline->direct.commit.edit);
    arena_destroy(pipeline->ahead.arena);
    arena_destroy(pipeline->arena);
    free(pipeline);
}

struct pipeline *pipeline_start(struct store *store, struct replica *replica,
                                const struct rules *rules, struct err *err)
{
    struct pipeline *pipeline = pipeline_create(store, replica, rules, err);
    if (pipeline == NULL)
        return NULL;
    if (pthread_create(&pipeline->thread, NULL, writer, pipeline) != 0) {
        err_set(err, 503, NULL, "cannot start the writer thread");
        pipeline_destroy(pipeline);
        return NULL;
    }
    return pipeline;
}

void pipeline_submit(struct pipeline *pipeline, struct pipeline_request *request)
{
    if (direct_submit(pipeline, request))
        return;
    pthread_mutex_lock(&pipeline->lock);
    if (pipeline->stopping) {
        pthread_mutex_unlock(&pipeline->lock);
        err_set(&request->err, 503, NULL, ANSWER_STOPPING);
        request->done(request);
        return;
    }
    queue_append(&pipeline->queue, request);
    bool wake = pipeline->queue.count == pipeline->waiting_for;
    pthread_mutex_unlock(&pipeline->lock);
    if (wake)
        pthread_cond_signal(&pipeline->wake);
}

void pipeline_await_current(struct pipeline *pipeline, struct pipeline_request *request)
{
    currency_submit(pipeline->currency, request);
}

uint64_t pipeline_known_at_us(const struct pipeline *pipeline)
{
    return currency_known_at_us(pipeline->currency);
}

bool pipeline_start_pulse(struct pipeline *pipeline, struct err *err)
{
    static const struct store_stamp NOTHING;
    if (store_currency(pipeline->store, &NOTHING) != STORE_MUST_ASK)
        return true;
    pipeline->pulse = pulse_start(pipeline->currency);
    return pipeline->pulse != NULL ||
           err_set(err, 503, NULL, "cannot start the thread that keeps memory current");
}

bool pipeline_start_observer(struct pipeline *pipeline, struct err *err)
{
    struct store_observer *rows = store_observe(pipeline->store, err);
    if (rows == NULL)
        return !err_is_set(err);
    pipeline->observer = observer_start(rows, pipeline->replica, pipeline->currency,
                                        (struct currency_writer){submit_to_writer, pipeline});
    return pipeline->observer != NULL ||
           err_set(err, 503, NULL, "cannot start the thread that observes the database");
}

void pipeline_set_scrub_interval(struct pipeline *pipeline, uint64_t interval_us)
{
    if (pipeline->observer != NULL)
        observer_set_scrub_interval(pipeline->observer, interval_us);
}

void pipeline_set_reads_most(struct pipeline *pipeline, uint64_t reads_most_us)
{
    currency_set_reads_most(pipeline->currency, reads_most_us);
}

void pipeline_give_up(struct pipeline *pipeline)
{
    uint64_t unknown = 0;
    pipeline->has_given_up = true;
    (void)atomic_compare_exchange_strong(&pipeline->over_us, &unknown,
                                         clock_monotonic_us() + GIVEN_UP_US);
}

void pipeline_stop(struct pipeline *pipeline)
{
    observer_stop(pipeline->observer);
    pulse_stop(pipeline->pulse);
    currency_stop(pipeline->currency);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->stopping = true;
    pipeline_give_up(pipeline);
    pthread_mutex_unlock(&pipeline->lock);
    pthread_cond_signal(&pipeline->wake);
    pthread_join(pipeline->thread, NULL);
    pulse_destroy(pipeline->pulse);
    pipeline_destroy(pipeline);
}

uint64_t pipeline_changes(const struct pipeline *pipeline)
{
    return pipeline->commits + pipeline->follows + pipeline->reloads;
}

uint64_t pipeline_iterations(const struct pipeline *pipeline)
{
    return pipeline->iterations;
}

static uint64_t since(uint64_t now_us, const struct counter *at_us)
{
    uint64_t then_us = counter_read(at_us);
    return then_us < now_us ? now_us - then_us : 0;
}

static struct pipeline_losses read_losses(const struct loss_counters *counters)
{
    struct pipeline_losses losses = {
        .events = counter_read(&counters->events),
        .unwritten = counter_read(&counters->unwritten),
        .allocations = counter_read(&counters->allocations),
    };
    for (int entity = 0; entity < ENTITY_COUNT; entity++)
        losses.lost[entity] = counter_read(&counters->lost[entity]);
    return losses;
}

struct pipeline_figures pipeline_figures(struct pipeline *pipeline)
{
    uint64_t now_us = clock_monotonic_us();
    struct pipeline_figures figures = {
        .batches = pipeline->batches,
        .requests = pipeline->requests,
        .commits = pipeline->commits,
        .direct = counter_read(&pipeline->direct.done),
        .taken = pipeline->taken,
        .reloads = pipeline->reloads,
        .merges = pipeline->merges,
        .follows = pipeline->follows,
        .outage = (enum outage_extent)counter_read(&pipeline->outage.shown_extent),
        .arena_bytes = counter_read(&pipeline->arena_bytes),
        .silent_us = since(now_us, &pipeline->alive_at_us),
        .fresh_us = since(now_us, &pipeline->fresh_at_us),
    };
    for (unsigned i = 0; i < PIPELINE_REFUSAL_COUNT; i++)
        figures.refused[i] = counter_read(&pipeline->refused[i]);
    for (unsigned i = 0; i < OUTAGE_EXTENT_COUNT; i++)
        figures.outages[i] = counter_read(&pipeline->outage.begun[i]);
    figures.currency = currency_figures(pipeline->currency);
    figures.observer = observer_figures(pipeline->observer);
    figures.losses = read_losses(&pipeline->losses.counters);
    uint64_t known_us = now_us - pipeline_known_at_us(pipeline);
    if (known_us < figures.fresh_us)
        figures.fresh_us = known_us;
    histogram_read(&pipeline->batch_requests, &figures.batch_requests);
    histogram_read(&pipeline->commit_us, &figures.commit_us);
    pthread_mutex_lock(&pipeline->lock);
    figures.queued = pipeline->queue.count;
    pthread_mutex_unlock(&pipeline->lock);
    return figures;
}
