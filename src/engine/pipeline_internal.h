/* State and functions that the writer thread (pipeline.c) and its batches (batch.c) share. */
#ifndef BERTH_ENGINE_PIPELINE_INTERNAL_H
#define BERTH_ENGINE_PIPELINE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/pipeline.h"
#include "engine/rules.h"

struct queue {
    struct pipeline_request *first;
    struct pipeline_request **last;
    unsigned count;
};

struct pipeline {
    struct store *store;
    struct replica *replica;
    const struct rules *rules;
    bool plans_twice;
    struct arena *arena; /* the batch's */
    pthread_t thread;
    pthread_mutex_t lock; /* guards queue, stopping and waiting */
    pthread_cond_t wake;
    struct queue queue;
    bool stopping;
    unsigned waiting_for; /* wake the writer when that many are queued */
    unsigned usual_batch; /* number of requests in recent batches */
    uint64_t last_commit_us;
    uint64_t last_upkeep_us;
    struct outage outage;       /* used by the writer only */
    uint64_t refusal_logged_us; /* for requests that the store refused; used by the writer only */
    uint64_t refusals_not_logged;
    _Atomic uint64_t batches, requests, commits, reloads, merges, follows;
    _Atomic uint64_t iterations;
    struct counter refused[PIPELINE_REFUSAL_COUNT];
    struct histogram batch_requests;
    struct histogram commit_us;
    struct counter arena_bytes;
    struct counter alive_at_us;
    struct counter fresh_at_us;
};

/* Queues are lists through pipeline_request.next. */
static inline void queue_clear(struct queue *queue)
{
    *queue = (struct queue){.last = &queue->first};
}

static inline void queue_append(struct queue *queue, struct pipeline_request *request)
{
    request->next = NULL;
    *queue->last = request;
    queue->last = &request->next;
    queue->count++;
}

/* queue.c, under the lock: takes all requests and counts them; NULL: there are none. */
struct pipeline_request *queue_take_all(struct pipeline *pipeline, unsigned *count);

/* queue.c: takes the requests that only wait for news out of the queue; NULL: there are none. */
struct pipeline_request *pipeline_take_readers(struct pipeline *pipeline);

/* queue.c: records that the writer is not stuck. */
void pipeline_beat(struct pipeline *pipeline);

/* news.c, on the writer thread: makes an edit that is as new as the database, as seen by the
 * transaction that has just begun. NULL with err if this fails; the transaction has then been
 * ended. */
struct edit *news_take(struct pipeline *pipeline, enum store_begun begun, struct err *err);

/* batch.c, on the writer thread. */
/* Decides and answers the requests. */
void batch_run(struct pipeline *pipeline, struct pipeline_request *first);
/* Brings memory up to date, in a transaction that only reads. */
bool batch_renew(struct pipeline *pipeline, struct err *err) BERTH_MUST_CHECK;

#endif
