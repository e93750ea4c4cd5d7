/* The cloud of the placement world: its first rows, and what foreign writers change. */
#ifndef BERTH_SIM_CLOUD_H
#define BERTH_SIM_CLOUD_H

#include "sim.h"

/* Some rows for clients to begin with. */
void cloud_fill(struct memory_database *database);

/* A change by a program that writes no log. */
void cloud_foreign_write(struct memory_database *database);

/* As a foreign writer does it: some consumer releases what it holds. */
void cloud_release(struct tables *tables, struct rng *rng);

#endif
