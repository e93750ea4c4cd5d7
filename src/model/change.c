/* The growing list of changes. Any thread, one list at a time. */
#include "model/change.h"

#include "base/arena.h"

struct change *change_append(struct change_list *list, enum change_kind kind)
{
    list->items =
        arena_grow(list->arena, list->items, list->count, &list->capacity, sizeof(*list->items));
    struct change *change = &list->items[list->count++];
    memset(change, 0, sizeof(*change));
    change->kind = kind;
    return change;
}
