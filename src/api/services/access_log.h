/* The log lines about each request, in the Python service's form (operators spec, Logging). */
#ifndef BERTH_API_SERVICES_ACCESS_LOG_H
#define BERTH_API_SERVICES_ACCESS_LOG_H

#include "api/request.h"
#include "log/log.h"

/* The context of the request's log lines; valid as long as the request. */
struct log_context access_log_context(const struct api_request *request);

/* Logs at DEBUG that a request has arrived, as soon as its target has been read and before the
 * caller is identified. */
void access_log_begin(const struct api_request *request);

/* Logs the line of an answered request if the access log is on, and another line if the request was
 * slow. */
void access_log_write(const struct api_request *request);

#endif
