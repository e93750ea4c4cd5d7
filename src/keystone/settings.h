/* [keystone_authtoken] as keystonemiddleware and keystoneauth read it (docs/keystone.md). */
#ifndef BERTH_KEYSTONE_SETTINGS_H
#define BERTH_KEYSTONE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "conf/settings.h"
#include "keystone/token.h"

/* All texts lie in the arena they were read into. Never changed once read: any thread. */
struct keystone_settings {
    struct slice www_authenticate; /* value of the header of a 401 */

    /* the service's own login */
    const char *auth_url;   /* http or https */
    bool discovers;         /* auth_url's version document says where version 3 is */
    const char *login_body; /* JSON for POST /v3/auth/tokens; NULL: there is no login, but */
    const char *own_token;  /* this token, and auth_url is the endpoint; or, with a login_body, what
                               the login shows as X-Auth-Token, or NULL */

    /* Keystone's endpoint in the catalog of the service's token */
    const char *interface;   /* public, internal or admin */
    const char *region_name; /* NULL: any */

    /* the connection */
    const char *cafile; /* or a directory; these NULL: not set */
    const char *certfile;
    const char *keyfile;
    bool insecure;
    unsigned attempt_timeout_ms; /* for one question from its beginning to its end */
    unsigned retries;            /* when Keystone cannot be reached */

    /* what becomes of tokens */
    bool delay_auth_decision;
    unsigned cache_s; /* 0: nothing is cached */
    struct conf_texts service_roles;
    bool service_roles_required;
    struct token_terms terms;
};

/* Reads and checks them. False: err has one line that names section, option and file. */
bool keystone_settings_read(const struct conf *conf, struct arena *arena,
                            struct keystone_settings *out, struct err *err) BERTH_MUST_CHECK;

#endif
