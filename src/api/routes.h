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

/* Fills request->route and args as if the request's method were that one, which the path has. */
void routes_take(const struct route_finder *finder, struct slice path, struct slice method,
                 struct api_request *request);

/* Fills request->allow for a request whose route is too new: the methods that the route's path has
 * at the request's microversion, or, if it has none, those of newer ones. */
void routes_allow(const struct route_finder *finder, struct api_request *request);

/* The route that the method has there, or NULL. */
const struct api_route *routes_of_method(const struct route_finder *finder, struct slice path,
                                         struct slice method, unsigned minor);

#endif
