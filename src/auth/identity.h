/* The caller's identity as authentication determined it: the input of policy rules. */
#ifndef BERTH_AUTH_IDENTITY_H
#define BERTH_AUTH_IDENTITY_H

#include <stdbool.h>

#include "base/slice.h"

struct identity_roles {
    const struct slice *names; /* as given; compared without case */
    unsigned count;
};

/* A user or a project in a token. Missing texts have data == NULL. */
struct identity_party {
    struct slice user_id;
    struct slice user_domain_id;
    struct slice project_id;
    struct slice project_domain_id;
    struct identity_roles roles;
};

/* Names, for the log; rules can also compare the project's name. */
struct identity_names {
    struct slice user;
    struct slice user_domain;
    struct slice project;
    struct slice project_domain;
    struct slice domain; /* of a domain-scoped token */
};

/* All texts belong to the request, or to objects that it keeps alive. */
struct identity {
    struct slice user_id;
    struct slice user_domain_id;
    struct slice project_id;
    struct slice project_domain_id;
    struct slice domain_id;    /* of a domain-scoped token */
    struct slice system_scope; /* "all" for a system-scoped token */
    struct identity_roles roles;
    struct identity_names names;
    bool outside_admin_project;    /* X-Is-Admin-Project is present and is not "true" */
    struct identity_party service; /* that sent the request's X-Service-Token */
};

/* Whether the role is among those given, ignoring case. Any thread. */
bool identity_has_role(const struct identity *identity, struct slice role);

#endif
