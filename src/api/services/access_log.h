/* The lines about each request, in the Python service's form (operators spec, Logging). */
#ifndef BERTH_API_SERVICES_ACCESS_LOG_H
#define BERTH_API_SERVICES_ACCESS_LOG_H

#include "api/request.h"
#include "log/log.h"

/* What a line knows of the request; good as long as the request. */
struct log_context access_log_context(const struct api_request *request);

/* Writes at DEBUG that a request came, as soon as its target is read and before anybody has looked
 * who asks. */
void access_log_begin(const struct api_request *request);

/* Writes the line of an answered request, if there is to be an access log; and another one if it
 * was slow. */
void access_log_write(const struct api_request *request);

#endif
