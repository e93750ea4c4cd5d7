/* The OpenStack Placement API (see api/definition.h). */
#ifndef BERTH_PLACEMENT_API_DEFINITION_H
#define BERTH_PLACEMENT_API_DEFINITION_H

#include "api/definition.h"

extern const struct api_definition placement_definition;

#endif
