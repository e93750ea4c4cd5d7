/* Ranks of hosts and racks for units and blocks (Valet spec, 9.2): smaller is better. One thread at
 * a time. */
#ifndef BERTH_VALET_SOLVE_RANKS_H
#define BERTH_VALET_SOLVE_RANKS_H

#include "valet/solve/best.h"

/* To be called after the state and the classes of hosts were initialized. */
void ranks_init(struct search *search);

/* The key of a host in the current state. */
uint64_t ranks_of_host(struct search *search, uint32_t unit, uint32_t host);

/* The nth class of hosts for the unit, by the state before the search; NULL: there are no more. */
const struct ranked *ranks_class(struct search *search, uint32_t unit, uint32_t n);

/* Offers the racks that have a host for each unit of the block. */
void ranks_offer_racks(struct search *search, uint32_t block, struct best *best);

#endif
