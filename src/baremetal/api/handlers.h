/* The handlers of the Bare Metal API's routes, as routes.c lists them. Handlers with a finish_
 * function write: the handler submits a plan, and finish_* writes the answer after the request has
 * been decided (api/request.h). */
#ifndef BERTH_BAREMETAL_API_HANDLERS_H
#define BERTH_BAREMETAL_API_HANDLERS_H

#include "api/route.h"

/* root.c */
enum api_step handle_baremetal_versions_list(struct api_request *request);
enum api_step handle_baremetal_version_show(struct api_request *request);

/* allocations.c */
enum api_step handle_baremetal_allocations_list(struct api_request *request);
enum api_step handle_baremetal_allocation_show(struct api_request *request);
enum api_step handle_baremetal_allocation_delete(struct api_request *request);
enum api_step handle_baremetal_node_allocation_show(struct api_request *request);
enum api_step handle_baremetal_node_allocation_delete(struct api_request *request);

/* allocation_create.c, allocation_patch.c */
enum api_step handle_baremetal_allocation_create(struct api_request *request);
void finish_baremetal_allocation_create(struct api_request *request);
enum api_step handle_baremetal_allocation_patch(struct api_request *request);
void finish_baremetal_allocation_patch(struct api_request *request);

/* nodes.c */
enum api_step handle_baremetal_nodes_list(struct api_request *request);
enum api_step handle_baremetal_nodes_detail(struct api_request *request);
enum api_step handle_baremetal_node_show(struct api_request *request);

/* node_create.c */
enum api_step handle_baremetal_node_create(struct api_request *request);
void finish_baremetal_node_create(struct api_request *request);

/* node_patch.c */
enum api_step handle_baremetal_node_patch(struct api_request *request);
void finish_baremetal_node_patch(struct api_request *request);
enum api_step handle_baremetal_node_delete(struct api_request *request);

/* node_states.c; finish: 202, the action goes on in the background */
enum api_step handle_baremetal_node_states_show(struct api_request *request);
enum api_step handle_baremetal_node_provision_set(struct api_request *request);
enum api_step handle_baremetal_node_power_set(struct api_request *request);
void finish_baremetal_node_action(struct api_request *request);

/* node_maintenance.c */
enum api_step handle_baremetal_node_maintenance_set(struct api_request *request);
enum api_step handle_baremetal_node_maintenance_clear(struct api_request *request);
void finish_baremetal_node_maintenance(struct api_request *request);

/* node_traits.c */
enum api_step handle_baremetal_node_traits_list(struct api_request *request);
enum api_step handle_baremetal_node_traits_set(struct api_request *request);
enum api_step handle_baremetal_node_traits_clear(struct api_request *request);
enum api_step handle_baremetal_node_trait_add(struct api_request *request);
void finish_baremetal_node_trait_add(struct api_request *request);
enum api_step handle_baremetal_node_trait_remove(struct api_request *request);

/* node_validate.c */
enum api_step handle_baremetal_node_validate(struct api_request *request);
enum api_step handle_baremetal_nodes_validate(struct api_request *request);

/* drivers.c, conductors.c, shards.c */
enum api_step handle_baremetal_drivers_list(struct api_request *request);
enum api_step handle_baremetal_driver_show(struct api_request *request);
enum api_step handle_baremetal_conductors_list(struct api_request *request);
enum api_step handle_baremetal_conductor_show(struct api_request *request);
enum api_step handle_baremetal_shards_list(struct api_request *request);

/* empty_collections.c */
enum api_step handle_baremetal_chassis_list(struct api_request *request);
enum api_step handle_baremetal_chassis_detail(struct api_request *request);
enum api_step handle_baremetal_ports_list(struct api_request *request);
enum api_step handle_baremetal_ports_detail(struct api_request *request);
enum api_step handle_baremetal_portgroups_list(struct api_request *request);
enum api_step handle_baremetal_portgroups_detail(struct api_request *request);
enum api_step handle_baremetal_volume_connectors_list(struct api_request *request);
enum api_step handle_baremetal_volume_targets_list(struct api_request *request);
enum api_step handle_baremetal_node_ports_list(struct api_request *request);
enum api_step handle_baremetal_node_portgroups_list(struct api_request *request);
enum api_step handle_baremetal_node_vifs_list(struct api_request *request);
enum api_step handle_baremetal_node_bios_show(struct api_request *request);
enum api_step handle_baremetal_node_history_list(struct api_request *request);

/* refusals.c: requests whose path Ironic takes for an object that it then cannot use */
enum api_step handle_baremetal_nodes_refuse(struct api_request *request);
enum api_step handle_baremetal_node_refuse(struct api_request *request);

/* also refusals.c: 204 */
void finish_baremetal_empty(struct api_request *request);

#endif
