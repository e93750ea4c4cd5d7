/* Lookups and iteration over nodes and their allocations. */
#include "replica/nodes.h"

#include "base/hash.h"
#include "replica/rows.h"

static const struct record *next_row(const struct ptree *rows, const struct ptree *tree,
                                     int64_t after)
{
    int64_t id = rows_next_id(tree, after);
    return id == 0 ? NULL : rows_at(rows, id);
}

const struct node *version_node(const struct version *version, int64_t id)
{
    return node_of(rows_at(&version->nodes, id));
}

const struct node *version_node_by_uuid(const struct version *version, struct slice uuid)
{
    return node_of(rows_find_text(&version->nodes, &version->node_by_uuid, NODE_UUID, uuid));
}

const struct node *version_node_by_name(const struct version *version, struct slice name)
{
    return node_of(rows_find_text(&version->nodes, &version->node_by_name, NODE_NAME, name));
}

const struct node *version_node_by_instance(const struct version *version, struct slice uuid)
{
    return node_of(
        rows_find_text(&version->nodes, &version->node_by_instance, NODE_INSTANCE_UUID, uuid));
}

const struct node_allocation *version_node_allocation(const struct version *version, int64_t id)
{
    return node_allocation_of(rows_at(&version->node_allocations, id));
}

const struct node_allocation *version_node_allocation_by_uuid(const struct version *version,
                                                              struct slice uuid)
{
    return node_allocation_of(rows_find_text(
        &version->node_allocations, &version->node_allocation_by_uuid, NODE_ALLOCATION_UUID, uuid));
}

const struct node_allocation *version_node_allocation_by_name(const struct version *version,
                                                              struct slice name)
{
    return node_allocation_of(rows_find_text(
        &version->node_allocations, &version->node_allocation_by_name, NODE_ALLOCATION_NAME, name));
}

const struct node_allocation *version_node_allocation_of(const struct version *version,
                                                         int64_t node_id)
{
    int64_t id = rows_next_under(&version->node_allocation_of_node, (uint64_t)node_id, 0);
    return id == 0 ? NULL : version_node_allocation(version, id);
}

const struct node *version_next_node(const struct version *version, int64_t after)
{
    return node_of(next_row(&version->nodes, &version->nodes, after));
}

const struct node *version_next_busy_node(const struct version *version, int64_t after)
{
    return node_of(next_row(&version->nodes, &version->busy_nodes, after));
}

const struct node *version_next_node_of_class(const struct version *version, struct slice class,
                                              int64_t after)
{
    uint64_t hash = hash_text(class);
    while ((after = rows_next_under(&version->nodes_of_class, hash, after)) != 0) {
        const struct node *node = version_node(version, after);
        if (slice_equal(node_text(node, NODE_RESOURCE_CLASS), class))
            return node;
    }
    return NULL;
}

struct node_classes node_classes_of(const struct version *version)
{
    return (struct node_classes){.version = version};
}

/* Classes with the same hash would be treated as one; this is not expected, because the hash has a
 * secret key. */
const struct node *node_classes_next(struct node_classes *classes)
{
    struct ptree_iter iter;
    if (classes->is_over)
        return NULL;
    ptree_seek(&classes->version->node_classes, classes->next, 0, &iter);
    const struct ptree_entry *entry = ptree_iter_get(&iter);
    if (entry == NULL)
        return NULL;
    classes->is_over = entry->k1 == UINT64_MAX;
    classes->next = entry->k1 + 1;
    return version_node(classes->version, (int64_t)entry->k2);
}

const struct node_allocation *version_next_node_allocation(const struct version *version,
                                                           int64_t after)
{
    return node_allocation_of(
        next_row(&version->node_allocations, &version->node_allocations, after));
}

const struct node_allocation *version_next_allocating(const struct version *version, int64_t after)
{
    return node_allocation_of(next_row(&version->node_allocations, &version->allocating, after));
}
