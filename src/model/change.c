/* The growing list of changes. Any thread, one list at a time. */
#include "model/change.h"

#include "base/arena.h"

struct change *change_append(struct change_list *list, enum change_kind kind)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        struct change *items = arena_array(list->arena, capacity, sizeof(*items));
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof(*items));
        list->items = items;
        list->capacity = capacity;
    }
    struct change *change = &list->items[list->count++];
    memset(change, 0, sizeof(*change));
    change->kind = kind;
    return change;
}
