/* The noauth2 token. Pure; any thread. */
#include "auth/noauth.h"

static void read_roles(struct slice text, struct identity *identity)
{
    while (text.len > 0) {
        struct slice role = slice_trim(slice_cut(&text, ','));
        if (role.len > 0 && identity->role_count < IDENTITY_ROLES_MAX)
            identity->roles[identity->role_count++] = role;
    }
}

bool noauth_identify(const struct noauth_headers *headers, struct identity *identity)
{
    *identity = (struct identity){0};
    if (headers->token.data == NULL)
        return false;
    struct slice user = headers->token;
    struct slice project = {0};
    const char *colon = memchr(user.data, ':', user.len);
    if (colon != NULL) {
        project = slice_skip(user, (size_t)(colon - user.data) + 1);
        user.len = (size_t)(colon - user.data);
    }
    identity->user_id = user;
    if (headers->roles.data != NULL)
        read_roles(headers->roles, identity);
    else if (slice_equal(user, SLICE_LIT("admin")))
        identity->roles[identity->role_count++] = SLICE_LIT("admin");
    if (headers->system_scope.len > 0)
        identity->system_scope = headers->system_scope;
    else
        identity->project_id = project.len > 0 ? project : user;
    if (headers->project_id.data != NULL)
        identity->project_id = headers->project_id;
    return true;
}
