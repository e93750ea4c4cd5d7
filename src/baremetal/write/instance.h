/* Which process a row belongs to, so that the work of a dead one is taken up
 * (baremetal-allocations spec, 10). */
#ifndef BERTH_BAREMETAL_WRITE_INSTANCE_H
#define BERTH_BAREMETAL_WRITE_INSTANCE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

/* This process: "HOST BOOT NAMESPACE PID START", in the arena. The host has no blanks. */
struct slice instance_name(struct slice host, struct arena *arena);

/* Whether the process of that name was on this host and is no more. False for one of another host
 * or another container, whose end nobody here can see. */
bool instance_is_gone(struct slice name, struct slice host);

#endif
