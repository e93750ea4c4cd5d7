/* The Bare Metal API (see api/definition.h). */
#ifndef BERTH_BAREMETAL_API_DEFINITION_H
#define BERTH_BAREMETAL_API_DEFINITION_H

#include "api/definition.h"

extern const struct api_definition baremetal_definition;

#endif
