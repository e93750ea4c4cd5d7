/* The writer thread.
 *
 * Invariants (architecture, section 6): 1. a version equals the store at one committed state; 2.
 * nothing is answered or published before it is committed. A batch is planned request by request on
 * one edit; a refused request leaves no change; a store that fails takes the whole batch with it,
 * memory included. While one commit syncs, the next batch gathers in the queue. */
#include "write/pipeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "replica/apply.h"

enum { UPKEEP_EVERY_MS = 100 };

struct queue {
    struct pipeline_request *first;
    struct pipeline_request **last;
    unsigned count;
};

struct pipeline {
    struct store *store;
    struct replica *replica;
    struct arena *arena; /* the batch's */
    pthread_t thread;
    pthread_mutex_t lock; /* guards queue, stopping and waiting */
    pthread_cond_t wake;
    struct queue queue;
    bool stopping;
    unsigned waiting_for; /* wake the writer when so many are queued */
    unsigned usual_batch; /* how many requests recent batches answered */
    uint64_t last_commit_us;
    uint64_t last_upkeep_us;
    _Atomic uint64_t batches, requests, commits, reloads, follows;
};

_Static_assert(sizeof(struct store_stamp) == sizeof(struct version_stamp), "stamps are copied");

static void queue_clear(struct queue *queue)
{
    *queue = (struct queue){.last = &queue->first};
}

static void queue_append(struct queue *queue, struct pipeline_request *request)
{
    *queue->last = request;
    queue->last = &request->next;
    queue->count++;
}

static void answer_all(struct pipeline_request *first, const struct err *failure)
{
    while (first != NULL) {
        struct pipeline_request *request = first;
        first = request->next;
        if (failure != NULL) {
            /* whatever it was refused for may have been the work of its batch, which is undone */
            request->err = (struct err){.arena = request->err.arena};
            err_set(&request->err, failure->status, failure->code, "%.*s",
                    SLICE_ARG(failure->message));
        }
        request->done(request);
    }
}

static void sink_apply(void *cls, const struct change *change)
{
    apply_change(cls, change);
}

/* An edit that is as new as the database, as the open transaction sees it. NULL with err when it
 * cannot be made; the transaction is ended. */
static struct edit *bring_up_to_date(struct pipeline *pipeline, enum store_begun begun,
                                     struct err *err)
{
    if (begun == STORE_BEGIN_FAILED)
        return NULL;
    struct edit *edit;
    enum store_result result = STORE_OK;
    if (begun == STORE_BEGIN_RELOAD) {
        pipeline->reloads++;
        edit = replica_edit_empty(pipeline->replica);
        result = store_load(pipeline->store, sink_apply, edit, err);
    } else {
        edit = replica_edit(pipeline->replica);
        if (begun == STORE_BEGIN_FOLLOW) {
            pipeline->follows++;
            result = store_follow(pipeline->store, sink_apply, edit, err);
        }
    }
    if (result == STORE_OK) {
        apply_flush(edit);
        return edit;
    }
    struct store_stamp ignored;
    store_rollback(pipeline->store, &ignored);
    replica_abandon(pipeline->replica, edit);
    return NULL;
}

/* Plans every request of the batch on the edit; false when the store failed (err is set). */
static bool plan_batch(struct pipeline *pipeline, struct edit *edit, struct pipeline_request *first,
                       size_t *changes_made, struct err *err)
{
    struct change_list changes = {.arena = pipeline->arena};
    struct plan plan = {
        .version = edit->version,
        .changes = &changes,
        .arena = pipeline->arena,
        .store = pipeline->store,
    };
    for (struct pipeline_request *request = first; request != NULL; request = request->next) {
        changes.count = 0;
        plan.now_us = clock_wall_us();
        if (!request->plan(request, &plan)) {
            check(err_is_set(&request->err));
            continue;
        }
        if (changes.count == 0)
            continue;
        *changes_made += changes.count;
        if (store_apply(pipeline->store, &changes, err) != STORE_OK)
            return false;
        apply_changes(edit, &changes);
    }
    return true;
}

static void publish(struct pipeline *pipeline, struct edit *edit, const struct store_stamp *stamp,
                    bool holds)
{
    struct version_stamp copy = {
        {0}}; /* all zero is never current: readers will ask the writer again */
    if (holds)
        memcpy(&copy, stamp, sizeof(copy));
    replica_publish(pipeline->replica, edit, &copy);
}

