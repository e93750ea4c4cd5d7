/* One berthd of the simulation: store, replica, pipeline and conductor without threads, so that the
 * world decides the order of events; and the checks of all its answers. */
#ifndef BERTH_SIM_BERTH_H
#define BERTH_SIM_BERTH_H

#include "baremetal/write/conductor.h"
#include "baremetal/write/metal.h"
#include "engine/pipeline.h"
#include "memory_store/memory_store.h"
#include "products/products.h"

struct sim;

/* A request; the world's own requests begin with it. */
struct sent {
    struct pipeline_request request; /* first */
    struct berth *berth;
    struct sent *next;
    int kind;          /* of the world's */
    uint64_t since;    /* the number of commits when it was sent */
    bool is_meanwhile; /* it was sent while a batch was pending */
};

struct berth {
    struct sim *sim;
    int host; /* as the world sets it */
    bool is_up;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct products products;
    struct metal metal;
    struct conductor *conductor; /* NULL: without the Bare Metal API */
    bool is_in_pass;             /* the conductor has begun a pass */
    struct sent *sent;           /* not answered */
};

/* Starts, however often that fails first. */
void berth_start(struct berth *berth);

/* Ends without cleaning up: queued requests are not answered. */
void berth_kill(struct berth *berth);

/* A new request of that many bytes, zeroed except for its struct sent, which the caller submits. */
void *berth_ask(struct berth *berth, size_t bytes, int kind);
void berth_submit(struct sent *sent);

/* Submits a request that waits until memory is as new as the database. */
void berth_ask_news(struct berth *berth);

/* Runs one batch. False: nothing was queued. A process that dies in it is killed. */
bool berth_run(struct berth *berth);

/* The conductor begins a pass, unless one is under way; the next batch has its requests. Returns
 * how many. */
unsigned berth_conduct(struct berth *berth);

/* Checks that the newest version equals what it claims to. */
void berth_check(struct berth *berth);

/* Brings memory up to date with the database, and checks that they are equal. Without faults. */
void berth_catch_up(struct berth *berth);

/* Checks that a version equals these tables; an error contains `when`. */
void berth_compare(const struct berth *berth, const struct version *version,
                   const struct tables *tables, const char *when);

#endif
