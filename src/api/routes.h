/* Finds the route of a request in its door's table. */
#ifndef BERTH_API_ROUTES_H
#define BERTH_API_ROUTES_H

#include "api/request.h"

enum route_found { ROUTE_FOUND, ROUTE_UNKNOWN_PATH, ROUTE_UNKNOWN_METHOD };

struct route_finder;

/* In the arena. The table outlives it. */
const struct route_finder *route_finder_create(const struct api_route *routes, unsigned count,
                                               struct arena *arena);

/* Finds the route of the path and the request's method; fills request->route and args, slices of
 * the path. For an unknown method of a known path request->allow lists the methods there are. */
enum route_found routes_find(const struct route_finder *finder, struct slice path,
                             struct api_request *request);

/* The route that the method has there, or NULL. */
const struct api_route *routes_of_method(const struct route_finder *finder, struct slice path,
                                         struct slice method, unsigned minor);

#endif
