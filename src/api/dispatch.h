/* The service of a door's listeners: the way of every request. */
#ifndef BERTH_API_DISPATCH_H
#define BERTH_API_DISPATCH_H

#include "api/request.h"

/* The doorway outlives the listener. */
struct http_service dispatch_service(const struct doorway *doorway);

#endif
