/* Secrets that answers do not show (bare metal spec 8.3). */
#ifndef BERTH_BAREMETAL_API_MASK_H
#define BERTH_BAREMETAL_API_MASK_H

#include <jansson.h>
#include <stdbool.h>

#include "base/slice.h"

enum mask_kind {
    MASK_DRIVER_INFO,
    MASK_INSTANCE_INFO, /* configdrive and image_url besides */
};

/* A copy of the value, the caller's, in which each value under a secret's name is "******", down to
 * the last object and list. */
json_t *mask_copy(const json_t *value, enum mask_kind kind);

/* Whether values under that name are secrets. */
bool mask_is_secret(struct slice name);

#endif
