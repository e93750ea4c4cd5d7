/* Parses the noauth2 token, and supplies the identity used where no token is needed. Pure; any
 * thread. */
#include "auth/noauth.h"

static size_t count_parts(struct slice text)
{
    size_t n = 0;
    for (; text.len > 0; n++)
        (void)slice_cut(&text, ',');
    return n;
}

static struct identity_roles read_roles(struct slice text, struct arena *arena)
{
    struct slice *names = arena_array(arena, count_parts(text), sizeof(*names));
    unsigned count = 0;
    while (text.len > 0) {
        struct slice role = slice_trim(slice_cut(&text, ','));
        if (role.len > 0)
            names[count++] = role;
    }
    return (struct identity_roles){names, count};
}

bool noauth_identify(const struct noauth_headers *headers, struct arena *arena,
                     struct identity *identity)
{
    static const struct slice ADMIN = SLICE_LIT("admin");
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
        identity->roles = read_roles(headers->roles, arena);
    else if (slice_equal(user, ADMIN))
        identity->roles = (struct identity_roles){&ADMIN, 1};
    if (headers->system_scope.len > 0)
        identity->system_scope = headers->system_scope;
    else
        identity->project_id = project.len > 0 ? project : user;
    if (headers->project_id.data != NULL)
        identity->project_id = headers->project_id;
    return true;
}

struct identity noauth_admin_identity(void)
{
    static const struct slice ROLES[] = {SLICE_LIT("admin"), SLICE_LIT("manager"),
                                         SLICE_LIT("member"), SLICE_LIT("reader")};
    return (struct identity){
        .roles = {ROLES, sizeof(ROLES) / sizeof(ROLES[0])},
        .system_scope = SLICE_LIT("all"),
    };
}
