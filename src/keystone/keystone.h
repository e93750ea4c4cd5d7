/* auth_strategy = keystone: determines to whom a token belongs, as keystonemiddleware's auth_token
 * does (docs/keystone.md). Cached tokens are checked at once, on the caller's thread; for others, a
 * separate thread queries Keystone while the request waits. */
#ifndef BERTH_KEYSTONE_KEYSTONE_H
#define BERTH_KEYSTONE_KEYSTONE_H

#include "auth/identity.h"
#include "base/arena.h"
#include "base/err.h"
#include "keystone/settings.h"
#include "keystone/token.h"

struct keystone;

enum keystone_verdict {
    KEYSTONE_PENDING,     /* `done` will be called: then call this again */
    KEYSTONE_ACCEPTED,    /* identity is filled in */
    KEYSTONE_REFUSED,     /* 401 */
    KEYSTONE_UNAVAILABLE, /* 503: no answer from Keystone */
};

/* The result for one token for which Keystone had to be queried. */
struct keystone_waiter {
    enum keystone_verdict verdict; /* if ACCEPTED, token is set */
    struct token *token;
    void (*done)(struct keystone_waiter *waiter);
    struct keystone_waiter *next;
};

/* One request's tokens. Initially zero except for what the caller fills in; it must not move until
 * keystone_request_close. */
struct keystone_request {
    /* the request; these texts are valid as long as this struct */
    enum token_service service_of_ours; /* the service that received the request */
    struct slice user_token;            /* X-Auth-Token; data == NULL: none */
    struct slice service_token;         /* X-Service-Token */
    struct slice method;
    struct slice mount; /* decoded; together with path, the text to which access rules apply */
    struct slice path;
    struct slice request_id;                        /* sent to Keystone, for its log */
    struct arena *arena;                            /* the request's arena, used for the verdict */
    void (*done)(struct keystone_request *request); /* on Keystone's thread: continue on another
                                                     * thread */

    /* the verdict */
    struct identity identity; /* points into the tokens */
    const char *why;          /* static text: the reason for a refusal, for the log */

    /* used by this module */
    unsigned step;
    bool may_be_expired; /* the service token is valid and has a role of service_token_roles */
    bool service_refused;
    struct token *user;
    struct token *service;
    struct keystone_waiter waiter;
};

/* Limits on the cache and on concurrent queries. */
struct keystone_limits {
    unsigned queries;       /* pending queries: requests beyond these are answered 503 */
    unsigned queries_sent;  /* of these, sent to Keystone at the same time: its connections */
    unsigned query_ms;      /* from arrival to verdict, in every case */
    unsigned cache_shards;  /* a power of two */
    unsigned cache_entries; /* in total */
    size_t cache_bytes;     /* in total */
};

extern const struct keystone_limits keystone_default_limits;

/* Starts the thread that queries Keystone, which need not be running. The settings outlive it. NULL
 * with err: failure. */
struct keystone *keystone_start(const struct keystone_settings *settings,
                                const struct keystone_limits *limits,
                                struct err *err) BERTH_MUST_CHECK;

/* Makes every query, including later ones, end within that time from now: call it before a stop. */
void keystone_hurry(struct keystone *keystone, unsigned ms);

/* Call it when no request is pending. */
void keystone_stop(struct keystone *keystone);

/* The request's verdict, or PENDING. Any thread; after PENDING, call it again only after `done`. */
enum keystone_verdict keystone_check(struct keystone *keystone, struct keystone_request *request);

/* Releases everything that the identity points into. May also be called if the request was never
 * checked. */
void keystone_request_close(struct keystone_request *request);

/* The value of the header WWW-Authenticate for a 401. */
struct slice keystone_www_authenticate(const struct keystone *keystone);

/* Whether the service itself answers refused requests, with its own text (delay_auth_decision). */
bool keystone_delays(const struct keystone *keystone);

#endif
