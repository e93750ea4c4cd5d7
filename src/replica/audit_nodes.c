/* The audit of nodes and their allocations: each row is in the trees of its keys, and the trees
 * have no other entries. Any thread, on a pinned version. */
#include "base/hash.h"
#include "replica/audit_internal.h"
#include "replica/nodes.h"
#include "replica/rows.h"

/* The version that is audited, and the number of entries that each tree must have. */
struct audit {
    const struct version *version;
    struct buf *why;
    uint64_t named;
    uint64_t of_instances;
    uint64_t free;
    uint64_t of_classes;
    uint64_t busy;
    uint64_t allocations_named;
    uint64_t of_nodes;
    uint64_t allocating;
};

#define AUDIT(condition, ...) AUDIT_INTO(audit->why, condition, __VA_ARGS__)

static bool has_text(const struct ptree *tree, const struct record *record, unsigned field)
{
    uint64_t value;
    return ptree_find(tree, hash_text(record_text(record, field)), (uint64_t)record->id, &value);
}

static bool audit_node(struct audit *audit, const struct node *node)
{
    const struct version *version = audit->version;
    const struct record *record = &node->record;
    long long id = (long long)record->id;
    uint64_t value;
    AUDIT(has_text(&version->node_by_uuid, record, NODE_UUID), "node %lld: not by its uuid", id);
    if (!node_is_null(node, NODE_NAME)) {
        audit->named++;
        AUDIT(has_text(&version->node_by_name, record, NODE_NAME), "node %lld: not by its name",
              id);
    }
    if (!node_is_null(node, NODE_INSTANCE_UUID)) {
        audit->of_instances++;
        AUDIT(has_text(&version->node_by_instance, record, NODE_INSTANCE_UUID),
              "node %lld: not by its instance", id);
    }
    if (node_is_free(node) && !node_is_null(node, NODE_RESOURCE_CLASS)) {
        audit->free++;
        AUDIT(has_text(&version->nodes_of_class, record, NODE_RESOURCE_CLASS),
              "node %lld: not among the free ones of its class", id);
    }
    if (!node_is_null(node, NODE_PROVIDER_ADOPTED) && !node_is_null(node, NODE_RESOURCE_CLASS)) {
        audit->of_classes++;
        AUDIT(has_text(&version->node_classes, record, NODE_RESOURCE_CLASS),
              "node %lld: not among those of its class", id);
    }
    if (!node_is_null(node, NODE_RESERVATION)) {
        audit->busy++;
        AUDIT(ptree_find(&version->busy_nodes, (uint64_t)record->id, 0, &value),
              "node %lld: not among the busy ones", id);
    }
    return true;
}

static bool audit_allocation(struct audit *audit, const struct node_allocation *allocation)
{
    const struct version *version = audit->version;
    const struct record *record = &allocation->record;
    long long id = (long long)record->id;
    int64_t node_id = node_allocation_node_id(allocation);
    uint64_t value;
    AUDIT(has_text(&version->node_allocation_by_uuid, record, NODE_ALLOCATION_UUID),
          "node allocation %lld: not by its uuid", id);
    if (!node_allocation_is_null(allocation, NODE_ALLOCATION_NAME)) {
        audit->allocations_named++;
        AUDIT(has_text(&version->node_allocation_by_name, record, NODE_ALLOCATION_NAME),
              "node allocation %lld: not by its name", id);
    }
    if (node_id != 0) {
        audit->of_nodes++;
        AUDIT(ptree_find(&version->node_allocation_of_node, (uint64_t)node_id, (uint64_t)record->id,
                         &value),
              "node allocation %lld: not by its node", id);
    }
    if (node_allocation_text_is(allocation, NODE_ALLOCATION_STATE, "allocating")) {
        audit->allocating++;
        AUDIT(ptree_find(&version->allocating, (uint64_t)record->id, 0, &value),
              "node allocation %lld: not among those allocating", id);
    }
    return true;
}

/* Checks that each row of a tree is stored under its own id. */
static bool audit_rows(struct audit *audit, const struct ptree *rows, bool is_node)
{
    struct ptree_iter iter;
    ptree_seek(rows, 0, 0, &iter);
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&iter)) != NULL) {
        const struct record_row *row = (const struct record_row *)(uintptr_t)entry->value;
        AUDIT(row->record.id > 0 && (uint64_t)row->record.id == entry->k1 && entry->k2 == 0,
              "row %lld: key differs", (long long)row->record.id);
        if (!(is_node ? audit_node(audit, node_of(&row->record))
                      : audit_allocation(audit, node_allocation_of(&row->record))))
            return false;
        ptree_iter_next(&iter);
    }
    return true;
}

bool audit_nodes(const struct version *version, struct buf *why)
{
    struct audit all = {.version = version, .why = why};
    struct audit *audit = &all;
    if (!audit_rows(audit, &version->nodes, true) ||
        !audit_rows(audit, &version->node_allocations, false))
        return false;
    AUDIT(version->node_by_uuid.count == version->nodes.count &&
              version->node_by_name.count == audit->named &&
              version->node_by_instance.count == audit->of_instances &&
              version->nodes_of_class.count == audit->free &&
              version->node_classes.count == audit->of_classes &&
              version->busy_nodes.count == audit->busy,
          "node trees: counts differ");
    AUDIT(version->node_allocation_by_uuid.count == version->node_allocations.count &&
              version->node_allocation_by_name.count == audit->allocations_named &&
              version->node_allocation_of_node.count == audit->of_nodes &&
              version->allocating.count == audit->allocating,
          "node allocation trees: counts differ");
    return true;
}
