/* The path of a request to the Valet API, as its table has it. */
#ifndef BERTH_VALET_API_PATH_H
#define BERTH_VALET_API_PATH_H

#include "api/request.h"

/* Behind the mount, decoded but for slashes and percent signs inside segments, which stand there as
 * %2F and %25; without one slash at the end. "/" is "" or "/". In the request's arena or its own
 * text. Any thread. */
struct slice valet_path(const struct api_request *request);

#endif
