/* The handlers of the Placement API's routes, as routes.c lists them. handle_* reads or plans,
 * finish_* writes the answer after a write has been decided (api/request.h). */
#ifndef BERTH_PLACEMENT_API_HANDLERS_H
#define BERTH_PLACEMENT_API_HANDLERS_H

#include "api/route.h"

enum api_step handle_placement_root_show(struct api_request *request);
enum api_step handle_placement_candidates_list(struct api_request *request);

/* /resource_providers */
enum api_step handle_placement_providers_list(struct api_request *request);
enum api_step handle_placement_provider_create(struct api_request *request);
void finish_placement_provider_create(struct api_request *request);
enum api_step handle_placement_provider_show(struct api_request *request);
enum api_step
handle_placement_provider_update(struct api_request *request); /* reads, then writes */
void finish_placement_provider_update(struct api_request *request);
enum api_step handle_placement_provider_delete(struct api_request *request);

/* /resource_providers/{uuid}/inventories and /{resource_class}; those with a body read, then
 * write */
enum api_step handle_placement_inventories_list(struct api_request *request);
enum api_step handle_placement_inventory_create(struct api_request *request);
void finish_placement_inventory_create(struct api_request *request);
enum api_step handle_placement_inventories_set(struct api_request *request);
void finish_placement_inventories_set(struct api_request *request);
enum api_step handle_placement_inventories_delete(struct api_request *request);
enum api_step handle_placement_inventory_show(struct api_request *request);
enum api_step handle_placement_inventory_update(struct api_request *request);
void finish_placement_inventory_update(struct api_request *request);
enum api_step handle_placement_inventory_delete(struct api_request *request);
void finish_placement_inventory_delete(struct api_request *request);

/* /resource_providers/{uuid}/aggregates; set reads, then writes */
enum api_step handle_placement_aggregates_list(struct api_request *request);
enum api_step handle_placement_aggregates_set(struct api_request *request);
void finish_placement_aggregates_set(struct api_request *request);

/* /resource_providers/{uuid}/traits */
enum api_step handle_placement_provider_traits_list(struct api_request *request);
enum api_step handle_placement_provider_traits_set(struct api_request *request);
void finish_placement_provider_traits_set(struct api_request *request);
enum api_step handle_placement_provider_traits_delete(struct api_request *request);

/* /traits */
enum api_step handle_placement_traits_list(struct api_request *request);
enum api_step handle_placement_trait_show(struct api_request *request);
enum api_step handle_placement_trait_ensure(struct api_request *request);
void finish_placement_trait_ensure(struct api_request *request);
enum api_step handle_placement_trait_delete(struct api_request *request);

/* /resource_classes; PUT is rename before 1.7, ensure from 1.7 */
enum api_step handle_placement_classes_list(struct api_request *request);
enum api_step handle_placement_class_create(struct api_request *request);
void finish_placement_class_create(struct api_request *request);
enum api_step handle_placement_class_show(struct api_request *request);
enum api_step handle_placement_class_rename(struct api_request *request);
void finish_placement_class_rename(struct api_request *request);
enum api_step handle_placement_class_ensure(struct api_request *request);
void finish_placement_class_ensure(struct api_request *request);
enum api_step handle_placement_class_delete(struct api_request *request);

#endif
