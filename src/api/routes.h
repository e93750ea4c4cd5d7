/* THE table of routes. */
#ifndef BERTH_API_ROUTES_H
#define BERTH_API_ROUTES_H

#include "api/request.h"

enum route_found { ROUTE_FOUND, ROUTE_UNKNOWN_PATH, ROUTE_UNKNOWN_METHOD };

/* Finds the route of request->path and the method; fills request->route and args. For an unknown
 * method of a known path request->allow lists the methods there are. */
enum route_found routes_find(struct api_request *request);

/* The table's rows, and the number of one of them. */
unsigned routes_count(void);
const struct api_route *routes_at(unsigned number);
unsigned routes_number(const struct api_route *route);

#endif
