/* The door of the OpenStack Placement API (see api/door.h). */
#ifndef BERTH_PLACEMENT_API_DOOR_H
#define BERTH_PLACEMENT_API_DOOR_H

#include "api/door.h"

extern const struct door placement_door;

#endif
