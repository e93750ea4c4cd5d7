/* The Placement API's own settings, and its data for each request. */
#ifndef BERTH_PLACEMENT_API_PLACEMENT_REQUEST_H
#define BERTH_PLACEMENT_API_PLACEMENT_REQUEST_H

#include <stdint.h>

#include "api/definition.h"
#include "api/request.h"

struct placement_settings {
    struct slice incomplete_project_id; /* [placement] incomplete_consumer_* */
    struct slice incomplete_user_id;

    /* A reload may change these while requests are answered; each is independent of the others. */
    _Atomic bool randomize_candidates;
    _Atomic int64_t max_candidates; /* -1: no limit */
    _Atomic bool spread_candidates; /* with a limit: one from each tree before a second from any */
};

struct placement_request {
    bool version_shown; /* the openstack-api-version header is sent */
    bool vary_shown;
    bool is_cacheable;     /* an answer without a body that has cache headers nevertheless */
    bool version_in_error; /* 406 from the negotiation: the body has the minimum and maximum
                            * versions */
};

static inline const struct placement_settings *placement_settings(const struct api_request *request)
{
    return request->endpoint->settings;
}

static inline struct placement_request *placement_own(const struct api_request *request)
{
    return request->own;
}

#endif
