/* Roles compare without case, as oslo.policy does. Any thread. */
#include "auth/identity.h"

#include <strings.h>

bool identity_has_role(const struct identity *identity, struct slice role)
{
    for (unsigned i = 0; i < identity->role_count; i++)
        if (identity->roles[i].len == role.len &&
            strncasecmp(identity->roles[i].data, role.data, role.len) == 0)
            return true;
    return false;
}
