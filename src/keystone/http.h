/* Questions to Keystone over HTTP, by libcurl: several at once, on one thread, none for longer and
 * no answer larger than allowed. Redirects are not followed: the service's credentials go where the
 * configuration sends them. */
#ifndef BERTH_KEYSTONE_HTTP_H
#define BERTH_KEYSTONE_HTTP_H

#include <curl/curl.h>

#include "base/buf.h"
#include "keystone/settings.h"

enum { KEYSTONE_TOKEN_BYTES_MAX = 8192, KEYSTONE_WHY_BYTES = 320, KEYSTONE_HEADERS_MAX = 5 };

/* One question. The caller owns it and keeps it until `done` was called or it was cancelled. */
struct keystone_call {
    const char *url;
    const char *post; /* the body of a POST, JSON; NULL: a GET */
    struct {
        const char *name;
        const char *value;
    } headers[KEYSTONE_HEADERS_MAX]; /* copied when the call starts; value NULL: not sent */
    unsigned timeout_ms;
    void (*done)(struct keystone_call *call);

    /* the answer */
    int status; /* HTTP; 0: none came, see why */
    bool
        is_unreachable; /* no connection, or it broke, or it took too long: asking again may help */
    struct buf body;
    char *subject_token; /* X-Subject-Token, or NULL; both are freed by keystone_call_clear */
    char why[KEYSTONE_WHY_BYTES];

    /* the module's own */
    CURL *curl;
    struct curl_slist *header_list;
    size_t header_bytes;
    bool is_too_large;
    char error[CURL_ERROR_SIZE];
};

struct keystone_http;

/* NULL: err says why libcurl cannot be used. The settings outlive it. */
struct keystone_http *keystone_http_create(const struct keystone_settings *settings,
                                           struct err *err);

/* No call is under way any more. */
void keystone_http_destroy(struct keystone_http *http);

/* Starts the call; `done` comes out of keystone_http_run. */
void keystone_http_start(struct keystone_http *http, struct keystone_call *call);

/* Ends a call without `done`. */
void keystone_http_cancel(struct keystone_http *http, struct keystone_call *call);

/* Works on all calls until something happens, at most so long. One thread. */
void keystone_http_run(struct keystone_http *http, unsigned wait_ms);

/* Has keystone_http_run return. Any thread. */
void keystone_http_wake(struct keystone_http *http);

/* Frees what the answer brought. */
void keystone_call_clear(struct keystone_call *call);

#endif
