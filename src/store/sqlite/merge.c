/* Reads what foreign writers wrote: all rows are streamed as in a load, to a comparer with memory;
 * entities that differ are read again and sent, much as in a follow.
 *
 * Parents and roots of providers are those of the stream, so that broken chains are repaired in the
 * same places as in a load. Writer thread, inside its transaction. */
#include "base/arena.h"
#include "store/sqlite/entities.h"

static const struct {
    enum rows_table table;
    enum change_kind insert;
} catalogs[ENTITY_PROVIDER] = {
    [ENTITY_CLASS] = {ROWS_CLASSES, CHANGE_CLASS_INSERT},
    [ENTITY_TRAIT] = {ROWS_TRAITS, CHANGE_TRAIT_INSERT},
    [ENTITY_AGGREGATE] = {ROWS_AGGREGATES, CHANGE_AGGREGATE_INSERT},
    [ENTITY_PROJECT] = {ROWS_PROJECTS, CHANGE_PROJECT_INSERT},
    [ENTITY_USER] = {ROWS_USERS, CHANGE_USER_INSERT},
    [ENTITY_CONSUMER_TYPE] = {ROWS_CONSUMER_TYPES, CHANGE_CONSUMER_TYPE_INSERT},
};

static bool merge_catalog(struct entities *entities, const struct difference *difference)
{
    enum change_kind insert = catalogs[difference->entity].insert;
    struct change_list *list = &entities->catalogs;
    if (difference->is_gone || difference->is_other) {
        struct change *change = change_append(&entities->gone, CHANGE_MERGE_CATALOG_DELETE);
        change->merged = (struct change_merged){.row.id = difference->id, .of = insert};
    }
    if (difference->is_gone)
        return true;
    if (!entities_read(entities, catalogs[difference->entity].table, difference->id, list))
        return false;
    if (difference->is_known && !difference->is_other) {
        list->items[list->count - 1].kind = CHANGE_MERGE_CATALOG_PUT;
        list->items[list->count - 1].merged.of = insert;
    }
    return true;
}

static bool merge_provider(struct entities *entities, const struct difference *difference)
{
    struct provider_history history = {
        .id = difference->id,
        .known = difference->is_known,
        .deleted = difference->is_gone,
        .updated = difference->has_moved,
        .contents = difference->has_contents,
    };
    if (difference->is_gone)
        change_append(&entities->left, CHANGE_PROVIDER_DELETE)->provider.id = difference->id;
    return entities_read_provider(entities, &history);
}

static bool merge_consumer(struct entities *entities, const struct difference *difference)
{
    if (difference->is_known)
        entities_reset_consumer(entities, difference->id, difference->uuid);
    return difference->is_gone || entities_read_consumer(entities, difference->id);
}

static bool merge_one(struct entities *entities, const struct difference *difference)
{
    if (difference->entity < ENTITY_PROVIDER)
        return merge_catalog(entities, difference);
    if (difference->entity == ENTITY_PROVIDER)
        return merge_provider(entities, difference);
    if (difference->entity == ENTITY_CONSUMER)
        return merge_consumer(entities, difference);
    return store_reread_row(entities->store, (enum record_table)(difference->entity - ENTITY_NODE),
                            difference->id, &entities->rows, entities->err);
}
_Static_assert((int)RECORD_TABLE_NODES == 0 &&
                   (int)RECORD_TABLE_NODE_ALLOCATIONS == ENTITY_NODE_ALLOCATION - ENTITY_NODE &&
                   (int)RECORD_TABLE_VALET == ENTITY_VALET - ENTITY_NODE,
               "the entities of our own tables are in their order");

/* Rows that refer to catalog rows are removed before the catalog rows that no longer exist. */
static bool merge_those(struct entities *entities, const struct differences *differences,
                        bool is_catalog)
{
    bool ok = true;
    for (size_t i = 0; ok && i < differences->count; i++)
        if ((differences->items[i].entity < ENTITY_PROVIDER) == is_catalog)
            ok = merge_one(entities, &differences->items[i]);
    return ok;
}

/* The differences are known; nothing has been sent yet. */
static bool merge_all(struct store *store, const struct tree_order *forest,
                      const struct differences *differences, store_sink *sink, void *cls,
                      struct err *err)
{
    struct arena *arena = arena_create();
    struct entities entities = entities_begin(store, forest, arena, err);
    bool ok =
        merge_those(&entities, differences, false) && merge_those(&entities, differences, true);
    if (ok)
        entities_send(&entities, sink, cls);
    arena_destroy(arena);
    return ok;
}

enum store_result store_merge(struct store *store, const struct store_comparer *comparer,
                              store_sink *sink, void *cls, bool *merged, struct err *err)
{
    struct tree_order forest = {0};
    *merged = false;
    if (store->mismatches.reads_again)
        return STORE_OK;
    bool ok = store_stream(store, &forest, comparer->compare, comparer->cls, err);
    const struct differences *differences = ok ? comparer->end(comparer->cls) : NULL;
    if (differences != NULL) {
        ok = merge_all(store, &forest, differences, sink, cls, err);
        *merged = ok;
    }
    tree_order_free(&forest);
    if (!ok) {
        store->followed.valid = false;
        return STORE_FAILED;
    }
    if (*merged) {
        store->mismatches = (struct mismatches){0};
        store_mark_followed(store);
    }
    return STORE_OK;
}
