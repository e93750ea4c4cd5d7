/* Access rules of application credentials: which requests a token may be used for (identity API v3,
 * Access rules; keystonemiddleware). Pure; any thread. */
#ifndef BERTH_KEYSTONE_ACCESS_RULES_H
#define BERTH_KEYSTONE_ACCESS_RULES_H

#include "base/arena.h"
#include "keystone/token.h"

/* Whether a path matches a rule's: * and {name} stand for what is between two slashes, but not for
 * nothing, ** for anything, a lone brace for nothing, and every other character for itself. (In
 * keystonemiddleware the other characters are a regular expression; that only ever lets more
 * through than was written.) Time: the product of both lengths, each step taken off *steps; when
 * they are used up nothing matches. */
bool access_rules_path_matches(struct slice path, struct slice pattern, size_t *steps);

/* A decoded path as rules see it: percent-encoded, but for letters, digits and /~!$&'()*+,;=:@_.-
 */
struct slice access_rules_encode_path(struct arena *arena, struct slice mount, struct slice path);

/* Whether one of the token's rules for that service allows the request. Who makes his own rules and
 * paths cannot keep a thread for more than some milliseconds: what is not decided by then is not
 * allowed. */
bool access_rules_allow(const struct token *token, enum token_service service, struct slice method,
                        struct slice path);

#endif
