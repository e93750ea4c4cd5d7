/* The one writer: takes everything queued, plans it on the newest version, commits it in one
 * transaction, publishes the version, answers all (architecture, section 5). */
#ifndef BERTH_WRITE_PIPELINE_H
#define BERTH_WRITE_PIPELINE_H

#include "base/err.h"
#include "model/change.h"
#include "replica/replica.h"
#include "store/store.h"

struct pipeline;
struct pipeline_request;

/* What a request is planned with. */
struct plan {
    const struct version
        *version; /* the newest state: everything planned before in this batch is in it */
    struct change_list *changes; /* filled by the planner; arena is the batch's */
    struct arena *arena;         /* the batch's: for texts that changes refer to */
    struct store *store;         /* for store_next_id only */
    int64_t now_us;
};

/* Decides about one request on the writer thread: appends its changes and returns true, or sets
 * err, appends nothing and returns false. It must check everything before it appends the first
 * change. */
typedef bool pipeline_plan(struct pipeline_request *request, const struct plan *plan);

struct pipeline_request {
    pipeline_plan
        *plan; /* NULL: changes nothing, only waits until memory is as new as the database */
    /* Called once on the writer thread when the request is decided and durable (err not set) or
     * refused (err set). The pipeline does not touch the request afterwards. */
    void (*done)(struct pipeline_request *request);
    struct err err; /* err.arena: the request's own, used by the writer until done */
    struct pipeline_request *next;
};

/* Opens nothing: store and replica outlive the pipeline. Loads the database into the replica and
 * starts the writer thread. NULL with err when the load fails. */
struct pipeline *pipeline_start(struct store *store, struct replica *replica, struct err *err);

/* The same without a thread: the caller is the writer, by pipeline_run_once. For simulations. */
struct pipeline *pipeline_create(struct store *store, struct replica *replica, struct err *err);

/* Decides, as one batch, what is queued; false if nothing is. */
bool pipeline_run_once(struct pipeline *pipeline);

/* Grows at least ten times a second as long as the writer's thread is not stuck in the store. Any
 * thread. */
uint64_t pipeline_turns(const struct pipeline *pipeline);

/* Frees a pipeline without a thread; what is queued is never answered. */
void pipeline_destroy(struct pipeline *pipeline);

/* Queues a request. Any thread. After pipeline_stop has begun, requests are refused with 503. */
void pipeline_submit(struct pipeline *pipeline, struct pipeline_request *request);

/* Ends what is queued, then stops the writer and frees the pipeline. */
void pipeline_stop(struct pipeline *pipeline);

/* Whether the version is the database's newest state. Any thread, wait-free. */
bool pipeline_is_current(const struct pipeline *pipeline, const struct version *version);

struct pipeline_figures {
    uint64_t batches;
    uint64_t requests;
    uint64_t commits;
    uint64_t reloads;
    uint64_t follows;
};
struct pipeline_figures pipeline_figures(const struct pipeline *pipeline);

#endif
