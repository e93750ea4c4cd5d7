/* The handlers of the Placement API's routes, as routes.c lists them. handle_* reads or plans,
 * finish_* writes the answer after a write was decided (api/request.h). */
#ifndef BERTH_API_PLACEMENT_HANDLERS_H
#define BERTH_API_PLACEMENT_HANDLERS_H

#include "api/request.h"

enum api_step handle_root(struct api_request *request);
enum api_step handle_candidates_list(struct api_request *request);

#endif
