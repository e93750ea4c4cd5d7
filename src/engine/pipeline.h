/* The one writer: takes all queued requests, plans them on the newest version, commits them in one
 * transaction, publishes the version and answers all of them (ARCHITECTURE.md, How a write is
 * committed). */
#ifndef BERTH_ENGINE_PIPELINE_H
#define BERTH_ENGINE_PIPELINE_H

#include "base/histogram.h"
#include "engine/outage.h"
#include "engine/plan.h"
#include "replica/replica.h"

struct pipeline;
struct pipeline_request;

/* Decides one request on the writer thread: appends its changes and returns true, or sets err and
 * returns false, in which case the appended changes are discarded. Planners only plan. The engine
 * decides whether the products' rules allow the changes, which consequences follow, and which
 * generations of providers to raise (rules.h, generations.h).
 *
 * Invariant: a plan may run any number of times, each time on a newer version, and only the last
 * run counts. A plan therefore changes nothing except its list and the results that it returns, and
 * does not read earlier results. */
typedef bool pipeline_plan(struct pipeline_request *request, const struct plan *plan);

/* The result of reading the database itself, even if memory seems to be up to date. After a
 * failure, the reason is in the request's err. */
struct pipeline_probe {
    bool is_reached;  /* the database could be read */
    bool is_served;   /* its schema is at a supported revision */
    bool is_followed; /* memory is as new as the state that was read */
    char revision[STORE_REVISION_BYTES];
};

struct pipeline_request {
    pipeline_plan
        *plan; /* NULL: changes nothing, and only waits until memory is as new as the database */
    /* Called after the plan's changes and all their consequences were applied: plan->version is the
     * result. Not called for a request without changes. NULL: not needed. */
    void (*applied)(struct pipeline_request *request, const struct plan *plan);
    struct pipeline_probe *probe; /* the probe to fill, with plan NULL; otherwise NULL */
    /* Called once on the writer thread when the request is decided and durable (err not set) or
     * refused (err set). The pipeline does not use the request afterwards. */
    void (*done)(struct pipeline_request *request);
    void *submitter;           /* for the submitter's use */
    const struct rule *author; /* the rules of the product that submits it; NULL: none */
    uint64_t least_rows;       /* a lower bound for the rows that it writes, known before it is
                                * planned */
    uint64_t max_rows;         /* rows that it may write, consequences included; 0: any number */
    struct err err;            /* err.arena: the request's own, which only the writer uses until
                                * done */
    struct pipeline_request *next;
};

/* Loads the database into the replica and starts the writer thread. The caller provides store,
 * replica and rules (NULL: there are none), which outlive the pipeline. NULL with err if the load
 * fails. */
struct pipeline *pipeline_start(struct store *store, struct replica *replica,
                                const struct rules *rules, struct err *err);

/* The same without a thread: the caller acts as the writer, with pipeline_run_once. For
 * simulations. */
struct pipeline *pipeline_create(struct store *store, struct replica *replica,
                                 const struct rules *rules, struct err *err);

/* Plans every request twice and uses the second result, to test that plans may run twice. Call it
 * before the first request. For simulations. */
void pipeline_plan_twice(struct pipeline *pipeline);

/* Decides all queued requests as one batch; false if there are none. */
bool pipeline_run_once(struct pipeline *pipeline);

/* A counter that grows at least ten times a second unless the writer thread is stuck in the store.
 * Any thread. */
uint64_t pipeline_iterations(const struct pipeline *pipeline);

/* Frees a pipeline without a thread; queued requests are never answered. */
void pipeline_destroy(struct pipeline *pipeline);

/* Queues a request. Any thread. After pipeline_stop has begun, requests are refused with 503. */
void pipeline_submit(struct pipeline *pipeline, struct pipeline_request *request);

/* Completes queued requests, then stops the writer and frees the pipeline. */
void pipeline_stop(struct pipeline *pipeline);

/* A counter that grows whenever memory changes: by a commit or by other processes' writes. Any
 * thread. */
uint64_t pipeline_changes(const struct pipeline *pipeline);

/* Whether the version is the database's newest state. Any thread, wait-free. */
bool pipeline_is_current(const struct pipeline *pipeline, const struct version *version);

static const struct histogram_shape PIPELINE_BATCH_SHAPE = {
    .count = 10, .bounds = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}};
static const struct histogram_shape PIPELINE_COMMIT_SHAPE_US = {
    .count = 14,
    .bounds = {100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000,
               1000000, 5000000}};

struct pipeline_figures {
    uint64_t batches;
    uint64_t requests;
    uint64_t commits;
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
};

/* Any thread. */
struct pipeline_figures pipeline_figures(struct pipeline *pipeline);

#endif
