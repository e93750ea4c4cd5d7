/* The Valet API (see api/definition.h). */
#ifndef BERTH_VALET_API_DEFINITION_H
#define BERTH_VALET_API_DEFINITION_H

#include "api/definition.h"

extern const struct api_definition valet_definition;

#endif
