/* The one writer: takes all queued requests, plans them on the newest version, commits them in one
 * transaction, publishes the version and answers all of them (ARCHITECTURE.md, How a write is
 * committed). */
#ifndef BERTH_ENGINE_PIPELINE_H
#define BERTH_ENGINE_PIPELINE_H

#include "base/histogram.h"
#include "engine/currency.h"
#include "engine/loss_report.h"
#include "engine/observer.h"
#include "engine/outage.h"
#include "engine/pipeline_request.h"
#include "replica/replica.h"

struct pipeline;

/* Loads the database into the replica and starts the writer thread. The caller provides store,
 * replica and rules (NULL: there are none), which outlive the pipeline. What the store does while
 * it waits (store_set_meanwhile()) is the pipeline's own as soon as the database is loaded. NULL
 * with err if the load fails. */
struct pipeline *pipeline_start(struct store *store, struct replica *replica,
                                const struct rules *rules, struct err *err);

/* From now on, memory stays current on a database on a server even if nobody reads (pulse.h); on
 * others this does nothing. It ends with pipeline_stop(). False: err is set. */
bool pipeline_start_pulse(struct pipeline *pipeline, struct err *err) BERTH_MUST_CHECK;

/* From now on, what programs without a log write to a database on a server is found (observer.h);
 * on others this does nothing. It ends with pipeline_stop(). False: err is set. */
bool pipeline_start_observer(struct pipeline *pipeline, struct err *err) BERTH_MUST_CHECK;

/* The time between two scrubs (observer.h); 0, as at the start: there are none. Any thread. */
void pipeline_set_scrub_interval(struct pipeline *pipeline, uint64_t interval_us);

/* How old the state may be from which reads are answered while the database is unavailable; needs
 * the pulse. 0, as at the start: reads are refused with 503. Any thread. */
void pipeline_set_reads_most(struct pipeline *pipeline, uint64_t reads_most_us);

/* The same without a thread: the caller acts as the writer, with pipeline_run_once. For
 * simulations. */
struct pipeline *pipeline_create(struct store *store, struct replica *replica,
                                 const struct rules *rules, struct err *err);

/* Plans every request twice and uses the second result, to test that plans may run twice. Call it
 * before the first request. For simulations. */
void pipeline_plan_twice(struct pipeline *pipeline);

/* A batch that has so many changes gets no further request: those that wait are the next one. Call
 * it before the first request. For tests; otherwise it is what a database can commit in time. */
void pipeline_limit_changes(struct pipeline *pipeline, size_t most);

/* What happens when the database went back, in addition to the log and the counters. Call it before
 * the first request. */
void pipeline_report_losses(struct pipeline *pipeline, const struct loss_report_options *options);

/* Decides all queued requests as one batch; false if there are none. */
bool pipeline_run_once(struct pipeline *pipeline);

/* A counter that grows at least ten times a second unless the writer thread is stuck in the store.
 * Any thread. */
uint64_t pipeline_iterations(const struct pipeline *pipeline);

/* Frees a pipeline without a thread; queued requests are never answered. */
void pipeline_destroy(struct pipeline *pipeline);

/* Queues a request. Any thread. After pipeline_stop has begun, requests are refused with 503. */
void pipeline_submit(struct pipeline *pipeline, struct pipeline_request *request);

/* The process does not stop later because the database does not answer: a second from now on, the
 * writer waits for nothing any more. Requests whose commit has no answer by then get 503 and the
 * text that the outcome is not known; others are refused with 503. Any thread. */
void pipeline_give_up(struct pipeline *pipeline);

/* Gives up, completes queued requests, then stops the writer and frees the pipeline. */
void pipeline_stop(struct pipeline *pipeline);

/* A version that is pinned after this call is at least as new as the database was then, as a query
 * has found; 0: nothing is known. Any thread. */
uint64_t pipeline_known_at_us(const struct pipeline *pipeline);

/* A counter that grows whenever memory changes: by a commit or by other processes' writes. Any
 * thread. */
uint64_t pipeline_changes(const struct pipeline *pipeline);

/* Whether the version is the database's newest state. Any thread, wait-free. */
enum store_currency pipeline_currency(const struct pipeline *pipeline,
                                      const struct version *version);

/* Whether that is known without a query to the database. */
static inline bool pipeline_is_current(const struct pipeline *pipeline,
                                       const struct version *version)
{
    return pipeline_currency(pipeline, version) == STORE_IS_CURRENT;
}

/* Completes a request without a plan as soon as the newest version contains everything that was
 * committed to the database before this call, by whomever: the submitter may then use the newest
 * version without another check. If the database cannot be read, the request is refused with 503.
 * `done` may be called on any thread, also before this function returns. Any thread. */
void pipeline_await_current(struct pipeline *pipeline, struct pipeline_request *request);

static const struct histogram_shape PIPELINE_BATCH_SHAPE = {
    .count = 10, .bounds = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}};
static const struct histogram_shape PIPELINE_COMMIT_SHAPE_US = {
    .count = 14,
    .bounds = {100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000,
               1000000, 5000000}};

/* The database went back, and this is gone (replica/losses.h). */
struct pipeline_losses {
    uint64_t events;
    uint64_t unwritten; /* of these: the file could not be written */
    uint64_t allocations;
    uint64_t lost[ENTITY_COUNT]; /* entities that are gone, older or changed */
};

struct pipeline_figures {
    uint64_t batches;
    uint64_t requests;
    uint64_t commits;
    uint64_t direct;  /* of these, how many threads have done without the writer's */
    uint64_t taken;   /* how often a batch was planned again because others had written first */
    uint64_t reloads; /* how often the whole database was read */
    uint64_t merges;  /* of these, how often only differences were applied to memory */
    uint64_t follows;
    uint64_t queued;                          /* requests, at present */
    uint64_t refused[PIPELINE_REFUSAL_COUNT]; /* of requests with a plan */
    struct histogram_total batch_requests;    /* requests with a plan, in each batch that has any */
    struct histogram_total commit_us;         /* of successful commits */
    enum outage_extent outage;                /* at present */
    uint64_t outages[OUTAGE_EXTENT_COUNT];    /* since the start, by extent */
    uint64_t arena_bytes;                     /* used by the last batch */
    uint64_t silent_us; /* since the writer last ran, which it does about ten times a second unless
                         * the database blocks it */
    uint64_t fresh_us;  /* since memory was last found to be as new as the database */
    struct currency_figures currency;
    struct observer_figures observer;
    struct pipeline_losses losses;
};

/* Any thread. */
struct pipeline_figures pipeline_figures(struct pipeline *pipeline);

#endif
