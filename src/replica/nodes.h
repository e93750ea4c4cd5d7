/* Lookups of nodes and their allocations in a version. Any thread, on a pinned version; the writer
 * also on the version it is making. Texts compare byte by byte. NULL: there is none. */
#ifndef BERTH_REPLICA_NODES_H
#define BERTH_REPLICA_NODES_H

#include "model/node.h"
#include "model/node_allocation.h"
#include "replica/version.h"

const struct node *version_node(const struct version *version, int64_t id);
const struct node *version_node_by_uuid(const struct version *version, struct slice uuid);
const struct node *version_node_by_name(const struct version *version, struct slice name);
/* The node with that instance_uuid. */
const struct node *version_node_by_instance(const struct version *version, struct slice uuid);

const struct node_allocation *version_node_allocation(const struct version *version, int64_t id);
const struct node_allocation *version_node_allocation_by_uuid(const struct version *version,
                                                              struct slice uuid);
const struct node_allocation *version_node_allocation_by_name(const struct version *version,
                                                              struct slice name);
/* The allocation of the node with that id. */
const struct node_allocation *version_node_allocation_of(const struct version *version,
                                                         int64_t node_id);

/* Iteration in the order of ids. Begin with id 0 (ids are positive) and continue with the last
 * row's id; the result is the next row with a larger id, or NULL at the end.
 *
 *     for (const struct node *node = version_next_node(version, 0); node != NULL;
 *          node = version_next_node(version, node->record.id)) */
const struct node *version_next_node(const struct version *version, int64_t after);
const struct node *version_next_busy_node(const struct version *version, int64_t after);
/* Only free nodes (node_is_free) of that class. */
const struct node *version_next_node_of_class(const struct version *version, struct slice class,
                                              int64_t after);
/* Iteration over the resource classes of nodes that have a provider: returns one node for each
 * class, with work that does not depend on the number of nodes. */
struct node_classes {
    const struct version *version;
    uint64_t next; /* hash */
    bool is_over;
};
struct node_classes node_classes_of(const struct version *version);
/* NULL: the end. */
const struct node *node_classes_next(struct node_classes *classes);

const struct node_allocation *version_next_node_allocation(const struct version *version,
                                                           int64_t after);
/* Only those in state allocating. */
const struct node_allocation *version_next_allocating(const struct version *version, int64_t after);

#endif