/* Brings memory up to date, in a transaction that only reads. */
static bool renew(struct pipeline *pipeline, struct err *err)
{
    enum store_begun begun = store_begin(pipeline->store, STORE_TO_READ, err);
    struct edit *edit = bring_up_to_date(pipeline, begun, err);
    if (edit == NULL)
        return false;
    struct store_stamp stamp;
    bool holds = store_rollback(pipeline->store, &stamp);
    publish(pipeline, edit, &stamp, holds);
    return true;
}

/* A load takes long: it is made in a snapshot first, so that it holds the lock only if somebody
 * writes meanwhile. */
static struct edit *begin_to_write(struct pipeline *pipeline, struct err *err)
{
    struct store_stamp ignored;
    enum store_begun begun = store_begin(pipeline->store, STORE_TO_WRITE, err);
    if (begun != STORE_BEGIN_RELOAD)
        return bring_up_to_date(pipeline, begun, err);
    store_rollback(pipeline->store, &ignored);
    if (!renew(pipeline, err))
        return NULL;
    begun = store_begin(pipeline->store, STORE_TO_WRITE, err);
    return bring_up_to_date(pipeline, begun, err);
}

static void answer_waiting(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct err err = {.arena = pipeline->arena};
    /* Mostly the last commit of our own is what they did not know yet. */
    if (pipeline_is_current(pipeline, replica_newest(pipeline->replica)) || renew(pipeline, &err))
        answer_all(first, NULL);
    else
        answer_all(first, &err);
}

static void run_planned(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct err err = {.arena = pipeline->arena};
    struct edit *edit = begin_to_write(pipeline, &err);
    if (edit == NULL) {
        answer_all(first, &err);
        return;
    }
    size_t changes = 0;
    struct store_stamp stamp;
    if (!plan_batch(pipeline, edit, first, &changes, &err)) {
        store_rollback(pipeline->store, &stamp);
        replica_abandon(pipeline->replica, edit);
        answer_all(first, &err);
        return;
    }
    if (changes == 0) {
        bool holds = store_rollback(pipeline->store, &stamp);
        publish(pipeline, edit, &stamp, holds);
        answer_all(first, NULL);
        return;
    }
    bool stranger = false;
    uint64_t before = clock_monotonic_us();
    if (store_commit(pipeline->store, &stamp, &stranger, &err) != STORE_OK) {
        replica_abandon(pipeline->replica, edit);
        answer_all(first, &err);
        return;
    }
    pipeline->last_commit_us = clock_monotonic_us() - before;
    pipeline->commits++;
    publish(pipeline, edit, &stamp, !stranger);
    answer_all(first, NULL);
}

/* What only waits for news goes first: it needs neither the lock that another process may hold nor
 * a disk that can be written. */
static void run_batch(struct pipeline *pipeline, struct pipeline_request *first)
{
    struct queue waiting;
    struct queue planned;
    queue_clear(&waiting);
    queue_clear(&planned);
    while (first != NULL) {
        struct pipeline_request *request = first;
        first = request->next;
        request->next = NULL;
        queue_append(request->plan == NULL ? &waiting : &planned, request);
    }
    if (waiting.first != NULL)
        answer_waiting(pipeline, waiting.first);
    if (planned.first != NULL)
        run_planned(pipeline, planned.first);
}

static void wait_until(struct pipeline *pipeline, uint64_t deadline_us)
{
    struct timespec at = {
        .tv_sec = (time_t)(deadline_us / 1000000),
        .tv_nsec = (long)(deadline_us % 1000000) * 1000,
    };
    pthread_cond_timedwait(&pipeline->wake, &pipeline->lock, &at);
}

/* Takes what is queued; under the lock. */
static struct pipeline_request *take_queue(struct pipeline *pipeline, unsigned *count)
{
    struct pipeline_request *first = pipeline->queue.first;
    *count = pipeline->queue.count;
    queue_clear(&pipeline->queue);
    return first;
}

/* Takes the next batch; NULL when it is time for upkeep, or to stop. */
static struct pipeline_request *next_batch(struct pipeline *pipeline, unsigned *count)
{
    pthread_mutex_lock(&pipeline->lock);
    uint64_t upkeep_at = pipeline->last_upkeep_us + UPKEEP_EVERY_MS * 1000;
    pipeline->waiting_for = 1;
    while (pipeline->queue.count == 0 && !pipeline->stopping && clock_monotonic_us() < upkeep_at)
        wait_until(pipeline, upkeep_at);
    /* left at that, half of the clients are always one batch late: give them a moment to come back
     */
    if (pipeline->queue.count > 0 && pipeline->queue.count < pipeline->usual_batch) {
        uint64_t patience_end = clock_monotonic_us() + pipeline->last_commit_us / 8;
        pipeline->waiting_for = pipeline->usual_batch;
        while (pipeline->queue.count < pipeline->usual_batch && clock_monotonic_us() < patience_end)
            wait_until(pipeline, patience_end);
    }
    struct pipeline_request *first = take_queue(pipeline, count);
    pthread_mutex_unlock(&pipeline->lock);
    return first;
}

