/* Keystone's answer about a token: one block of memory that never changes, shared by requests and
 * cache, with a reference count. */
#ifndef BERTH_KEYSTONE_TOKEN_H
#define BERTH_KEYSTONE_TOKEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auth/identity.h"
#include "base/check.h"
#include "base/slice.h"

enum { TOKEN_ANSWER_BYTES_MAX = 2 * 1024 * 1024 }; /* of the answer about one token */

/* [keystone_authtoken] enforce_token_bind: how to treat a token that is bound to another method of
 * authentication, none of which this service supports. */
enum token_bind {
    TOKEN_BIND_DISABLED,   /* not checked */
    TOKEN_BIND_PERMISSIVE, /* bound to Kerberos: refused */
    TOKEN_BIND_STRICT,     /* bound to anything: refused */
    TOKEN_BIND_REQUIRED,   /* "required", or the name of a method: no request can satisfy it */
};

/* berth's services in Keystone's catalog: each API has a type of its own there, which access rules
 * name. */
enum token_service {
    TOKEN_SERVICE_PLACEMENT,
    TOKEN_SERVICE_BAREMETAL,
    TOKEN_SERVICE_VALET,
    TOKEN_SERVICE_COUNT
};

/* The settings for reading answers. */
struct token_terms {
    struct slice service_types[TOKEN_SERVICE_COUNT]; /* data == NULL: not configured */
    enum token_bind bind;
};

/* One rule of an application credential that concerns a service of berth. */
struct token_access_rule {
    unsigned services; /* one bit for each enum token_service whose type it names */
    struct slice method;
    struct slice path; /* a pattern, see access_rules.h */
};

struct token {
    _Atomic unsigned references;
    size_t bytes;                /* size of the block */
    int64_t expires_us;          /* wall clock */
    struct identity_party party; /* user, project, roles */
    struct slice domain_id;      /* of a domain-scoped token; otherwise data == NULL */
    struct identity_names names;
    bool is_system; /* system-scoped */
    bool is_admin_project;
    bool is_bound;      /* it may be used only with what it is bound to */
    bool is_restricted; /* of an application credential with access rules */
    bool has_catalog;
    unsigned services; /* one bit for each enum token_service in the catalog; only with
                        * has_catalog */
    unsigned rule_count;
    const struct token_access_rule *rules;
};

/* Reads the body of an answer to GET /v3/auth/tokens (identity API v3, Validate and show
 * information for token). NULL: it is not such an answer, and `why`, static text, states the
 * reason. The caller owns one reference. Any thread. */
struct token *token_read(struct slice body, const struct token_terms *terms,
                         const char **why) BERTH_MUST_CHECK;

struct token *token_ref(struct token *token);

/* NULL is allowed. */
void token_unref(struct token *token);

bool token_is_expired(const struct token *token, int64_t wall_us);

/* Parses "2026-11-21T18:14:47.000000Z" (the fraction is optional; an offset +hh:mm may replace the
 * Z). False: the text has a different form. */
bool token_parse_time(struct slice text, int64_t *wall_us) BERTH_MUST_CHECK;

#endif
