/* /healthcheck of a Placement listener: oslo.middleware's health check, based on the checks of
 * readiness.h. */
#ifndef BERTH_API_SERVICES_HEALTHCHECK_H
#define BERTH_API_SERVICES_HEALTHCHECK_H

#include "api/request.h"

/* Whether the request is for the health check and its client may see it; any other request is
 * processed normally. */
bool healthcheck_is_requested(const struct api_request *request);

/* Begins the check; the exchange is pending. */
void healthcheck_begin(struct api_request *request);

/* Writes the answer, when the exchange has been resumed. */
void healthcheck_answer(struct api_request *request);

#endif
