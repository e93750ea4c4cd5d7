/* Who asks, as the authentication found it. */
#ifndef BERTH_AUTH_IDENTITY_H
#define BERTH_AUTH_IDENTITY_H

#include <stdbool.h>

#include "base/slice.h"

enum { IDENTITY_ROLES_MAX = 32 };

/* Absent texts have data == NULL. All slices belong to the request. */
struct identity {
    struct slice user_id;
    struct slice project_id;
    struct slice domain_id;
    struct slice system_scope; /* "all" for a system-scoped token */
    struct slice user_domain_id;
    struct slice project_domain_id;
    struct slice roles[IDENTITY_ROLES_MAX]; /* as given; compared without case */
    unsigned role_count;
};

/* Whether the role, whatever its case, is among those given. Any thread. */
bool identity_has_role(const struct identity *identity, struct slice role);

#endif
