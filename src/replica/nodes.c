/* Lookups and walks over nodes and their allocations.
 *
 * Rows are found by id in one tree of pointers; every other tree has ids only, so that a row that
 * changes moves in those alone whose key changes with it. Any thread, on a pinned version; the
 * writer also on the one it makes. */
#include "replica/nodes.h"

#include "base/hash.h"

static const struct record *row_of(const struct ptree *rows, int64_t id)
{
    uint64_t value;
    if (!ptree_find(rows, (uint64_t)id, 0, &value))
        return NULL;
    return &((const struct record_row *)(uintptr_t)value)->record;
}

/* By a tree of (hash, id). */
static const struct record *find_text(const struct ptree *rows, const struct ptree *tree,
                                      unsigned field, struct slice text)
{
    uint64_t hash = hash_text(text);
    struct ptree_iter iter;
    ptree_seek(tree, hash, 0, &iter);
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&iter)) != NULL && entry->k1 == hash) {
        const struct record *row = row_of(rows, (int64_t)entry->k2);
        if (slice_equal(record_text(row, field), text))
            return row;
        ptree_iter_next(&iter);
    }
    return NULL;
}

/* The next id in a tree of (id, 0); 0: none. */
static int64_t next_id(const struct ptree *tree, int64_t after)
{
    struct ptree_iter iter;
    ptree_seek(tree, (uint64_t)after + 1, 0, &iter);
    const struct ptree_entry *entry = ptree_iter_get(&iter);
    return entry == NULL ? 0 : (int64_t)entry->k1;
}

static const struct record *next_row(const struct ptree *rows, const struct ptree *tree,
                                     int64_t after)
{
    int64_t id = next_id(tree, after);
    return id == 0 ? NULL : row_of(rows, id);
}

const struct node *version_node(const struct version *version, int64_t id)
{
    return node_of(row_of(&version->nodes, id));
}

const struct node *version_node_by_uuid(const struct version *version, struct slice uuid)
{
    return node_of(find_text(&version->nodes, &version->node_by_uuid, NODE_UUID, uuid));
}

const struct node *version_node_by_name(const struct version *version, struct slice name)
{
    return node_of(find_text(&version->nodes, &version->node_by_name, NODE_NAME, name));
}

const struct node *version_node_by_instance(const struct version *version, struct slice uuid)
{
    return node_of(
        find_text(&version->nodes, &version->node_by_instance, NODE_INSTANCE_UUID, uuid));
}

const struct node_allocation *version_node_allocation(const struct version *version, int64_t id)
{
    return node_allocation_of(row_of(&version->node_allocations, id));
}

const struct node_allocation *version_node_allocation_by_uuid(const struct version *version,
                                                              struct slice uuid)
{
    return node_allocation_of(find_text(
        &version->node_allocations, &version->node_allocation_by_uuid, NODE_ALLOCATION_UUID, uuid));
}

const struct node_allocation *version_node_allocation_by_name(const struct version *version,
                                                              struct slice name)
{
    return node_allocation_of(find_text(
        &version->node_allocations, &version->node_allocation_by_name, NODE_ALLOCATION_NAME, name));
}

const struct node_allocation *version_node_allocation_of(const struct version *version,
                                                         int64_t node_id)
{
    struct ptree_iter iter;
    ptree_seek(&version->node_allocation_of_node, (uint64_t)node_id, 0, &iter);
    const struct ptree_entry *entry = ptree_iter_get(&iter);
    if (entry == NULL || entry->k1 != (uint64_t)node_id)
        return NULL;
    return version_node_allocation(version, (int64_t)entry->k2);
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
    struct ptree_iter iter;
    ptree_seek(&version->nodes_of_class, hash, (uint64_t)after + 1, &iter);
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&iter)) != NULL && entry->k1 == hash) {
        const struct node *node = version_node(version, (int64_t)entry->k2);
        if (slice_equal(node_text(node, NODE_RESOURCE_CLASS), class))
            return node;
        ptree_iter_next(&iter);
    }
    return NULL;
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
