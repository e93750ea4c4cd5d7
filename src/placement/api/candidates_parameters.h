/* The query string of GET /allocation_candidates. */
#ifndef BERTH_PLACEMENT_API_CANDIDATES_PARAMETERS_H
#define BERTH_PLACEMENT_API_CANDIDATES_PARAMETERS_H

#include "api/request.h"
#include "query/ac_request.h"

/* Reads and checks all parameters into `out` (in the request's arena); false with err set (400). */
bool candidates_parameters_read(struct api_request *request, struct ac_request *out);

#endif
