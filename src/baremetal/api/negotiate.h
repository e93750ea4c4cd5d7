/* Negotiates the Bare Metal API's version (bare metal spec 1.3). */
#ifndef BERTH_BAREMETAL_API_NEGOTIATE_H
#define BERTH_BAREMETAL_API_NEGOTIATE_H

#include "base/err.h"

enum {
    BAREMETAL_MINOR_MIN = 1,
    BAREMETAL_MINOR_MAX = 82,
};

/* `own`: X-OpenStack-Ironic-API-Version; `general`: OpenStack-API-Version, which is used if the
 * first is missing (data == NULL) or empty. Sets *minor; or sets err: 406. */
bool negotiate_version(struct slice own, struct slice general, unsigned *minor, struct err *err);

#endif
