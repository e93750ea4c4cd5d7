/* See merge.h. One thread, inside the transaction in which the rows were compared. */
#include "store/merge.h"

#include "base/arena.h"
#include "store/entities.h"

static const enum rows_table catalogs[ENTITY_PROVIDER] = {
    [ENTITY_CLASS] = ROWS_CLASSES,        [ENTITY_TRAIT] = ROWS_TRAITS,
    [ENTITY_AGGREGATE] = ROWS_AGGREGATES, [ENTITY_PROJECT] = ROWS_PROJECTS,
    [ENTITY_USER] = ROWS_USERS,           [ENTITY_CONSUMER_TYPE] = ROWS_CONSUMER_TYPES,
};

enum rows_table merge_catalog_table(enum entity entity)
{
    check(entity < ENTITY_PROVIDER);
    return catalogs[entity];
}

void merge_delete_catalog(struct entities *entities, const struct difference *difference)
{
    enum change_kind insert = rows_info(catalogs[difference->entity])->insert;
    struct change *change = change_append(&entities->gone, CHANGE_MERGE_CATALOG_DELETE);
    change->merged = (struct change_merged){.row.id = difference->id, .of = insert};
}

static void merge_catalog(struct entities *entities, const struct difference *difference)
{
    enum rows_table table = catalogs[difference->entity];
    enum change_kind insert = rows_info(table)->insert;
    if (difference->is_gone || difference->is_other)
        merge_delete_catalog(entities, difference);
    if (!difference->is_gone)
        entities_want_catalog(
            entities, table, difference->id,
            difference->is_known && !difference->is_other ? CHANGE_MERGE_CATALOG_PUT : insert);
}

static void merge_provider(struct entities *entities, const struct difference *difference)
{
    const struct provider_history history = {
        .id = difference->id,
        .known = difference->is_known,
        .updated = difference->has_moved,
        .contents = difference->has_contents,
    };
    if (!difference->is_gone) {
        entities_want_provider(entities, &history);
        return;
    }
    change_append(&entities->gone, CHANGE_FOLLOW_PROVIDER_RESET)->provider.id = difference->id;
    change_append(&entities->left, CHANGE_PROVIDER_DELETE)->provider.id = difference->id;
}

static void merge_consumer(struct entities *entities, const struct difference *difference)
{
    if (difference->is_known)
        entities_reset_consumer(entities, difference->id, difference->uuid);
    if (!difference->is_gone)
        entities_want_consumer(entities, difference->id);
}

void merge_want(struct entities *entities, const struct difference *difference)
{
    if (difference->entity < ENTITY_PROVIDER)
        merge_catalog(entities, difference);
    else if (difference->entity == ENTITY_PROVIDER)
        merge_provider(entities, difference);
    else if (difference->entity == ENTITY_CONSUMER)
        merge_consumer(entities, difference);
    else
        entities_want_record(entities, (enum record_table)(difference->entity - ENTITY_NODE),
                             difference->id);
}
_Static_assert((int)RECORD_TABLE_NODES == 0 &&
                   (int)RECORD_TABLE_NODE_ALLOCATIONS == ENTITY_NODE_ALLOCATION - ENTITY_NODE &&
                   (int)RECORD_TABLE_VALET == ENTITY_VALET - ENTITY_NODE,
               "the entities of our own tables are in their order");

static void merge_kinds(struct entities *entities, const struct differences *differences,
                        enum entity first, enum entity last)
{
    for (size_t i = 0; i < differences->count; i++)
        if (differences->items[i].entity >= first && differences->items[i].entity <= last)
            merge_want(entities, &differences->items[i]);
}

bool merge_read(const struct row_reader *reader, const struct tree_order *forest,
                const struct differences *differences, store_sink *sink, void *cls, struct err *err)
{
    struct arena *arena = arena_create();
    struct entities entities = {.arena = arena, .gone.arena = arena, .left.arena = arena};
    /* Rows that refer to others are removed before them. */
    merge_kinds(&entities, differences, ENTITY_CONSUMER, ENTITY_CONSUMER);
    merge_kinds(&entities, differences, ENTITY_PROVIDER, ENTITY_PROVIDER);
    merge_kinds(&entities, differences, ENTITY_CLASS, ENTITY_CONSUMER_TYPE);
    merge_kinds(&entities, differences, ENTITY_NODE, ENTITY_COUNT - 1);
    bool ok = entities_read(&entities, reader, forest, err);
    if (ok)
        entities_send(&entities, sink, cls);
    arena_destroy(arena);
    return ok;
}
