/* /healthcheck of a Placement listener: oslo.middleware's health check, with the checks of
 * readiness.h behind it. */
#ifndef BERTH_API_SERVICES_HEALTHCHECK_H
#define BERTH_API_SERVICES_HEALTHCHECK_H

#include "api/request.h"

/* Whether the request asks for the health check and may see it; any other goes the usual way. */
bool healthcheck_is_asked(const struct api_request *request);

/* Begins to find out; the exchange is pending. */
void healthcheck_begin(struct api_request *request);

/* When the exchange was resumed: writes the answer. */
void healthcheck_answer(struct api_request *request);

#endif
