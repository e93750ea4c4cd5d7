/* What the Placement API has of its own: settings, and what it keeps with each request. */
#ifndef BERTH_PLACEMENT_API_PLACEMENT_REQUEST_H
#define BERTH_PLACEMENT_API_PLACEMENT_REQUEST_H

#include <stdint.h>

#include "api/definition.h"
#include "api/request.h"

struct placement_settings {
    struct slice incomplete_project_id; /* [placement] incomplete_consumer_* */
    struct slice incomplete_user_id;

    /* Those that a reload changes while requests are answered; each stands alone. */
    _Atomic bool randomize_candidates;
    _Atomic int64_t max_candidates; /* -1: no limit */
    _Atomic bool spread_candidates; /* with a limit: one of each tree before a second of any */
};

struct placement_request {
    bool version_shown; /* the openstack-api-version header goes out */
    bool vary_shown;
    bool is_cacheable;     /* without a body, and with cache headers all the same */
    bool version_in_error; /* 406 of the negotiation: min and max versions in the body */
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
