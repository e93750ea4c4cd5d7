/* The table of the Valet API's routes. */
#ifndef BERTH_VALET_API_ROUTES_H
#define BERTH_VALET_API_ROUTES_H

#include "api/route.h"

enum { VALET_ROUTE_COUNT = 22 };

/* What the ids in a path identify. A path with unknown ids is 404 for every method, so ids are
 * looked up for methods without a row, too (stages.c, ids.c). */
enum valet_route_flag {
    VALET_OF_GROUP = 1,  /* the first id */
    VALET_OF_MEMBER = 2, /* the second one, with VALET_OF_GROUP */
    VALET_OF_PLAN = 4,
    VALET_OF_PLACEMENT = 8,
};

extern const struct api_route valet_routes[VALET_ROUTE_COUNT];

#endif
