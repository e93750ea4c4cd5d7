/* The log lines that state reasons: why a request was refused, or why a list is empty (operators
 * spec, Logging). */
#ifndef BERTH_API_SERVICES_REASON_LOG_H
#define BERTH_API_SERVICES_REASON_LOG_H

#include "api/request.h"

/* Logs the lines of an answered request; most have none. At WARNING: why a write was refused; at
 * INFO: the handler's remark; at DEBUG: the policy rule that denied it, and the text of an error.
 * Call it before the request's own line is logged, so that the lines are adjacent. Worker
 * threads. */
void reason_log_write(const struct api_request *request);

#endif
