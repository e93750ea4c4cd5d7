/* One line per request, in the Python service's form (operators spec, Logging). */
#ifndef BERTH_API_ACCESS_LOG_H
#define BERTH_API_ACCESS_LOG_H

#include "api/request.h"

/* Writes the line of an answered request, if there is to be an access log; and another one if it
 * was slow. Worker thread. */
void access_log_write(const struct api_request *request);

#endif
