/* Nodes and their allocations in a version: lookups. Any thread, on a pinned version; the writer
 * also on the one it makes. Texts compare byte by byte. NULL: there is none. */
#ifndef BERTH_REPLICA_NODES_H
#define BERTH_REPLICA_NODES_H

#include "model/node.h"
#include "model/node_allocation.h"
#include "replica/version.h"

const struct node *version_node(const struct version *version, int64_t id);
const struct node *version_node_by_uuid(const struct version *version, struct slice uuid);
const struct node *version_node_by_name(const struct version *version, struct slice name);
/* The node whose instance_uuid that is. */
const struct node *version_node_by_instance(const struct version *version, struct slice uuid);

const struct node_allocation *version_node_allocation(const struct version *version, int64_t id);
const struct node_allocation *version_node_allocation_by_uuid(const struct version *version,
                                                              struct slice uuid);
const struct node_allocation *version_node_allocation_by_name(const struct version *version,
                                                              struct slice name);
/* The allocation that has the node of that id. */
const struct node_allocation *version_node_allocation_of(const struct version *version,
                                                         int64_t node_id);

/* Walks, in the order of the ids. A walk begins with id 0 (ids are positive) and goes on with the
 * last one's: the next row with a larger id, or NULL at the end.
 *
 *     for (const struct node *node = version_next_node(version, 0); node != NULL;
 *          node = version_next_node(version, node->record.id)) */
const struct node *version_next_node(const struct version *version, int64_t after);
const struct node *version_next_busy_node(const struct version *version, int64_t after);
/* Of those of that class that are free (node_is_free). */
const struct node *version_next_node_of_class(const struct version *version, struct slice class,
                                              int64_t after);
/* Steps through the resource classes of nodes that have a provider: one node of each, whatever the
 * number of nodes. */
struct node_classes {
    const struct version *version;
    uint64_t next; /* hash */
    bool is_over;
};
struct node_classes node_classes_of(const struct version *version);
/* NULL: no more. */
const struct node *node_classes_next(struct node_classes *classes);

const struct node_allocation *version_next_node_allocation(const struct version *version,
                                                           int64_t after);
/* Of those in state allocating. */
const struct node_allocation *version_next_allocating(const struct version *version, int64_t after);

#endif
