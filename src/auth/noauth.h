/* No authentication. With Placement's noauth2, the token itself names the caller (placement spec,
 * noauth2). With bare metal's noauth, every caller is an admin (baremetal-allocations spec, 7). */
#ifndef BERTH_AUTH_NOAUTH_H
#define BERTH_AUTH_NOAUTH_H

#include "auth/identity.h"
#include "base/arena.h"

/* The relevant headers; data == NULL: absent. */
struct noauth_headers {
    struct slice token;        /* X-Auth-Token: "user" or "user:project" */
    struct slice roles;        /* X-Roles: replaces the roles, even when empty */
    struct slice project_id;   /* X-Project-Id: overrides the token's project */
    struct slice system_scope; /* OpenStack-System-Scope */
};

/* Fills the identity with slices of the headers, and its list of roles in the arena; false without
 * a token (401). An empty token is accepted: it means no user and no roles. */
bool noauth_identify(const struct noauth_headers *headers, struct arena *arena,
                     struct identity *identity);

/* An admin of the system, with all roles that this implies. Any thread. */
struct identity noauth_admin_identity(void);

#endif
