/* The handlers of the bare metal API's routes, as routes.c lists them. Those with a finish_ write:
 * they plan, finish_* writes the answer after it was decided (api/request.h). */
#ifndef BERTH_BAREMETAL_API_HANDLERS_H
#define BERTH_BAREMETAL_API_HANDLERS_H

#include "api/request.h"

/* root.c */
enum api_step baremetal_versions(struct api_request *request);
enum api_step baremetal_version(struct api_request *request);

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

/* nodes.c */
enum api_step baremetal_nodes_list(struct api_request *request);
enum api_step baremetal_nodes_detail(struct api_request *request);
enum api_step baremetal_node_show(struct api_request *request);

/* node_create.c */
enum api_step baremetal_node_create(struct api_request *request);
void finish_baremetal_node_create(struct api_request *request);

/* node_patch.c */
enum api_step baremetal_node_patch(struct api_request *request);
void finish_baremetal_node_patch(struct api_request *request);
enum api_step baremetal_node_delete(struct api_request *request);

/* node_states.c; the finish says that the end is still to come */
enum api_step baremetal_node_states(struct api_request *request);
enum api_step baremetal_node_provision(struct api_request *request);
enum api_step baremetal_node_power(struct api_request *request);
void finish_baremetal_node_action(struct api_request *request);

/* node_maintenance.c */
enum api_step baremetal_maintenance_set(struct api_request *request);
enum api_step baremetal_maintenance_clear(struct api_request *request);
void finish_baremetal_maintenance(struct api_request *request);

/* node_traits.c */
enum api_step baremetal_traits_list(struct api_request *request);
enum api_step baremetal_traits_set(struct api_request *request);
enum api_step baremetal_traits_clear(struct api_request *request);
enum api_step baremetal_trait_add(struct api_request *request);
void finish_baremetal_trait_add(struct api_request *request);
enum api_step baremetal_trait_remove(struct api_request *request);

/* node_validate.c */
enum api_step baremetal_node_validate(struct api_request *request);
enum api_step baremetal_nodes_validate(struct api_request *request);

/* drivers.c, conductors.c, shards.c */
enum api_step baremetal_drivers_list(struct api_request *request);
enum api_step baremetal_driver_show(struct api_request *request);
enum api_step baremetal_conductors_list(struct api_request *request);
enum api_step baremetal_conductor_show(struct api_request *request);
enum api_step baremetal_shards_list(struct api_request *request);

/* empty_collections.c */
enum api_step baremetal_chassis_list(struct api_request *request);
enum api_step baremetal_chassis_detail(struct api_request *request);
enum api_step baremetal_ports_list(struct api_request *request);
enum api_step baremetal_ports_detail(struct api_request *request);
enum api_step baremetal_portgroups_list(struct api_request *request);
enum api_step baremetal_portgroups_detail(struct api_request *request);
enum api_step baremetal_volume_connectors(struct api_request *request);
enum api_step baremetal_volume_targets(struct api_request *request);
enum api_step baremetal_node_ports(struct api_request *request);
enum api_step baremetal_node_portgroups(struct api_request *request);
enum api_step baremetal_node_vifs(struct api_request *request);
enum api_step baremetal_node_bios(struct api_request *request);
enum api_step baremetal_node_history(struct api_request *request);

/* refusals.c: what the peer takes the path for, and then cannot use */
enum api_step baremetal_no_node_named(struct api_request *request);
enum api_step baremetal_no_node_here(struct api_request *request);

/* the same file: 204 */
void finish_baremetal_empty(struct api_request *request);

#endif
