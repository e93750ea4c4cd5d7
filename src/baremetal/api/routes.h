/* The table of the Bare Metal API's routes. */
#ifndef BERTH_BAREMETAL_API_ROUTES_H
#define BERTH_BAREMETAL_API_ROUTES_H

#include "api/route.h"
#include "baremetal/api/negotiate.h"

enum { BAREMETAL_ROUTE_COUNT = 50 };

enum baremetal_route_flag {
    ROUTE_OLD_405 = 1,        /* below its first microversion 405, not 404 */
    ROUTE_OF_ALLOCATIONS = 2, /* the error says that the microversion is too old */
    ROUTE_OF_SHARDS = 4,      /* the same */
    ROUTE_KEEPS_NOTHING = 8,  /* other methods are 404, not 405 */
    ROUTE_LATER_PATH = 16,    /* below its first microversion the path does not exist either */
};

/* Paths omit the prefix /v1, except for the two version documents. */
extern const struct api_route baremetal_routes[BAREMETAL_ROUTE_COUNT];

#endif
