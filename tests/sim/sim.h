/* What all simulations need of the database in memory. */
#ifndef BERTH_SIM_SIM_H
#define BERTH_SIM_SIM_H

#include "memory_store/memory_store.h"

/* Ends the run: something is wrong. */
_Noreturn void sim_fail(const char *format, ...) BERTH_PRINTF(1, 2);

/* Executes a change that must break no constraint. */
void sim_execute(struct tables *tables, const struct change *change);

/* Allocations exceed a capacity after the commit only if they did before, or if the inventory
 * changed. */
void sim_check_capacity(const struct tables *before, const struct tables *after);

/* memory_database.on_broken: planners do not rely on the database to refuse a change. */
void sim_constraint_broken(void *cls, const struct change *change, const char *constraint);

#endif
