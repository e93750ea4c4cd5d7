/* The processes of the simulation as their rows name them: a host and a number, for as long as they
 * live. The linker replaces instance_is_gone with this. One thread. */
#ifndef BERTH_SIM_LIVES_H
#define BERTH_SIM_LIVES_H

#include "baremetal/write/metal.h"
#include "base/slice.h"

/* A new process of that host, 0 to 9; the text stays. */
struct slice lives_begin(int host);
void lives_end(struct slice life);

/* Forgets all processes. */
void lives_forget(void);

/* The settings of the planners of that process; transient states last a second. */
struct metal lives_metal(struct slice life);

#endif
