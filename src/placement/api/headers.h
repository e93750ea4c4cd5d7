/* The headers of the Placement API's answers, and the parts of a request that answers repeat. */
#ifndef BERTH_PLACEMENT_API_HEADERS_H
#define BERTH_PLACEMENT_API_HEADERS_H

#include "api/request.h"

/* Adds the version header and, from 1.15, the time at which what is shown was modified. */
void placement_add_headers(struct api_request *request);

/* The request's media type without parameters; "None" if it has none. */
struct slice placement_content_type(const struct api_request *request);

/* The media type that the client accepts: the Accept header; JSON if it is absent, empty or accepts
 * everything. */
struct slice placement_accept(const struct api_request *request);

#endif
