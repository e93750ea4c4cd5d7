/* The service's own standing with Keystone: its token, and where tokens are asked about. One
 * thread, the one that runs the keystone_http. */
#ifndef BERTH_KEYSTONE_SESSION_H
#define BERTH_KEYSTONE_SESSION_H

#include "keystone/http.h"

#define SESSION_TOKEN_REFUSED "Keystone refuses the service's own token (HTTP 401)"

enum keystone_session_state {
    SESSION_READY,  /* token and url may be used */
    SESSION_BUSY,   /* a login is under way */
    SESSION_FAILED, /* see why; the next login is some seconds away */
};

enum keystone_session_step {
    SESSION_IDLE,
    SESSION_FINDS_LOGIN, /* asks auth_url for its versions */
    SESSION_LOGS_IN,
    SESSION_FINDS_ENDPOINT, /* asks the catalog's endpoint for its versions */
};

struct keystone_session {
    const struct keystone_settings *settings;
    struct keystone_http *http;
    struct keystone_call call;
    enum keystone_session_step step;
    struct arena *arena;  /* of the login under way: its URLs */
    const char *endpoint; /* in the arena: whose versions are asked for */
    char *login_url;      /* NULL: not known yet */
    char *new_token;      /* of the login under way; this and those below are malloc'd */
    int64_t new_life_us;
    char *token;       /* NULL: none */
    char *url;         /* of tokens: …/v3/auth/tokens */
    uint64_t until_us; /* the token serves so long; monotonic, as those below */
    uint64_t renew_us; /* from here on a new one is fetched */
    uint64_t retry_us; /* no login before; 0: any time */
    uint64_t logins;   /* asked for, ever */
    bool has_served;   /* Keystone has accepted the token */
    unsigned useless;  /* tokens in a row that Keystone gave and never accepted */
    char why[KEYSTONE_WHY_BYTES];
};

void keystone_session_open(struct keystone_session *session,
                           const struct keystone_settings *settings, struct keystone_http *http);
void keystone_session_close(struct keystone_session *session);

/* How it stands; begins a login where one is due. */
enum keystone_session_state keystone_session_state(struct keystone_session *session);

/* Keystone has refused this token of ours: it is used no more. */
void keystone_session_drop(struct keystone_session *session, const char *token);

/* Keystone has accepted this token of ours. */
void keystone_session_served(struct keystone_session *session, const char *token);

#endif
