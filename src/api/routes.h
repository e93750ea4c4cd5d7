/* Finds the route of a request in its API's table. */
#ifndef BERTH_API_ROUTES_H
#define BERTH_API_ROUTES_H

#include "api/request.h"

enum route_found { ROUTE_FOUND, ROUTE_UNKNOWN_PATH, ROUTE_UNKNOWN_METHOD };

struct route_finder;

/* Creates the finder in the arena. The table outlives it. */
const struct route_finder *route_finder_create(const struct api_route *routes, unsigned count,
                                               struct arena *arena);

/* Finds the route for the path and the request's method; fills in request->route and args (slices
 * of the path). For an unknown method on a known path, request->allow lists the methods that
 * exist. */
enum route_found routes_find(const struct route_finder *finder, struct slice path,
                             struct api_request *request);

/* Fills in request->route and args as if the request had that method, which must exist for the
 * path. */
void routes_take(const struct route_finder *finder, struct slice path, struct slice method,
                 struct api_request *request);

/* Fills in request->allow for a request whose route needs a newer microversion: the methods that
 * the path has at the request's microversion or, if there are none, at newer ones. */
void routes_allow(const struct route_finder *finder, struct api_request *request);

/* The route of that method and path at microversion 1.minor, or NULL. */
const struct api_route *routes_of_method(const struct route_finder *finder, struct slice path,
                                         struct slice method, unsigned minor);

#endif
