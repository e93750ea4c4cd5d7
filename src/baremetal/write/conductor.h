/* Does what bare metal nodes need without a client: ends of transient states and power operations,
 * the search for a node for an allocation, requests that wait for a locked node
 * (baremetal-allocations spec, 4, 8.4 to 8.6, 10 and C9). It submits requests to the pipeline, as
 * clients do. */
#ifndef BERTH_BAREMETAL_WRITE_CONDUCTOR_H
#define BERTH_BAREMETAL_WRITE_CONDUCTOR_H

#include "baremetal/write/metal.h"
#include "engine/pipeline.h"

struct conductor;

/* Pipeline, replica and metal outlive it. Starts its thread; NULL with err if that fails. */
struct conductor *conductor_start(struct pipeline *pipeline, struct replica *replica,
                                  const struct metal *metal, struct err *err);

/* The same without a thread: the caller makes the passes. For simulations. */
struct conductor *conductor_create(struct pipeline *pipeline, struct replica *replica,
                                   const struct metal *metal);

/* One moment on two clocks: rows have times of the wall clock, and how long something has lasted is
 * measured on the other. */
struct conductor_time {
    int64_t wall_us;
    uint64_t monotonic_us;
};

/* Submits what is due at that time; returns the number of requests. Once the pipeline has finished
 * all of them, call conductor_end_pass; then the next pass may begin. */
unsigned conductor_begin_pass(struct conductor *conductor, struct conductor_time now);
void conductor_end_pass(struct conductor *conductor, struct conductor_time now);
void conductor_destroy(struct conductor *conductor);

/* Decides the requests that wait and ends the thread. The pipeline must still be running, and no
 * other thread may submit any more. */
void conductor_stop(struct conductor *conductor);

/* The number of nodes with a transient state or power operation that this process began and that
 * ends by that time (wall clock). Used before a stop, because the next process fails those that
 * have not ended. Any thread. */
unsigned conductor_ends_before(const struct version *version, const struct metal *metal,
                               int64_t until_us);

/* Reports that there may be something new to do. Any thread. */
void conductor_wake(struct conductor *conductor);

/* A request that waits while its node is locked. Zeroed by the caller; lives as long as the
 * request. */
struct conductor_wait {
    struct pipeline_request *request;
    void (*done)(struct pipeline_request *request);
    struct conductor *conductor;
    uint64_t give_up_us; /* monotonic */
    uint64_t seen;       /* pipeline_changes before it was submitted */
    struct conductor_wait *next;
};

/* As pipeline_submit, but a request that is refused with REFUSED_LOCKED is tried again for two
 * seconds before its `done` is called. Any thread. */
void conductor_submit(struct conductor *conductor, struct conductor_wait *wait,
                      struct pipeline_request *request);

#endif
