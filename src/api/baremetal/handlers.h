/* The handlers of the bare metal API's routes, as routes.c lists them. Those with a finish_ write:
 * they plan, finish_* writes the answer after it was decided (api/request.h). */
#ifndef BERTH_API_BAREMETAL_HANDLERS_H
#define BERTH_API_BAREMETAL_HANDLERS_H

#include "api/request.h"

/* root.c */
enum api_step baremetal_versions(struct api_request *request);
enum api_step baremetal_version(struct api_request *request);

#endif
