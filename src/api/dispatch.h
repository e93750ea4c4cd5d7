/* The service of an API's listeners: every request passes through it. */
#ifndef BERTH_API_DISPATCH_H
#define BERTH_API_DISPATCH_H

#include "api/request.h"

/* The endpoint outlives the listener. */
struct http_service dispatch_service(const struct api_endpoint *endpoint);

#endif
