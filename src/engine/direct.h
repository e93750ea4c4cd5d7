/* A thread with an event loop (base/event_loop.h) plans and sends the request that it submits by
 * itself while nobody else writes, and takes the answer when it comes: no thread has to wake
 * another one then.
 *
 * Meanwhile the batch is parked: the thread serves others, and the writer thread may take the batch
 * over at any time. It does so as soon as it has something else to do, and at the latest in its
 * next upkeep. Whatever is not the usual case is left to it: nothing here waits. */
#ifndef BERTH_ENGINE_DIRECT_H
#define BERTH_ENGINE_DIRECT_H

#include "base/counter.h"
#include "base/event_loop.h"
#include "engine/commit.h"
#include "engine/pipeline_request.h"

/* The request that is on its way, and its commit; for whoever has the seat. */
struct direct {
    struct event_watcher watcher; /* first */
    struct pipeline *pipeline;
    struct pipeline_request *request; /* NULL: none is */
    struct commit commit;
    struct err err;      /* of the commit */
    struct counter done; /* those that were committed without the writer thread */
    uint64_t sent_us;    /* when it was sent */
    bool is_due;         /* the writer thread is to look after it; guarded by the pipeline's lock */
};

void direct_init(struct pipeline *pipeline);

/* Plans the request and sends it. False: it is to be queued. Any thread. */
bool direct_submit(struct pipeline *pipeline, struct pipeline_request *request);

/* The functions below are for whoever has the seat. */

bool direct_is_parked(const struct pipeline *pipeline);

/* The caller looks after the commit that is on its way from now on. False: there is none. */
bool direct_resume(struct pipeline *pipeline, struct commit *commit, struct err *err);

#endif
