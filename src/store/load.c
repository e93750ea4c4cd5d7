/* See load.h.
 *
 * Rows refer only to rows sent before. Rows that refer to something missing are left out, as the
 * service's joins leave them out (skipped.h). tree_order.h determines the place of each provider.
 */
#include "store/load.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/search.h"
#include "store/record_rows.h"

/* Ids that were sent, ascending. */
struct id_set {
    int64_t *ids;
    size_t count;
    size_t capacity;
};

static void id_set_add(struct id_set *set, int64_t id)
{
    if (set->count == set->capacity) {
        set->capacity = set->capacity == 0 ? 256 : set->capacity * 2;
        set->ids = reallocarray(set->ids, set->capacity, sizeof(int64_t));
        check(set->ids != NULL);
    }
    set->ids[set->count++] = id;
}

static bool id_set_has(const struct id_set *set, int64_t id)
{
    if (set->count == 0 || id < set->ids[0] || id > set->ids[set->count - 1])
        return false;
    /* Without gaps, the position follows from the id. */
    uint64_t distance = (uint64_t)id - (uint64_t)set->ids[0];
    if (distance < set->count && set->ids[distance] == id)
        return true;
    size_t at;
    SEARCH_LOWER(at, 0, set->count, set->ids[at] < id);
    return set->ids[at] == id;
}

enum { REFERENCES_MOST = 4 }; /* of one row */

struct loading {
    const struct row_reader *reader;
    struct tree_order *forest;
    struct skipped *skipped;
    struct missing_consumers *missing; /* NULL: nobody asks */
    struct missing_consumers seeming;  /* before the database has been asked */
    store_sink *sink;
    void *cls;
    struct err *err;
    struct arena *arena; /* of the current row */
    enum rows_table table;
    const struct rows_column *references[REFERENCES_MOST]; /* of this table */
    unsigned reference_count;
    unsigned consumer; /* the column with the consumer's id, of allocations */
    struct id_set sets[ROWS_RECORDS];
};

/* Whether everything that the row needs has been sent. */
static bool is_complete(const struct loading *loading, struct change *change)
{
    for (unsigned i = 0; i < loading->reference_count; i++) {
        const struct rows_column *column = loading->references[i];
        int64_t *id = rows_reference(column, change);
        if (id_set_has(&loading->sets[column->refers_to], *id))
            continue;
        if ((column->flags & ROWS_NEEDED) != 0)
            return false;
        *id = 0;
    }
    return true;
}

/* Whether other tables' rows refer to the table's. */
static bool is_referred(enum rows_table table)
{
    return table < ROWS_INVENTORIES || table == ROWS_CONSUMERS;
}

static void note_skipped_record(struct loading *loading, const struct cell *cells)
{
    const struct record_table_info *info = rows_record_info(loading->table);
    skipped_add(loading->skipped, info->name, true, cells[0].integer);
    for (unsigned i = 0; i < info->shape->stored; i++) {
        const struct record_field *field = &info->shape->fields[i];
        if ((field->flags & RECORD_UNIQUE) != 0)
            skipped_take(loading->skipped, info->put, i,
                         record_rows_text(field, &cells[1 + i], loading->arena));
    }
}

/* `is_visible`: without regard to the rows that it refers to. */
static void note_skipped(struct loading *loading, const struct cell *cells, struct change *change,
                         bool is_visible)
{
    struct skipped *skipped = loading->skipped;
    const struct rows_info *info = rows_info(loading->table);
    skipped_add(skipped, info->name, info->ids != STORE_TABLE_COUNT, cells[0].integer);
    if (loading->table == ROWS_PROVIDERS)
        skipped_take(skipped, CHANGE_PROVIDER_INSERT, 0, change->provider.name);
    if (loading->table == ROWS_CONSUMERS)
        skipped_take(skipped, CHANGE_CONSUMER_INSERT, 0, change->consumer.uuid);
    for (unsigned i = 0; is_visible && i < loading->reference_count; i++) {
        const struct rows_column *column = loading->references[i];
        skipped_refer(skipped, rows_info(column->refers_to)->ids, *rows_reference(column, change));
    }
}

