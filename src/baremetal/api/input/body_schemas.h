/* The schemas of the Bare Metal API's bodies (bare metal spec 3.1, 3.4, 8.3, 8.4). */
#ifndef BERTH_BAREMETAL_API_INPUT_BODY_SCHEMAS_H
#define BERTH_BAREMETAL_API_INPUT_BODY_SCHEMAS_H

#include "api/schema/schema.h"

extern const struct schema BAREMETAL_TRAIT;
extern const struct schema BAREMETAL_ALLOCATION;   /* POST, and the result of a patch */
extern const struct schema BAREMETAL_NODE;         /* POST */
extern const struct schema BAREMETAL_NODE_PATCHED; /* the result of a patch */
extern const struct schema BAREMETAL_TRAITS;       /* PUT …/traits */
extern const struct schema BAREMETAL_PATCH;
extern const struct schema BAREMETAL_CONFIGDRIVE;
extern const struct schema BAREMETAL_CLEAN_STEPS;
extern const struct schema BAREMETAL_DEPLOY_STEPS;

#endif
