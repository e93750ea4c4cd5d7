/* Queries to Keystone over HTTP, with libcurl: several at the same time, on one thread, with limits
 * on their duration and on the size of answers. Redirects are not followed, so that the service's
 * credentials are sent only where the configuration states. */
#ifndef BERTH_KEYSTONE_HTTP_H
#define BERTH_KEYSTONE_HTTP_H

#include <curl/curl.h>

#include "base/buf.h"
#include "keystone/settings.h"

enum { KEYSTONE_TOKEN_BYTES_MAX = 8192, KEYSTONE_WHY_BYTES = 320, KEYSTONE_HEADERS_MAX = 5 };

/* One query. The caller owns it and keeps it until `done` has been called or it has been
 * cancelled. */
struct keystone_call {
    const char *url;
    const char *post; /* the body of a POST, as JSON; NULL: a GET */
    struct {
        const char *name;
        const char *value;
    } headers[KEYSTONE_HEADERS_MAX]; /* copied when the call starts; value NULL: not sent */
    unsigned timeout_ms;
    void (*done)(struct keystone_call *call);

    /* the answer */
    int status; /* HTTP status; 0: no answer, see why */
    bool
        is_unreachable; /* no connection, a broken one, or a timeout: another attempt may succeed */
    struct buf body;
    char *subject_token; /* X-Subject-Token, or NULL; both are freed by keystone_call_clear */
    char why[KEYSTONE_WHY_BYTES];

    /* used by this module */
    CURL *curl;
    struct curl_slist *header_list;
    size_t header_bytes;
    bool is_too_large;
    char error[CURL_ERROR_SIZE];
};

struct keystone_http;

/* NULL: err states why libcurl cannot be used. The settings outlive it. */
struct keystone_http *keystone_http_create(const struct keystone_settings *settings,
                                           struct err *err);

/* Call it when no call is in progress. */
void keystone_http_destroy(struct keystone_http *http);

/* Starts the call; keystone_http_run calls `done`. */
void keystone_http_start(struct keystone_http *http, struct keystone_call *call);

/* Ends a call without `done`. */
void keystone_http_cancel(struct keystone_http *http, struct keystone_call *call);

/* Processes all calls until something happens, at most for that time. One thread. */
void keystone_http_run(struct keystone_http *http, unsigned wait_ms);

/* Makes keystone_http_run return. Any thread. */
void keystone_http_wake(struct keystone_http *http);

/* Frees what came with the answer. */
void keystone_call_clear(struct keystone_call *call);

#endif
