/* Roles are compared without regard to case, as in oslo.policy. Any thread. */
#include "auth/identity.h"

#include <strings.h>

bool identity_has_role(const struct identity *identity, struct slice role)
{
    for (unsigned i = 0; i < identity->roles.count; i++)
        if (identity->roles.names[i].len == role.len &&
            strncasecmp(identity->roles.names[i].data, role.data, role.len) == 0)
            return true;
    return false;
}
