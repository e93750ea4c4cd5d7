/* The door of the Valet API (see api/door.h). */
#ifndef BERTH_VALET_API_DOOR_H
#define BERTH_VALET_API_DOOR_H

#include "api/door.h"

extern const struct door valet_door;

#endif
