/* The records of a merge: only the rows that a comparer reported as different, in the order that
 * model/change.h promises. One thread. */
#include "tables.h"

struct merging {
    const struct tables *tables;
    const struct differences *differences;
    store_sink *sink;
    void *cls;
};

static const struct difference *first(const struct merging *merging, enum entity entity, int64_t id)
{
    for (size_t i = 0; i < merging->differences->count; i++)
        if (merging->differences->items[i].entity == entity &&
            merging->differences->items[i].id == id)
            return &merging->differences->items[i];
    return NULL;
}

static void send(const struct merging *merging, const struct change *change)
{
    merging->sink(merging->cls, change);
}

static const enum change_kind insert_kind[ENTITY_PROVIDER] = {
    CHANGE_CLASS_INSERT,   CHANGE_TRAIT_INSERT, CHANGE_AGGREGATE_INSERT,
    CHANGE_PROJECT_INSERT, CHANGE_USER_INSERT,  CHANGE_CONSUMER_TYPE_INSERT,
};

static void send_gone(const struct merging *merging, const struct difference *difference)
{
    struct change gone = {.kind = CHANGE_KIND_COUNT};
    if (difference->entity == ENTITY_CONSUMER && difference->is_known) {
        gone.kind = CHANGE_FOLLOW_CONSUMER_RESET;
        gone.consumer.id = difference->id;
        gone.consumer.uuid = difference->uuid;
    } else if (difference->entity == ENTITY_PROVIDER && difference->is_known &&
               (difference->is_gone || difference->has_contents)) {
        gone.kind = CHANGE_FOLLOW_PROVIDER_RESET;
        gone.provider.id = difference->id;
    }
    if (gone.kind != CHANGE_KIND_COUNT)
        send(merging, &gone);
}

static void send_catalog_delete(const struct merging *merging, const struct difference *difference)
{
    if (difference->entity >= ENTITY_PROVIDER || !(difference->is_gone || difference->is_other))
        return;
    struct change gone = {.kind = CHANGE_MERGE_CATALOG_DELETE};
    gone.merged.row.id = difference->id;
    gone.merged.of = insert_kind[difference->entity];
    send(merging, &gone);
}

static void send_catalog(const struct merging *merging, const struct difference *difference)
{
    if (difference->entity >= ENTITY_PROVIDER || difference->is_gone)
        return;
    struct change change =
        tables_find(merging->tables, (enum table)difference->entity, difference->id)->image;
    if (difference->is_known && !difference->is_other) {
        change.kind = CHANGE_MERGE_CATALOG_PUT;
        change.merged.of = insert_kind[difference->entity];
    }
    send(merging, &change);
}

static int depth_of(const struct tables *tables, const struct change_provider *provider)
{
    int depth = 0;
    for (; provider->parent_id != 0; depth++)
        provider = &tables_find(tables, TABLE_PROVIDERS, provider->parent_id)->image.provider;
    return depth;
}

static void send_provider(const struct merging *merging, const struct difference *difference,
                          const struct row *row)
{
    const struct change_provider *provider = &row->image.provider;
    struct change change = row->image;
    if (!difference->is_known) {
        send(merging, &change);
        return;
    }
    change.kind = CHANGE_PROVIDER_UPDATE;
    if (difference->has_moved)
        send(merging, &change);
    change.kind = CHANGE_PROVIDER_GENERATION;
    change.generation =
        (struct change_generation){provider->id, provider->generation, provider->generation};
    send(merging, &change);
}

static void send_providers(const struct merging *merging)
{
    const struct rows *rows = &merging->tables->rows[TABLE_PROVIDERS];
    for (int depth = 0; depth < ROWS_MAX; depth++)
        for (uint32_t i = 0; i < rows->count; i++) {
            const struct change_provider *provider = &rows->row[i].image.provider;
            const struct difference *difference = first(merging, ENTITY_PROVIDER, provider->id);
            if (difference != NULL && depth_of(merging->tables, provider) == depth)
                send_provider(merging, difference, &rows->row[i]);
        }
    for (size_t i = 0; i < merging->differences->count; i++) {
        const struct difference *difference = &merging->differences->items[i];
        struct change gone = {.kind = CHANGE_PROVIDER_DELETE, .provider.id = difference->id};
        if (difference->entity == ENTITY_PROVIDER && difference->is_gone)
            send(merging, &gone);
    }
}

static void send_contents(const struct merging *merging, enum table table)
{
    const struct rows *rows = &merging->tables->rows[table];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct difference *difference =
            first(merging, ENTITY_PROVIDER, rows->row[i].image.link.provider_id);
        if (difference != NULL && (difference->has_contents || !difference->is_known))
            send(merging, &rows->row[i].image);
    }
}

static void send_consumers(const struct merging *merging)
{
    const struct rows *consumers = &merging->tables->rows[TABLE_CONSUMERS];
    const struct rows *allocations = &merging->tables->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < consumers->count; i++)
        if (first(merging, ENTITY_CONSUMER, consumers->row[i].image.consumer.id) != NULL)
            send(merging, &consumers->row[i].image);
    for (uint32_t i = 0; i < allocations->count; i++)
        if (first(merging, ENTITY_CONSUMER, allocations->row[i].image.allocation.consumer_id) !=
            NULL)
            send(merging, &allocations->row[i].image);
}

static void send_row(const struct merging *merging, const struct difference *difference)
{
    static const enum change_kind gone[] = {CHANGE_NODE_DELETE, CHANGE_NODE_ALLOCATION_DELETE};
    if (difference->entity < ENTITY_NODE)
        return;
    enum table table = (enum table)(TABLE_NODES + (int)(difference->entity - ENTITY_NODE));
    const struct row *row = tables_find(merging->tables, table, difference->id);
    if (row != NULL) {
        send(merging, &row->image);
        return;
    }
    int kind = table < TABLE_VALET ? (int)gone[table - TABLE_NODES]
                                   : CHANGE_VALET_GROUP_DELETE + 2 * (int)(table - TABLE_VALET);
    send(merging, &(struct change){.kind = (enum change_kind)kind, .row = {difference->id, NULL}});
}

void tables_merge(const struct tables *tables, const struct differences *differences,
                  store_sink *sink, void *cls)
{
    struct merging merging = {tables, differences, sink, cls};
    for (size_t i = 0; i < differences->count; i++)
        send_gone(&merging, &differences->items[i]);
    for (size_t i = 0; i < differences->count; i++)
        send_catalog_delete(&merging, &differences->items[i]);
    for (size_t i = 0; i < differences->count; i++)
        send_catalog(&merging, &differences->items[i]);
    send_providers(&merging);
    send_contents(&merging, TABLE_INVENTORIES);
    send_contents(&merging, TABLE_PROVIDER_TRAITS);
    send_contents(&merging, TABLE_PROVIDER_AGGREGATES);
    send_consumers(&merging);
    for (size_t i = 0; i < differences->count; i++)
        send_row(&merging, &differences->items[i]);
}
