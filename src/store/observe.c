/* See observe.h. Rows are read as for a follow, so that whatever a load leaves out is left out here
 * as well. */
#include "store/observe.h"

#include "base/arena.h"
#include "store/merge.h"

enum { TABLES_MOST = 4 };

/* The tables of an entity, in the order of a load; returns how many. */
static size_t list_tables(enum entity entity, enum rows_table tables[static TABLES_MOST])
{
    if (entity < ENTITY_PROVIDER) {
        tables[0] = merge_catalog_table(entity);
        return 1;
    }
    if (entity == ENTITY_PROVIDER) {
        tables[0] = ROWS_PROVIDERS;
        tables[1] = ROWS_INVENTORIES;
        tables[2] = ROWS_PROVIDER_TRAITS;
        tables[3] = ROWS_PROVIDER_AGGREGATES;
        return TABLES_MOST;
    }
    tables[0] = entity == ENTITY_CONSUMER
                    ? ROWS_CONSUMERS
                    : (enum rows_table)(ROWS_RECORDS + (int)(entity - ENTITY_NODE));
    tables[1] = ROWS_ALLOCATIONS;
    return entity == ENTITY_CONSUMER ? 2 : 1;
}

bool observe_find(const struct row_reader *reader, enum entity entity, const int64_t *ids,
                  size_t count, store_sink *sink, void *cls, struct err *err)
{
    struct arena *arena = arena_create();
    struct change_list lists[TABLES_MOST] = {{0}};
    struct row_set sets[TABLES_MOST];
    enum rows_table tables[TABLES_MOST];
    size_t set_count = list_tables(entity, tables);
    for (size_t i = 0; i < set_count; i++) {
        lists[i].arena = arena;
        sets[i] = (struct row_set){tables[i], ids, count, &lists[i]};
    }
    bool ok = row_reader_find(reader, sets, set_count, err);
    for (size_t i = 0; ok && i < set_count; i++)
        for (size_t k = 0; k < lists[i].count; k++)
            sink(cls, &lists[i].items[k]);
    arena_destroy(arena);
    return ok;
}
