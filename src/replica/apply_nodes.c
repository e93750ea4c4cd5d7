/* Changes of nodes and their allocations.
 *
 * A put is a whole row: its keys are compared with those of the previous row, and only the trees
 * whose key has changed are modified. Keys contain the row's id, so that rows may swap names within
 * a batch and each row removes only its own entry. Writer only. */
#include "base/hash.h"
#include "replica/apply_internal.h"
#include "replica/nodes.h"
#include "replica/rows.h"

static const struct slice none = {NULL, 0};

static struct slice apply_nodes_text_of(const struct record *row, unsigned field)
{
    return row == NULL ? none : record_text(row, field);
}

/* In a tree of (hash, id), changes the row's text from `before` to `after`; data NULL: the row has
 * none. */
static void move_text(struct edit *edit, struct ptree *tree, int64_t id, struct slice before,
                      struct slice after)
{
    rows_move_key(&edit->cow, tree, id, before.data != NULL,
                  before.data == NULL ? 0 : hash_text(before), after.data != NULL,
                  after.data == NULL ? 0 : hash_text(after));
}

/* The same in a tree of (k1, k2); k1 0: the row has no entry. */
static void move_number(struct edit *edit, struct ptree *tree, uint64_t k2, int64_t before,
                        int64_t after)
{
    rows_move_key(&edit->cow, tree, (int64_t)k2, before != 0, (uint64_t)before, after != 0,
                  (uint64_t)after);
}

/* The class in which an allocation finds the node; none if the node is not free. */
static struct slice free_class(const struct record *row)
{
    if (row == NULL || !node_is_free(node_of(row)))
        return none;
    return record_text(row, NODE_RESOURCE_CLASS);
}

/* The node's class as its resource provider shows it; data == NULL for a node without a
 * provider. */
static struct slice provider_class(const struct record *row)
{
    if (row == NULL || record_is_null(row, NODE_PROVIDER_ADOPTED))
        return (struct slice){0};
    return record_text(row, NODE_RESOURCE_CLASS);
}

static bool is_busy(const struct record *row)
{
    return row != NULL && !record_is_null(row, NODE_RESERVATION);
}

static bool is_allocating(const struct record *row)
{
    return row != NULL &&
           node_allocation_text_is(node_allocation_of(row), NODE_ALLOCATION_STATE, "allocating");
}

static int64_t node_id_of(const struct record *row)
{
    return row == NULL ? 0 : node_allocation_node_id(node_allocation_of(row));
}

static void change_node(struct edit *edit, const struct change_row *change)
{
    struct version *version = edit->version;
    int64_t id = change->id;
    const struct record *old = rows_at(&version->nodes, id);
    const struct record *new = rows_replace(&edit->cow, &version->nodes, id, change->record);
    move_text(edit, &version->node_by_uuid, id, apply_nodes_text_of(old, NODE_UUID),
              apply_nodes_text_of(new, NODE_UUID));
    move_text(edit, &version->node_by_name, id, apply_nodes_text_of(old, NODE_NAME),
              apply_nodes_text_of(new, NODE_NAME));
    move_text(edit, &version->node_by_instance, id, apply_nodes_text_of(old, NODE_INSTANCE_UUID),
              apply_nodes_text_of(new, NODE_INSTANCE_UUID));
    move_text(edit, &version->nodes_of_class, id, free_class(old), free_class(new));
    move_text(edit, &version->node_classes, id, provider_class(old), provider_class(new));
    move_number(edit, &version->busy_nodes, 0, is_busy(old) ? id : 0, is_busy(new) ? id : 0);
    rows_drop(&edit->cow, old);
}

static void change_node_allocation(struct edit *edit, const struct change_row *change)
{
    struct version *version = edit->version;
    int64_t id = change->id;
    const struct record *old = rows_at(&version->node_allocations, id);
    const struct record *new =
        rows_replace(&edit->cow, &version->node_allocations, id, change->record);
    move_text(edit, &version->node_allocation_by_uuid, id,
              apply_nodes_text_of(old, NODE_ALLOCATION_UUID),
              apply_nodes_text_of(new, NODE_ALLOCATION_UUID));
    move_text(edit, &version->node_allocation_by_name, id,
              apply_nodes_text_of(old, NODE_ALLOCATION_NAME),
              apply_nodes_text_of(new, NODE_ALLOCATION_NAME));
    move_number(edit, &version->node_allocation_of_node, (uint64_t)id, node_id_of(old),
                node_id_of(new));
    move_number(edit, &version->allocating, 0, is_allocating(old) ? id : 0,
                is_allocating(new) ? id : 0);
    rows_drop(&edit->cow, old);
}

void apply_node_change(struct edit *edit, const struct change *change)
{
    bool is_put = change->kind == CHANGE_NODE_PUT || change->kind == CHANGE_NODE_ALLOCATION_PUT;
    check(is_put == (change->row.record != NULL));
    if (change->kind == CHANGE_NODE_PUT || change->kind == CHANGE_NODE_DELETE)
        change_node(edit, &change->row);
    else
        change_node_allocation(edit, &change->row);
}
