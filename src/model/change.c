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

static void copy_text(struct arena *arena, struct slice *text)
{
    if (text->data != NULL)
        *text = arena_copy(arena, *text);
}

static void copy_record(struct arena *arena, struct change_row *row)
{
    if (row->record == NULL)
        return;
    void *copy = arena_alloc(arena, row->record->bytes);
    memcpy(copy, row->record, row->record->bytes);
    row->record = copy;
}

static void copy_referenced(struct arena *arena, struct change *change)
{
    switch (change->kind) {
    case CHANGE_CLASS_INSERT:
    case CHANGE_TRAIT_INSERT:
    case CHANGE_AGGREGATE_INSERT:
    case CHANGE_PROJECT_INSERT:
    case CHANGE_USER_INSERT:
    case CHANGE_CONSUMER_TYPE_INSERT:
    case CHANGE_CLASS_DELETE:
    case CHANGE_TRAIT_DELETE:
        copy_text(arena, &change->catalog.name);
        return;
    case CHANGE_CLASS_RENAME:
        copy_text(arena, &change->renamed.row.name);
        copy_text(arena, &change->renamed.before);
        return;
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
    case CHANGE_PROVIDER_DELETE:
        copy_text(arena, &change->provider.uuid);
        copy_text(arena, &change->provider.name);
        return;
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
        copy_text(arena, &change->consumer.uuid);
        return;
    case CHANGE_ALLOCATION_INSERT:
    case CHANGE_ALLOCATIONS_OF_DELETE:
        copy_text(arena, &change->allocation.consumer_uuid);
        return;
    case CHANGE_NODE_PUT:
    case CHANGE_NODE_DELETE:
    case CHANGE_NODE_ALLOCATION_PUT:
    case CHANGE_NODE_ALLOCATION_DELETE:
    case CHANGE_VALET_CASES:
        copy_record(arena, &change->row);
        return;
    case CHANGE_PROVIDER_GENERATION:
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_UPDATE:
    case CHANGE_INVENTORY_DELETE:
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        return;
    case CHANGE_LOAD_PROVIDERS_END:
    case CHANGE_FOLLOW_PROVIDER_RESET:
    case CHANGE_FOLLOW_CONSUMER_RESET:
    case CHANGE_MERGE_CATALOG_PUT:
    case CHANGE_MERGE_CATALOG_DELETE:
    case CHANGE_KIND_COUNT:
        break;
    }
    check(false);
}

void change_append_copy(struct change_list *list, const struct change *change)
{
    struct change *copy = change_append(list, change->kind);
    *copy = *change;
    copy_referenced(list->arena, copy);
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
