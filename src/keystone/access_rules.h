/* Access rules of application credentials: the requests for which a token may be used (identity API
 * v3, Access rules; keystonemiddleware). Pure; any thread. */
#ifndef BERTH_KEYSTONE_ACCESS_RULES_H
#define BERTH_KEYSTONE_ACCESS_RULES_H

#include "base/arena.h"
#include "keystone/token.h"

/* Whether a path matches a rule's pattern: * and {name} match any text between two slashes except
 * the empty one, ** matches anything, a single brace matches the empty text, and every other
 * character matches itself. (In keystonemiddleware the other characters are a regular expression,
 * which can only allow more than the rule states.) The time is proportional to the product of both
 * lengths; each step is subtracted from *steps, and when none are left nothing matches. */
bool access_rules_path_matches(struct slice path, struct slice pattern, size_t *steps);

/* A decoded path in the form that rules use: percent-encoded, except for letters, digits and
 * /~!$&'()*+,;=:@_.- */
struct slice access_rules_encode_path(struct arena *arena, struct slice mount, struct slice path);

/* Whether one of the token's rules for that service allows the request. Clients choose their own
 * rules and paths, so the time is limited to some milliseconds: a request not decided by then is
 * not allowed. */
bool access_rules_allow(const struct token *token, enum token_service service, struct slice method,
                        struct slice path);

#endif
