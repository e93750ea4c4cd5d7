/* Names the process that a row belongs to, so that another process can continue the work of one
 * that has ended (baremetal-allocations spec, 10). */
#ifndef BERTH_BAREMETAL_WRITE_INSTANCE_H
#define BERTH_BAREMETAL_WRITE_INSTANCE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

/* This process: "HOST BOOT NAMESPACE PID START", in the arena. The host has no blanks. */
struct slice instance_name(struct slice host, struct arena *arena);

/* Whether the process of that name ran on this host and has ended. False for a process of another
 * host or container, whose end cannot be seen here. `is_shared`: processes on several machines use
 * the database, so that one with another boot may run on another machine whose operator has
 * configured the same host name. */
bool instance_is_gone(struct slice name, struct slice host, bool is_shared);

#endif
