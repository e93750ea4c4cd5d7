/* The door of the bare metal allocation API (see api/door.h). */
#ifndef BERTH_BAREMETAL_API_DOOR_H
#define BERTH_BAREMETAL_API_DOOR_H

#include "api/door.h"

extern const struct door baremetal_door;

#endif
