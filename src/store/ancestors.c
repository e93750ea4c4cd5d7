/* See ancestors.h. Each ancestor is read once, however many providers it has below it, and all of
 * one generation together: a database server answers as many requests as the deepest tree has
 * levels. The thread of the reader's transaction. */
#include "store/ancestors.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash_map.h"

struct ancestors {
    struct change_list nodes; /* providers that were read */
    struct hash_map map;      /* of `ids` */
    int64_t *ids;             /* that were read, whether there was such a provider or not */
    size_t count, capacity;
};

/* False: it has been noted before. */
static bool note_id(struct ancestors *ancestors, int64_t id)
{
    struct arena *arena = ancestors->nodes.arena;
    struct hash_slot *slot;
    hash_map_make_room(&ancestors->map, arena, ancestors->count);
    HASH_MAP_FIND(slot, &ancestors->map, hash_id(id), ancestors->ids[hash_slot_item(slot)] == id);
    if (!hash_slot_is_free(slot))
        return false;
    hash_slot_put(slot, hash_id(id), (uint32_t)ancestors->count);
    ancestors->ids = arena_grow(arena, ancestors->ids, ancestors->count, &ancestors->capacity,
                                sizeof(*ancestors->ids));
    ancestors->ids[ancestors->count++] = id;
    return true;
}

static int ancestors_compare_ids(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Reads the parents of nodes[from] and on. */
static bool read_generation(struct ancestors *ancestors, const struct row_reader *reader,
                            size_t from, struct err *err)
{
    size_t noted = ancestors->count;
    for (size_t i = from; i < ancestors->nodes.count; i++) {
        int64_t parent_id = ancestors->nodes.items[i].provider.parent_id;
        if (parent_id != 0)
            note_id(ancestors, parent_id);
    }
    size_t count = ancestors->count - noted;
    if (count == 0)
        return true;
    /* A copy: the map knows the positions of those in `ids`. */
    int64_t *ids = arena_array(ancestors->nodes.arena, count, sizeof(*ids));
    memcpy(ids, ancestors->ids + noted, count * sizeof(*ids));
    qsort(ids, count, sizeof(*ids), ancestors_compare_ids);
    const struct row_set set = {ROWS_PARENTS, ids, count, &ancestors->nodes};
    return row_reader_find(reader, &set, 1, err);
}

static int compare_nodes(const void *a, const void *b)
{
    return ancestors_compare_ids(&((const struct change *)a)->provider.id,
                                 &((const struct change *)b)->provider.id);
}

static void add_to_forest(struct ancestors *ancestors, struct tree_order *forest)
{
    struct change_list *nodes = &ancestors->nodes;
    if (nodes->count > 0)
        qsort(nodes->items, nodes->count, sizeof(*nodes->items), compare_nodes);
    for (size_t i = 0; i < nodes->count; i++)
        tree_order_add(forest, nodes->items[i].provider.id, nodes->items[i].provider.parent_id);
    tree_order_end(forest);
}

bool ancestors_read(const struct row_reader *reader, const struct change_list *providers,
                    struct tree_order *forest, struct err *err)
{
    struct arena *arena = arena_create();
    struct ancestors ancestors = {.nodes.arena = arena};
    for (size_t i = 0; i < providers->count; i++) {
        *change_append(&ancestors.nodes, CHANGE_PROVIDER_INSERT) = providers->items[i];
        note_id(&ancestors, providers->items[i].provider.id);
    }
    bool ok = true;
    for (size_t from = 0; ok && from < ancestors.nodes.count;) {
        size_t before = ancestors.nodes.count;
        ok = read_generation(&ancestors, reader, from, err);
        from = before;
    }
    if (ok)
        add_to_forest(&ancestors, forest);
    arena_destroy(arena);
    return ok;
}
