/* Cross-origin requests ([cors]; placement spec, CORS). */
#ifndef BERTH_API_CORS_H
#define BERTH_API_CORS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct api_request;

struct cors_names {
    const struct slice *names;
    unsigned count;
};

struct cors_settings {
    struct cors_names allowed_origins; /* none: CORS is disabled */
    struct cors_names allow_methods;
    struct cors_names allow_headers;
    struct slice expose_headers; /* joined by commas */
    bool allow_credentials;
    int64_t max_age_s; /* 0: not sent */
};

/* Answers an OPTIONS request if CORS is enabled: 200 without a body, whatever the path, token and
 * origin are. False: CORS is disabled, and the request is processed normally. */
bool cors_answer_preflight(struct api_request *request);

/* Whether any other request comes from an allowed origin. If so, the answer has the headers of
 * cors_add_headers(), and vary includes "Origin". */
bool cors_is_allowed(const struct api_request *request);
void cors_add_headers(struct api_request *request);

#endif
