/* The handlers of the bare metal API's routes, as routes.c lists them. Those with a finish_ write:
 * they plan, finish_* writes the answer after it was decided (api/request.h). */
#ifndef BERTH_API_BAREMETAL_HANDLERS_H
#define BERTH_API_BAREMETAL_HANDLERS_H

#include "api/request.h"

/* root.c */
enum api_step baremetal_versions(struct api_request *request);
enum api_step baremetal_version(struct api_request *request);

/* What answers a write with 204. */
void baremetal_finish_no_content(struct api_request *request);

/* allocations.c */
enum api_step baremetal_allocations_list(struct api_request *request);
enum api_step baremetal_allocation_show(struct api_request *request);
enum api_step baremetal_allocation_delete(struct api_request *request);
enum api_step baremetal_node_allocation_show(struct api_request *request);
enum api_step baremetal_node_allocation_delete(struct api_request *request);

/* allocation_create.c, allocation_patch.c */
enum api_step baremetal_allocation_create(struct api_request *request);
void baremetal_finish_allocation_create(struct api_request *request);
enum api_step baremetal_allocation_patch(struct api_request *request);
void baremetal_finish_allocation_patch(struct api_request *request);

#endif