static void count_and_run(struct pipeline *pipeline, struct pipeline_request *first, unsigned count)
{
    pipeline->batches++;
    pipeline->requests += count;
    run_batch(pipeline, first);
    arena_reset(pipeline->arena);
    /* grows at once, shrinks by halves: a lone client never waits for others */
    pipeline->usual_batch =
        count > pipeline->usual_batch ? count : (pipeline->usual_batch + count) / 2;
}

bool pipeline_run_once(struct pipeline *pipeline)
{
    unsigned count;
    pthread_mutex_lock(&pipeline->lock);
    struct pipeline_request *first = take_queue(pipeline, &count);
    pthread_mutex_unlock(&pipeline->lock);
    if (first == NULL)
        return false;
    count_and_run(pipeline, first, count);
    return true;
}

static void *writer(void *cls)
{
    struct pipeline *pipeline = cls;
    for (;;) {
        unsigned count;
        struct pipeline_request *first = next_batch(pipeline, &count);
        if (first != NULL)
            count_and_run(pipeline, first, count);
        uint64_t now = clock_monotonic_us();
        if (now - pipeline->last_upkeep_us >= UPKEEP_EVERY_MS * 1000) {
            store_upkeep(pipeline->store);
            pipeline->last_upkeep_us = clock_monotonic_us();
        }
        if (first == NULL) {
            pthread_mutex_lock(&pipeline->lock);
            bool stop = pipeline->stopping && pipeline->queue.count == 0;
            pthread_mutex_unlock(&pipeline->lock);
            if (stop)
                return NULL;
        }
    }
}

struct pipeline *pipeline_create(struct store *store, struct replica *replica, struct err *err)
{
    struct pipeline *pipeline = calloc(1, sizeof(*pipeline));
    check(pipeline != NULL);
    pipeline->store = store;
    pipeline->replica = replica;
    pipeline->arena = arena_create();
    queue_clear(&pipeline->queue);
    pthread_mutex_init(&pipeline->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&pipeline->wake, &attr);
    pthread_condattr_destroy(&attr);
    if (renew(pipeline, err))
        return pipeline;
    pipeline_destroy(pipeline);
    return NULL;
}

void pipeline_destroy(struct pipeline *pipeline)
{
    pthread_cond_destroy(&pipeline->wake);
    pthread_mutex_destroy(&pipeline->lock);
    arena_destroy(pipeline->arena);
    free(pipeline);
}

struct pipeline *pipeline_start(struct store *store, struct replica *replica, struct err *err)
{
    struct pipeline *pipeline = pipeline_create(store, replica, err);
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
    request->next = NULL;
    pthread_mutex_lock(&pipeline->lock);
    if (pipeline->stopping) {
        pthread_mutex_unlock(&pipeline->lock);
        err_set(&request->err, 503, NULL, "The service is stopping.");
        request->done(request);
        return;
    }
    queue_append(&pipeline->queue, request);
    bool wake = pipeline->queue.count == pipeline->waiting_for;
    pthread_mutex_unlock(&pipeline->lock);
    if (wake)
        pthread_cond_signal(&pipeline->wake);
}

void pipeline_stop(struct pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline->stopping = true;
    pthread_mutex_unlock(&pipeline->lock);
    pthread_cond_signal(&pipeline->wake);
    pthread_join(pipeline->thread, NULL);
    pipeline_destroy(pipeline);
}

bool pipeline_is_current(const struct pipeline *pipeline, const struct version *version)
{
    struct store_stamp stamp;
    memcpy(&stamp, &version->stamp, sizeof(stamp));
    return store_is_current(pipeline->store, &stamp);
}

struct pipeline_figures pipeline_figures(const struct pipeline *pipeline)
{
    return (struct pipeline_figures){
        .batches = pipeline->batches,
        .requests = pipeline->requests,
        .commits = pipeline->commits,
        .reloads = pipeline->reloads,
        .follows = pipeline->follows,
    };
}
