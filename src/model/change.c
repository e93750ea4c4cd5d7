/* The growing list of changes. Any thread, one list at a time. */
#include "model/change.h"

#include "base/arena.h"
#include "model/node.h"
#include "model/node_allocation.h"

struct change *change_append(struct change_list *list, enum change_kind kind)
{
    list->items =
        arena_grow(list->arena, list->items, list->count, &list->capacity, sizeof(*list->items));
    struct change *change = &list->items[list->count++];
    memset(change, 0, sizeof(*change));
    change->kind = kind;
    return change;
}

static void append_row(struct change_list *list, enum change_kind kind, int64_t id,
                       const struct record *record)
{
    change_append(list, kind)->row = (struct change_row){id, record};
}

void change_put_node(struct change_list *list, const struct node *node)
{
    append_row(list, CHANGE_NODE_PUT, node->record.id, &node->record);
}

void change_delete_node(struct change_list *list, int64_t id)
{
    append_row(list, CHANGE_NODE_DELETE, id, NULL);
}

void change_put_node_allocation(struct change_list *list, const struct node_allocation *allocation)
{
    append_row(list, CHANGE_NODE_ALLOCATION_PUT, allocation->record.id, &allocation->record);
}

void change_delete_node_allocation(struct change_list *list, int64_t id)
{
    append_row(list, CHANGE_NODE_ALLOCATION_DELETE, id, NULL);
}

static enum change_kind valet_kind(enum valet_table table, bool is_put)
{
    return (enum change_kind)(CHANGE_VALET_GROUP_PUT + 2 * (int)table + (is_put ? 0 : 1));
}

void change_put_valet(struct change_list *list, enum valet_table table, const struct record *record)
{
    append_row(list, valet_kind(table, true), record->id, record);
}

void change_delete_valet(struct change_list *list, enum valet_table table, int64_t id)
{
    append_row(list, valet_kind(table, false), id, NULL);
}
