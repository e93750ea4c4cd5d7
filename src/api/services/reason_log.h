/* The lines that say why: why a request was refused, why a list is empty (operators spec, Logging).
 */
#ifndef BERTH_API_SERVICES_REASON_LOG_H
#define BERTH_API_SERVICES_REASON_LOG_H

#include "api/request.h"

/* Writes the lines of an answered request, none for most: at WARNING why a write was refused, at
 * INFO the handler's remark, at DEBUG the policy that denied it and the text of an error. To be
 * called before the request's own line is written, so that they stand next to it. Worker threads.
 */
void reason_log_write(const struct api_request *request);

#endif
