/* One berth with a bare metal API in the race for nodes (sim_nodes.c): store, replica, pipeline
 * and conductor without threads, so that whoever drives it says what comes between what. */
#ifndef BERTH_SIM_METAL_BERTH_H
#define BERTH_SIM_METAL_BERTH_H

#include "baremetal/write/conductor.h"
#include "baremetal/write/metal.h"
#include "metal_round.h"
#include "products/products.h"
#include "sim.h"

struct metal_berth {
    struct round *round;
    int host;
    bool is_up;
    struct metal metal;
    struct products products;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct conductor *conductor;
    bool is_turning;
    struct metal_request *sent; /* queued, not answered */
};

void metal_berth_start(struct metal_berth *berth);

/* Ends without a trace; nothing that is queued is answered. */
void metal_berth_kill(struct metal_berth *berth);

void metal_berth_ask(struct metal_berth *berth, const struct metal_asked *asked);

/* One batch; dead afterwards if it died in it. False: nothing was queued. */
bool metal_berth_run(struct metal_berth *berth);

/* The conductor looks what is due; how many requests it submitted. */
unsigned metal_berth_turn(struct metal_berth *berth);

/* Reads what others have committed. */
void metal_berth_follow(struct metal_berth *berth);

#endif
