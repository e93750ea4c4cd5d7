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
    struct cors_names allowed_origins; /* none: no CORS at all */
    struct cors_names allow_methods;
    struct cors_names allow_headers;
    struct slice expose_headers; /* joined by commas */
    bool allow_credentials;
    int64_t max_age_s; /* 0: not told */
};

/* Answers an OPTIONS request when CORS is on: 200 without a body, whatever the path, the token and
 * the origin. False: CORS is off, the request goes its way. */
bool cors_answer_preflight(struct api_request *request);

/* Whether another request comes from an allowed origin: then the headers below go out, and "Origin"
 * into vary. */
bool cors_is_allowed(const struct api_request *request);
void cors_add_headers(struct api_request *request);

#endif
