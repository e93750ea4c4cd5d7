/* The handlers of allocations, usages and the reshaper (routes.c says which path is whose). */
#ifndef BERTH_PLACEMENT_API_ALLOCATION_HANDLERS_H
#define BERTH_PLACEMENT_API_ALLOCATION_HANDLERS_H

#include "api/request.h"

/* /allocations and /allocations/{consumer_uuid} */
enum api_step handle_allocations_show(struct api_request *request);
enum api_step handle_allocations_put(struct api_request *request);
enum api_step handle_allocations_post(struct api_request *request);
enum api_step handle_allocations_delete(struct api_request *request);

/* /reshaper */
enum api_step handle_reshaper(struct api_request *request);

/* After any of these writes: 204. */
void finish_no_content(struct api_request *request);

/* /resource_providers/{uuid}/allocations, /resource_providers/{uuid}/usages, /usages */
enum api_step handle_provider_allocations(struct api_request *request);
enum api_step handle_provider_usages(struct api_request *request);
enum api_step handle_usages(struct api_request *request);

#endif
