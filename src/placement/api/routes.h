/* THE table of the Placement API's routes. */
#ifndef BERTH_PLACEMENT_API_ROUTES_H
#define BERTH_PLACEMENT_API_ROUTES_H

#include "api/route.h"
#include "placement/api/microversion.h"

enum { PLACEMENT_ROUTE_COUNT = 37 };

enum placement_route_flag {
    ROUTE_BARE_404 = 1,       /* a 404 from its handler lacks vary (placement spec,
                               * Microversions) */
    ROUTE_HIDDEN_405 = 2,     /* outside its microversions: 405 without Allow instead of 404 */
    ROUTE_ACCEPTS_JSON = 4,   /* 406 if the client does not accept JSON */
    ROUTE_TAKES_JSON = 8,     /* 415 if the body is not JSON */
    ROUTE_CONTENT_FIRST = 16, /* checks these two before the version (Order of checks) */
};

extern const struct api_route placement_routes[PLACEMENT_ROUTE_COUNT];

#endif
