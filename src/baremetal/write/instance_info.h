/* The member of a node's instance_info that allocations write (baremetal-allocations spec, 4). */
#ifndef BERTH_BAREMETAL_WRITE_INSTANCE_INFO_H
#define BERTH_BAREMETAL_WRITE_INSTANCE_INFO_H

#include "base/arena.h"
#include "base/slice.h"

/* The object's text with "traits" set to those words; the rest is unchanged. In the arena. */
struct slice instance_info_with_traits(struct slice info, struct slice traits, struct arena *arena);

#endif
