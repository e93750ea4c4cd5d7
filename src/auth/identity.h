/* Who asks, as the authentication found it: what the rules of policies read. */
#ifndef BERTH_AUTH_IDENTITY_H
#define BERTH_AUTH_IDENTITY_H

#include <stdbool.h>

#include "base/slice.h"

struct identity_roles {
    const struct slice *names; /* as given; compared without case */
    unsigned count;
};

/* One party of a token. Absent texts have data == NULL. */
struct identity_party {
    struct slice user_id;
    struct slice user_domain_id;
    struct slice project_id;
    struct slice project_domain_id;
    struct identity_roles roles;
};

/* What people call them: for the log, and the project's for rules that ask for it. */
struct identity_names {
    struct slice user;
    struct slice user_domain;
    struct slice project;
    struct slice project_domain;
    struct slice domain; /* of a domain-scoped token */
};

/* All texts belong to the request, or to what it keeps alive. */
struct identity {
    struct slice user_id;
    struct slice user_domain_id;
    struct slice project_id;
    struct slice project_domain_id;
    struct slice domain_id;    /* of a domain-scoped token */
    struct slice system_scope; /* "all" for a system-scoped token */
    struct identity_roles roles;
    struct identity_names names;
    bool outside_admin_project;    /* X-Is-Admin-Project is there and is not "true" */
    struct identity_party service; /* whose X-Service-Token came with the request */
};

/* Whether the role, whatever its case, is among those given. Any thread. */
bool identity_has_role(const struct identity *identity, struct slice role);

#endif
