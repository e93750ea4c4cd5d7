/* A login consists of up to three queries, one after the other: the location of version 3 (for
 * plugins that discover it), the login itself and, if the catalog has Keystone's endpoint without
 * its version, the location of that. A new token is fetched while the old one is still valid. After
 * a failure no query is made for a moment, and for longer if Keystone has refused the credentials:
 * too many wrong logins would lock the service's user. The same applies if it refuses the very
 * tokens that it issues; otherwise any client could cause two logins with each request. */
#include "keystone/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "keystone/documents.h"
#include "keystone/url.h"

enum {
    RENEW_BEFORE_S = 120, /* keystoneauth's value; or half of a shorter lifetime */
    LAST_S = 2,           /* a token this close to its expiry is not used any more; or a quarter of
                           * its lifetime */
    LIFE_MIN_S = 1,       /* whatever Keystone returns, to limit the number of logins */
    RETRY_S = 1,
    RETRY_REFUSED_S = 5,
};

static const uint64_t US = 1000000;

static void on_answer(struct keystone_call *call);

static void replace(char **text, char *by)
{
    free(*text);
    *text = by;
}

void keystone_session_open(struct keystone_session *session,
                           const struct keystone_settings *settings, struct keystone_http *http)
{
    *session = (struct keystone_session){
        .settings = settings, .http = http, .arena = arena_create(), .call = {.done = on_answer}};
    if (settings->login_body != NULL)
        return;
    struct slice endpoint = slice_of(settings->auth_url);
    while (endpoint.len > 0 && endpoint.data[endpoint.len - 1] == '/')
        endpoint.len--;
    session->url = slice_dup(arena_printf(session->arena, "%.*s/auth/tokens", SLICE_ARG(endpoint)));
    session->token = slice_dup(slice_of(settings->own_token));
    session->until_us = session->renew_us = UINT64_MAX;
}

void keystone_session_close(struct keystone_session *session)
{
    keystone_http_cancel(session->http, &session->call);
    keystone_call_clear(&session->call);
    replace(&session->login_url, NULL);
    replace(&session->new_token, NULL);
    replace(&session->token, NULL);
    replace(&session->url, NULL);
    arena_destroy(session->arena);
}

static void session_fail(struct keystone_session *session, unsigned retry_s, const char *format,
                         ...) BERTH_PRINTF(3, 4);

static void session_fail(struct keystone_session *session, unsigned retry_s, const char *format,
                         ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(session->why, sizeof(session->why), format, args);
    va_end(args);
    session->step = SESSION_IDLE;
    session->retry_us = clock_monotonic_us() + retry_s * US;
    replace(&session->login_url, NULL); /* so that a Keystone that has moved is found again */
}

static void session_query(struct keystone_session *session, enum keystone_session_step step,
                          const char *url, const char *post)
{
    const char *login_token = post != NULL ? session->settings->own_token : NULL;
    struct keystone_call *call = &session->call;
    session->step = step;
    call->url = url;
    call->post = post;
    call->timeout_ms = session->settings->attempt_timeout_ms;
    memset(call->headers, 0, sizeof(call->headers));
    call->headers[0].name = "Accept";
    call->headers[0].value = "application/json";
    call->headers[1].name = "Content-Type";
    call->headers[1].value = post != NULL ? "application/json" : NULL;
    call->headers[2].name = "X-Auth-Token";
    call->headers[2].value = login_token;
    keystone_http_start(session->http, call);
}

static void log_in(struct keystone_session *session)
{
    session->logins++;
    session_query(session, SESSION_LOGS_IN, session->login_url, session->settings->login_body);
}

static void session_begin(struct keystone_session *session)
{
    const char *auth_url = session->settings->auth_url;
    arena_reset(session->arena);
    if (session->settings->discovers && session->login_url == NULL) {
        session_query(session, SESSION_FINDS_LOGIN, auth_url, NULL);
        return;
    }
    if (session->login_url == NULL)
        session->login_url = slice_dup(keystone_url_of_tokens(session->arena, slice_of(auth_url)));
    log_in(session);
}

/* "no answer" or "HTTP 503", for messages. */
static const char *outcome(struct keystone_session *session)
{
    struct keystone_call *call = &session->call;
    if (call->status == 0)
        return call->why;
    return arena_printf(session->arena, "HTTP %d", call->status).data;
}

