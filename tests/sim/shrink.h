/* Looks for a shorter run with which a seed still fails. */
#ifndef BERTH_SIM_SHRINK_H
#define BERTH_SIM_SHRINK_H

#include "seed_options.h"

/* Leaves out faults and steps as long as the seed still fails, and prints the command with which it
 * does. `run` runs the seed with these options in a process of its own; a failure ends the process,
 * after its step has been stored in *failed_at. False: the seed does not fail at all. */
bool shrink_seed(struct seed_options *options,
                 void (*run)(const struct seed_options *options, int *failed_at));

#endif
