/* The handlers of the Placement API's routes, as routes.c lists them. handle_* reads or plans,
 * finish_* writes the answer after a write was decided (api/request.h). */
#ifndef BERTH_PLACEMENT_API_HANDLERS_H
#define BERTH_PLACEMENT_API_HANDLERS_H

#include "api/request.h"
#include "placement/api/provider_json.h"

enum api_step handle_root(struct api_request *request);
enum api_step handle_candidates_list(struct api_request *request);

/* /resource_providers */
enum api_step handle_providers_list(struct api_request *request);
enum api_step handle_provider_create(struct api_request *request);
void finish_provider_create(struct api_request *request);
enum api_step handle_provider_show(struct api_request *request);
enum api_step handle_provider_update(struct api_request *request); /* reads, then writes */
void finish_provider_update(struct api_request *request);
enum api_step handle_provider_delete(struct api_request *request);

/* /resource_providers/{uuid}/inventories and /{resource_class}; those with a body read, then write
 */
enum api_step handle_inventories_list(struct api_request *request);
enum api_step handle_inventory_create(struct api_request *request);
void finish_inventory_create(struct api_request *request);
enum api_step handle_inventories_set(struct api_request *request);
void finish_inventories_set(struct api_request *request);
enum api_step handle_inventories_delete(struct api_request *request);
enum api_step handle_inventory_show(struct api_request *request);
enum api_step handle_inventory_update(struct api_request *request);
void finish_inventory_update(struct api_request *request);
enum api_step handle_inventory_delete(struct api_request *request);
void finish_inventory_delete(struct api_request *request);

/* /resource_providers/{uuid}/aggregates; set reads, then writes */
enum api_step handle_aggregates_list(struct api_request *request);
enum api_step handle_aggregates_set(struct api_request *request);
void finish_aggregates_set(struct api_request *request);

/* /resource_providers/{uuid}/traits */
enum api_step handle_provider_traits_list(struct api_request *request);
enum api_step handle_provider_traits_set(struct api_request *request);
void finish_provider_traits_set(struct api_request *request);
enum api_step handle_provider_traits_delete(struct api_request *request);

/* /traits */
enum api_step handle_traits_list(struct api_request *request);
enum api_step handle_trait_show(struct api_request *request);
enum api_step handle_trait_put(struct api_request *request);
void finish_trait_put(struct api_request *request);
enum api_step handle_trait_delete(struct api_request *request);

/* /resource_classes; PUT is rename before 1.7, ensure from 1.7 */
enum api_step handle_classes_list(struct api_request *request);
enum api_step handle_class_create(struct api_request *request);
void finish_class_create(struct api_request *request);
enum api_step handle_class_show(struct api_request *request);
enum api_step handle_class_rename(struct api_request *request);
void finish_class_rename(struct api_request *request);
enum api_step handle_class_ensure(struct api_request *request);
void finish_class_ensure(struct api_request *request);
enum api_step handle_class_delete(struct api_request *request);

#endif