static void on_login_found(struct keystone_session *session)
{
    struct keystone_call *call = &session->call;
    const char *auth_url = session->settings->auth_url;
    struct slice url = {0};
    if (call->status >= 200 && call->status < 400)
        url = keystone_document_find_v3(session->arena, auth_url, buf_slice(&call->body));
    else if (keystone_url_begins_with_v3(auth_url))
        url = slice_of(auth_url);
    if (url.data == NULL) {
        session_fail(session, RETRY_S, "%s lists no version 3 of Keystone: %s", auth_url,
                     outcome(session));
        return;
    }
    session->login_url = slice_dup(keystone_url_of_tokens(session->arena, url));
    log_in(session);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void become_ready(struct keystone_session *session, struct slice endpoint)
{
    uint64_t now_us = clock_monotonic_us();
    uint64_t life_us = LIFE_MIN_S * US;
    if (session->new_life_us > (int64_t)life_us)
        life_us = (uint64_t)session->new_life_us;
    session->renew_us = now_us + life_us - lesser(RENEW_BEFORE_S * US, life_us / 2);
    session->until_us = now_us + life_us - lesser(LAST_S * US, life_us / 4);
    replace(&session->token, session->new_token);
    session->new_token = NULL;
    session->has_served = false;
    replace(&session->url, slice_dup(keystone_url_of_tokens(session->arena, endpoint)));
    session->retry_us = 0;
    session->step = SESSION_IDLE;
}

static void on_login(struct keystone_session *session)
{
    struct keystone_call *call = &session->call;
    const struct keystone_settings *settings = session->settings;
    const struct keystone_endpoint_wish wish = {settings->interface, settings->region_name};
    struct keystone_login login;
    const char *why = NULL;
    if (call->status == 401 || call->status == 403) {
        session_fail(session, RETRY_REFUSED_S, "Keystone refused the service's own login: %s",
                     outcome(session));
    } else if (call->status != 200 && call->status != 201) {
        session_fail(session, RETRY_S, "the service cannot log in at %s: %s", session->login_url,
                     outcome(session));
    } else if (call->subject_token == NULL) {
        session_fail(session, RETRY_S, "the answer to the service's login has no X-Subject-Token");
    } else if (!keystone_document_read_login(session->arena, buf_slice(&call->body), &wish, &login,
                                             &why)) {
        session_fail(session, RETRY_S, "the answer to the service's login is invalid: %s", why);
    } else if (login.endpoint.data == NULL) {
        session_fail(session, RETRY_REFUSED_S,
                     "the catalog of the service's token has no %s identity endpoint%s%s",
                     settings->interface, settings->region_name != NULL ? " in region " : "",
                     settings->region_name != NULL ? settings->region_name : "");
    } else {
        replace(&session->new_token, slice_dup(slice_of(call->subject_token)));
        session->new_life_us = login.life_us;
        if (keystone_url_is_v3(login.endpoint)) {
            become_ready(session, login.endpoint);
            return;
        }
        session->endpoint =
            arena_copy(session->arena, keystone_url_without_version(login.endpoint)).data;
        session_query(session, SESSION_FINDS_ENDPOINT, session->endpoint, NULL);
    }
}

static void on_endpoint_found(struct keystone_session *session)
{
    struct keystone_call *call = &session->call;
    struct slice url = {0};
    if (call->status >= 200 && call->status < 400)
        url = keystone_document_find_v3(session->arena, session->endpoint, buf_slice(&call->body));
    if (url.data == NULL)
        session_fail(session, RETRY_S, "the catalog's %s lists no version 3 of Keystone: %s",
                     session->endpoint, outcome(session));
    else
        become_ready(session, url);
}

static void on_answer(struct keystone_call *call)
{
    struct keystone_session *session =
        (struct keystone_session *)((char *)call - offsetof(struct keystone_session, call));
    switch (session->step) {
    case SESSION_FINDS_LOGIN:
        on_login_found(session);
        return;
    case SESSION_LOGS_IN:
        on_login(session);
        return;
    case SESSION_FINDS_ENDPOINT:
        on_endpoint_found(session);
        return;
    case SESSION_IDLE:
        break;
    }
    check(false);
}

enum keystone_session_state keystone_session_state(struct keystone_session *session)
{
    uint64_t now_us = clock_monotonic_us();
    bool usable = session->token != NULL && now_us < session->until_us;
    bool waits = session->retry_us > now_us;
    bool is_due = session->token == NULL || now_us >= session->renew_us;
    if (session->step == SESSION_IDLE && is_due && !waits)
        session_begin(session);
    if (usable)
        return SESSION_READY;
    return session->step != SESSION_IDLE ? SESSION_BUSY : SESSION_FAILED;
}

static bool is_own(const struct keystone_session *session, const char *token)
{
    return session->settings->login_body != NULL && session->token != NULL &&
           strcmp(session->token, token) == 0;
}

void keystone_session_drop(struct keystone_session *session, const char *token)
{
    if (!is_own(session, token))
        return;
    replace(&session->token, NULL);
    session->useless = session->has_served ? 0 : session->useless + 1;
    if (session->useless < 2)
        return;
    snprintf(session->why, sizeof(session->why), "%s", SESSION_TOKEN_REFUSED);
    session->retry_us = clock_monotonic_us() + RETRY_S * US;
}

void keystone_session_served(struct keystone_session *session, const char *token)
{
    if (is_own(session, token))
        session->has_served = true;
}
