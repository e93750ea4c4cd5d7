/* The service of a Placement listener: the way of every request. */
#ifndef BERTH_API_DISPATCH_H
#define BERTH_API_DISPATCH_H

#include "api/request.h"

/* The service that a Placement listener runs; api outlives the listener. */
struct http_service dispatch_service(const struct api *api);

#endif
