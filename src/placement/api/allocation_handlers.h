/* The handlers of allocations, usages and the reshaper (routes.c maps paths to handlers). */
#ifndef BERTH_PLACEMENT_API_ALLOCATION_HANDLERS_H
#define BERTH_PLACEMENT_API_ALLOCATION_HANDLERS_H

#include "api/route.h"

/* /allocations and /allocations/{consumer_uuid} */
enum api_step handle_placement_allocations_show(struct api_request *request);
enum api_step handle_placement_allocations_update(struct api_request *request);
enum api_step handle_placement_allocations_manage(struct api_request *request);
enum api_step handle_placement_allocations_delete(struct api_request *request);

/* /reshaper */
enum api_step handle_placement_reshaper_apply(struct api_request *request);

/* After any of these writes: 204. */
void finish_placement_empty(struct api_request *request);

/* /resource_providers/{uuid}/allocations, /resource_providers/{uuid}/usages, /usages */
enum api_step handle_placement_provider_allocations_list(struct api_request *request);
enum api_step handle_placement_provider_usages_show(struct api_request *request);
enum api_step handle_placement_usages_show(struct api_request *request);

#endif
