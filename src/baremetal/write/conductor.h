/* What bare metal nodes need done without being asked: the ends of passing states and power
 * operations, allocations that look for a node, requests that wait for a locked node
 * (baremetal-allocations spec, 4, 8.4 to 8.6, 10 and C9). It submits requests to the pipeline, as a
 * client would. */
#ifndef BERTH_BAREMETAL_WRITE_CONDUCTOR_H
#define BERTH_BAREMETAL_WRITE_CONDUCTOR_H

#include "baremetal/write/metal.h"
#include "engine/pipeline.h"

struct conductor;

/* Pipeline, replica and metal outlive it. Starts its thread; NULL with err when that fails. */
struct conductor *conductor_start(struct pipeline *pipeline, struct replica *replica,
                                  const struct metal *metal, struct err *err);

/* The same without a thread: the caller makes its turns. For simulations. */
struct conductor *conductor_create(struct pipeline *pipeline, struct replica *replica,
                                   const struct metal *metal);

/* Submits what is due at that time (wall clock); returns how many requests that were. When all of
 * them are done, by the pipeline, conductor_end_turn; then the next turn. */
unsigned conductor_begin_turn(struct conductor *conductor, int64_t now_us);
void conductor_end_turn(struct conductor *conductor, int64_t now_us);
void conductor_destroy(struct conductor *conductor);

/* Requests that wait are decided, the thread ends. The pipeline is still at work, and nobody
 * submits any more. */
void conductor_stop(struct conductor *conductor);

/* How many nodes have a passing state or a power operation that this process began and that is over
 * by that time (wall clock). Before a stop: the next process fails what is not ended. Any thread.
 */
unsigned conductor_ends_before(const struct version *version, const struct metal *metal,
                               int64_t until_us);

/* There is something new to do. Any thread. */
void conductor_wake(struct conductor *conductor);

/* A request that waits while its node is locked. Zeroed before; lives as long as the request. */
struct conductor_wait {
    struct pipeline_request *request;
    void (*done)(struct pipeline_request *request);
    struct conductor *conductor;
    uint64_t give_up_us; /* monotonic */
    uint64_t seen;       /* pipeline_changes before it was submitted */
    struct conductor_wait *next;
};

/* As pipeline_submit; but a request that is refused with REFUSED_LOCKED is tried again for two
 * seconds, before it is done. Any thread. */
void conductor_submit(struct conductor *conductor, struct conductor_wait *wait,
                      struct pipeline_request *request);

#endif
