/* [keystone_authtoken] as keystonemiddleware and keystoneauth read it (docs/keystone.md). */
#ifndef BERTH_KEYSTONE_SETTINGS_H
#define BERTH_KEYSTONE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "conf/settings.h"
#include "keystone/token.h"

/* All texts are in the arena into which they were read. Never changes after it has been read: any
 * thread. */
struct keystone_settings {
    struct slice www_authenticate; /* value of the header in a 401 */

    /* the service's own login */
    const char *auth_url;   /* http or https */
    bool discovers;         /* auth_url's version document has the location of version 3 */
    const char *login_body; /* JSON for POST /v3/auth/tokens; NULL: no login, but own_token */
    const char *own_token;  /* without login_body: the service's token, and auth_url is the
                             * endpoint. With login_body: sent with the login as X-Auth-Token; may
                             * be NULL */

    /* Keystone's endpoint in the catalog of the service's token */
    const char *interface;   /* public, internal or admin */
    const char *region_name; /* NULL: any */

    /* the connection */
    const char *cafile; /* may be a directory; NULL, here and below: not set */
    const char *certfile;
    const char *keyfile;
    bool insecure;
    unsigned attempt_timeout_ms; /* for one query from beginning to end */
    unsigned retries;            /* if Keystone cannot be reached */

    /* how tokens are treated */
    bool delay_auth_decision;
    unsigned cache_s; /* 0: nothing is cached */
    struct conf_texts service_roles;
    bool service_roles_required;
    struct token_terms terms;
};

/* Reads and checks the settings. False: err has one line with section, option and file. */
bool keystone_settings_read(const struct conf *conf, struct arena *arena,
                            struct keystone_settings *out, struct err *err) BERTH_MUST_CHECK;

#endif