/* Whether it is an allocation whose consumer seems to have no row. */
static bool lacks_consumer(struct loading *loading, const struct cell *cells,
                           const struct change *change)
{
    if (loading->missing == NULL || loading->table != ROWS_ALLOCATIONS ||
        !cells[loading->consumer].is_null || !cell_is_uuid(change->allocation.consumer_uuid))
        return false;
    missing_consumers_add(&loading->seeming, change->allocation.consumer_uuid);
    return true;
}

static void load_row(void *cls, const struct cell *cells)
{
    struct loading *loading = cls;
    struct change change;
    bool is_visible = rows_change(loading->table, cells, loading->arena, &change);
    if (lacks_consumer(loading, cells, &change))
        return;
    if (!is_visible || !is_complete(loading, &change)) {
        note_skipped(loading, cells, &change, is_visible);
        return;
    }
    if (loading->table == ROWS_PROVIDERS)
        tree_order_place(loading->forest, &change.provider);
    if (is_referred(loading->table))
        id_set_add(&loading->sets[loading->table], cells[0].integer);
    loading->sink(loading->cls, &change);
}

static void load_record(void *cls, const struct cell *cells)
{
    struct loading *loading = cls;
    struct change change;
    if (rows_change(loading->table, cells, loading->arena, &change))
        loading->sink(loading->cls, &change);
    else
        note_skipped_record(loading, cells);
    arena_reset(loading->arena);
}

static void add_to_forest(void *cls, const struct cell *cells)
{
    struct change change;
    if (rows_change(ROWS_PARENTS, cells, NULL, &change))
        tree_order_add(cls, change.provider.id, change.provider.parent_id);
}

static void list_references(struct loading *loading, const struct rows_info *info)
{
    loading->reference_count = 0;
    for (unsigned i = 0; i < info->count; i++)
        if ((info->columns[i].flags & ROWS_REFERS) != 0) {
            check(loading->reference_count < REFERENCES_MOST);
            loading->references[loading->reference_count++] = &info->columns[i];
            if ((info->columns[i].flags & ROWS_OF_CONSUMER) != 0)
                loading->consumer = i;
        }
}

static bool load_table(struct loading *loading, enum rows_table table)
{
    const struct row_reader *reader = loading->reader;
    loading->table = table;
    if (rows_is_record(table))
        return reader->stream(reader->cls, table, load_record, loading, loading->err);
    list_references(loading, rows_info(table));
    return reader->stream(reader->cls, table, load_row, loading, loading->err);
}

static bool load_all(struct loading *loading)
{
    const struct row_reader *reader = loading->reader;
    if (!reader->stream(reader->cls, ROWS_PARENTS, add_to_forest, loading->forest, loading->err))
        return false;
    tree_order_end(loading->forest);
    for (int table = 0; table < ROWS_PARENTS; table++) {
        if (!load_table(loading, (enum rows_table)table))
            return false;
        if (table == ROWS_PROVIDERS)
            loading->sink(loading->cls, &(struct change){.kind = CHANGE_LOAD_PROVIDERS_END});
    }
    return true;
}

static void take_missing(void *cls, int64_t id, struct slice uuid)
{
    if (id == 0)
        missing_consumers_add(cls, uuid);
}

/* A database that takes two uuids for the same has the row of one that is spelt otherwise. A read
 * that fails has found none. */
static bool ask_for_missing(struct loading *loading)
{
    struct missing_consumers *seeming = &loading->seeming;
    if (seeming->count == 0)
        return true;
    missing_consumers_end(seeming);
    bool ok = row_reader_find_consumers(loading->reader, seeming->uuids, seeming->count,
                                        take_missing, loading->missing, loading->err);
    if (ok)
        missing_consumers_end(loading->missing);
    else
        missing_consumers_free(loading->missing);
    return ok;
}

bool load_stream(const struct row_reader *reader, struct tree_order *forest,
                 struct skipped *skipped, struct missing_consumers *missing, store_sink *sink,
                 void *cls, struct err *err)
{
    struct loading loading = {.reader = reader,
                              .forest = forest,
                              .skipped = skipped,
                              .missing = missing,
                              .sink = sink,
                              .cls = cls,
                              .err = err,
                              .arena = arena_create()};
    skipped_begin(skipped);
    bool ok = load_all(&loading) && ask_for_missing(&loading);
    missing_consumers_free(&loading.seeming);
    skipped_end(skipped, reader->name);
    for (int table = 0; table < ROWS_RECORDS; table++)
        free(loading.sets[table].ids);
    arena_destroy(loading.arena);
    return ok;
}
