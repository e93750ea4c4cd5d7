/* The service's own session with Keystone: its token, and the URL for validating tokens. One
 * thread, the one that runs the keystone_http. */
#ifndef BERTH_KEYSTONE_SESSION_H
#define BERTH_KEYSTONE_SESSION_H

#include "keystone/http.h"

#define SESSION_TOKEN_REFUSED "Keystone refuses the service's own token (HTTP 401)"

enum keystone_session_state {
    SESSION_READY,  /* token and url may be used */
    SESSION_BUSY,   /* a login is in progress */
    SESSION_FAILED, /* see why; the next login follows some seconds later */
};

enum keystone_session_step {
    SESSION_IDLE,
    SESSION_FINDS_LOGIN, /* requests the versions from auth_url */
    SESSION_LOGS_IN,
    SESSION_FINDS_ENDPOINT, /* requests the versions from the catalog's endpoint */
};

struct keystone_session {
    const struct keystone_settings *settings;
    struct keystone_http *http;
    struct keystone_call call;
    enum keystone_session_step step;
    struct arena *arena;  /* for the login in progress: its URLs */
    const char *endpoint; /* in the arena: the endpoint whose versions are requested */
    char *login_url;      /* NULL: not yet known */
    char *new_token;      /* of the login in progress; this and those below are malloc'd */
    int64_t new_life_us;
    char *token;       /* NULL: none */
    char *url;         /* for tokens: …/v3/auth/tokens */
    uint64_t until_us; /* the token is used until then; monotonic, like those below */
    uint64_t renew_us; /* a new token is fetched from this time on */
    uint64_t retry_us; /* no login before this time; 0: no limit */
    uint64_t logins;   /* tried since the start */
    bool has_served;   /* Keystone has accepted the token */
    unsigned useless;  /* consecutive tokens that Keystone issued and never accepted */
    char why[KEYSTONE_WHY_BYTES];
};

void keystone_session_open(struct keystone_session *session,
                           const struct keystone_settings *settings, struct keystone_http *http);
void keystone_session_close(struct keystone_session *session);

/* The current state; begins a login if one is due. */
enum keystone_session_state keystone_session_state(struct keystone_session *session);

/* Keystone has refused this token of the service: it is not used any more. */
void keystone_session_drop(struct keystone_session *session, const char *token);

/* Keystone has accepted this token of the service. */
void keystone_session_served(struct keystone_session *session, const char *token);

#endif
