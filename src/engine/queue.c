/* Operations on a pipeline that both the writer thread (pipeline.c) and its batches (batch.c) use:
 * taking requests out of the queue, counting batches, recording that the writer is not stuck, and
 * checking whether a version is the newest. */
#include "base/arena.h"
#include "base/clock.h"
#include "engine/pipeline_internal.h"

struct pipeline_request *queue_take_all(struct pipeline *pipeline, unsigned *count)
{
    struct pipeline_request *first = pipeline->queue.first;
    *count = pipeline->queue.count;
    queue_clear(&pipeline->queue);
    return first;
}

/* Takes all requests, and puts those back that are not wanted. */
static void take_kind(struct pipeline *pipeline, bool has_plan, struct queue *taken)
{
    struct queue others;
    unsigned count;
    queue_clear(taken);
    queue_clear(&others);
    pthread_mutex_lock(&pipeline->lock);
    struct pipeline_request *next = queue_take_all(pipeline, &count);
    while (next != NULL) {
        struct pipeline_request *request = next;
        next = request->next;
        queue_append((request->plan != NULL) == has_plan ? taken : &others, request);
    }
    queue_move(&pipeline->queue, &others);
    pthread_mutex_unlock(&pipeline->lock);
}

struct pipeline_request *pipeline_take_readers(struct pipeline *pipeline)
{
    struct queue readers;
    take_kind(pipeline, false, &readers);
    pipeline->requests += readers.count;
    return readers.first;
}

void pipeline_borrow_readers(struct pipeline *pipeline, struct queue *readers)
{
    take_kind(pipeline, false, readers);
}

void pipeline_take_planners(struct pipeline *pipeline, struct queue *planners)
{
    take_kind(pipeline, true, planners);
}

void pipeline_put_back(struct pipeline *pipeline, struct queue *requests)
{
    pthread_mutex_lock(&pipeline->lock);
    queue_move(requests, &pipeline->queue);
    queue_move(&pipeline->queue, requests);
    pthread_mutex_unlock(&pipeline->lock);
}

void queue_begin_batch(struct pipeline *pipeline, unsigned count)
{
    pipeline->batches++;
    pipeline->requests += count;
    pipeline->joined = 0;
}

void queue_end_batch(struct pipeline *pipeline, unsigned count)
{
    count += pipeline->joined;
    counter_set(&pipeline->arena_bytes, arena_footprint_bytes(pipeline->arena));
    arena_reset(pipeline->arena);
    /* grows at once, shrinks by half each time, so that a single client does not wait for others */
    pipeline->usual_batch =
        count > pipeline->usual_batch ? count : (pipeline->usual_batch + count) / 2;
}

bool pipeline_is_over(const struct pipeline *pipeline)
{
    uint64_t over_us = pipeline->over_us;
    return over_us != 0 && clock_monotonic_us() >= over_us;
}

void pipeline_beat(struct pipeline *pipeline)
{
    pipeline->iterations++;
    counter_set(&pipeline->alive_at_us, clock_monotonic_us());
}

enum store_currency pipeline_currency(const struct pipeline *pipeline,
                                      const struct version *version)
{
    struct store_stamp stamp;
    memcpy(&stamp, &version->stamp, sizeof(stamp));
    enum store_currency currency = store_currency(pipeline->store, &stamp);
    if (currency == STORE_MUST_ASK && store_stamp_is_unknown(&stamp))
        return STORE_IS_OUTDATED;
    return currency;
}
