/* auth_strategy = keystone: who a token belongs to, as keystonemiddleware's auth_token finds out
 * (docs/keystone.md). Tokens that are known are answered at once, on the caller's thread; about
 * others Keystone is asked on a thread of its own, while the request waits. */
#ifndef BERTH_KEYSTONE_KEYSTONE_H
#define BERTH_KEYSTONE_KEYSTONE_H

#include "auth/identity.h"
#include "base/arena.h"
#include "base/err.h"
#include "keystone/settings.h"
#include "keystone/token.h"

struct keystone;

enum keystone_verdict {
    KEYSTONE_PENDING,     /* `done` will be called: then ask again */
    KEYSTONE_ACCEPTED,    /* identity is filled */
    KEYSTONE_REFUSED,     /* 401 */
    KEYSTONE_UNAVAILABLE, /* 503: Keystone did not say */
};

/* What becomes of one token that had to be asked about. */
struct keystone_waiter {
    enum keystone_verdict verdict; /* ACCEPTED: token is set */
    struct token *token;
    void (*done)(struct keystone_waiter *waiter);
    struct keystone_waiter *next;
};

/* One request's tokens. Zeroed but for what the caller fills in; it stays where it is until
 * keystone_request_close. */
struct keystone_request {
    /* the request; these live as long as it */
    enum token_service service_of_ours; /* which of them is asked */
    struct slice user_token;            /* X-Auth-Token, data == NULL: none */
    struct slice service_token;         /* X-Service-Token */
    struct slice method;
    struct slice mount; /* decoded; with path: what access rules speak of */
    struct slice path;
    struct slice request_id;                        /* Keystone is told, for its log */
    struct arena *arena;                            /* for the verdict; the request's */
    void (*done)(struct keystone_request *request); /* on Keystone's thread: go on elsewhere */

    /* the verdict */
    struct identity identity; /* points into the tokens */
    const char *why;          /* static text: why it is refused, for the log */

    /* the module's own */
    unsigned step;
    bool may_be_expired; /* the service token is good, with a role of service_token_roles */
    bool service_refused;
    struct token *user;
    struct token *service;
    struct keystone_waiter waiter;
};

/* How much is kept and asked at once. */
struct keystone_limits {
    unsigned questions;       /* pending: more are answered 503 */
    unsigned questions_asked; /* of these, with Keystone at once: its connections */
    unsigned question_ms;     /* from arrival to verdict, whatever happens */
    unsigned cache_shards;    /* a power of two */
    unsigned cache_entries;   /* in all */
    size_t cache_bytes;       /* in all */
};

extern const struct keystone_limits keystone_default_limits;

/* Starts the thread that asks; Keystone need not be there. The settings outlive it. NULL: err. */
struct keystone *keystone_start(const struct keystone_settings *settings,
                                const struct keystone_limits *limits,
                                struct err *err) BERTH_MUST_CHECK;

/* Every question, also those to come, ends within that time from now: before a stop. */
void keystone_hurry(struct keystone *keystone, unsigned ms);

/* No request is pending any more. */
void keystone_stop(struct keystone *keystone);

/* The request's verdict, or PENDING. Any thread; again after `done`, not before. */
enum keystone_verdict keystone_check(struct keystone *keystone, struct keystone_request *request);

/* Lets go of what the identity points into. Of a request that was never checked, too. */
void keystone_request_close(struct keystone_request *request);

/* The value of the header WWW-Authenticate of a 401. */
struct slice keystone_www_authenticate(const struct keystone *keystone);

/* Whether a refusal is the service's own, in its words (delay_auth_decision). */
bool keystone_delays(const struct keystone *keystone);

#endif
