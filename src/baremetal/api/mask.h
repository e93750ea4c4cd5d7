/* Hides secrets in answers (bare metal spec 8.3). */
#ifndef BERTH_BAREMETAL_API_MASK_H
#define BERTH_BAREMETAL_API_MASK_H

#include <jansson.h>
#include <stdbool.h>

#include "base/slice.h"

enum mask_kind {
    MASK_DRIVER_INFO,
    MASK_INSTANCE_INFO, /* also configdrive and image_url */
};

/* A copy of the value, owned by the caller, in which each value under a secret name is "******", at
 * any depth of objects and lists. */
json_t *mask_copy(const json_t *value, enum mask_kind kind);

/* Whether the name marks its value as a secret. */
bool mask_is_secret(struct slice name);

#endif
