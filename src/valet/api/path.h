/* The path of a request to the Valet API, in the form of the route table. */
#ifndef BERTH_VALET_API_PATH_H
#define BERTH_VALET_API_PATH_H

#include "api/request.h"

/* The path after the mount prefix, decoded except for slashes and percent signs inside segments,
 * which remain %2F and %25; one slash at the end is removed. "/" is "" or "/". In the request's
 * arena or its own text. Any thread. */
struct slice valet_path(const struct api_request *request);

#endif
