/* See entities.h. Everything is read first and then sent, in an order in which each record refers
 * only to earlier ones. Providers with fewer ancestors come first: a provider's ancestors are then
 * in place before it, so that no intermediate step makes a cycle, whichever providers have
 * exchanged places.
 *
 * All rows are requested at once, except the ancestors of new and moved providers: what else is to
 * be read of an entity does not depend on its row. */
#include "store/entities.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/search.h"
#include "store/ancestors.h"

static void want(struct entities *entities, enum rows_table table, int64_t id,
                 enum change_kind kind)
{
    struct wanted_list *list = &entities->wanted[table];
    list->items = arena_grow(entities->arena, list->items, list->count, &list->capacity,
                             sizeof(*list->items));
    list->items[list->count++] = (struct wanted){id, kind};
}

void entities_want_catalog(struct entities *entities, enum rows_table table, int64_t id,
                           enum change_kind kind)
{
    want(entities, table, id, kind);
}

static bool is_new(const struct provider_history *history)
{
    return !history->known || history->deleted;
}

void entities_want_provider(struct entities *entities, const struct provider_history *history)
{
    entities->histories = arena_grow(entities->arena, entities->histories, entities->history_count,
                                     &entities->history_capacity, sizeof(*entities->histories));
    entities->histories[entities->history_count++] = *history;
    want(entities, ROWS_PROVIDERS, history->id, CHANGE_PROVIDER_INSERT);
    if (history->known && (history->contents || history->deleted))
        change_append(&entities->gone, CHANGE_FOLLOW_PROVIDER_RESET)->provider.id = history->id;
    if (!is_new(history) && !history->contents)
        return;
    want(entities, ROWS_INVENTORIES, history->id, CHANGE_INVENTORY_INSERT);
    want(entities, ROWS_PROVIDER_TRAITS, history->id, CHANGE_PROVIDER_TRAIT_INSERT);
    want(entities, ROWS_PROVIDER_AGGREGATES, history->id, CHANGE_PROVIDER_AGGREGATE_INSERT);
}

void entities_want_consumer(struct entities *entities, int64_t id)
{
    want(entities, ROWS_CONSUMERS, id, CHANGE_CONSUMER_INSERT);
    want(entities, ROWS_ALLOCATIONS, id, CHANGE_ALLOCATION_INSERT);
}

void entities_reset_consumer(struct entities *entities, int64_t id, struct slice uuid)
{
    struct change *reset = change_append(&entities->gone, CHANGE_FOLLOW_CONSUMER_RESET);
    reset->consumer.id = id;
    reset->consumer.uuid = uuid;
}

void entities_want_record(struct entities *entities, enum record_table table, int64_t id)
{
    want(entities, (enum rows_table)(ROWS_RECORDS + (int)table), id, record_tables[table].put);
}

static int compare_wanted(const void *a, const void *b)
{
    const struct wanted *left = a;
    const struct wanted *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

/* Sorts the list, each id once; returns the ids. */
static const int64_t *sort_wanted(struct wanted_list *list, struct arena *arena)
{
    int64_t *ids = arena_array(arena, list->count, sizeof(*ids));
    size_t kept = 0;
    qsort(list->items, list->count, sizeof(*list->items), compare_wanted);
    for (size_t i = 0; i < list->count; i++) {
        if (kept > 0 && list->items[kept - 1].id == list->items[i].id)
            continue;
        ids[kept] = list->items[i].id;
        list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return ids;
}

static bool read_wanted(struct entities *entities, const struct row_reader *reader, struct err *err)
{
    struct row_set sets[ROWS_PARENTS];
    size_t count = 0;
    for (int table = 0; table < ROWS_PARENTS; table++) {
        struct wanted_list *wanted = &entities->wanted[table];
        entities->rows[table].arena = entities->arena;
        if (wanted->count == 0)
            continue;
        const int64_t *ids = sort_wanted(wanted, entities->arena);
        sets[count++] =
            (struct row_set){(enum rows_table)table, ids, wanted->count, &entities->rows[table]};
    }
    return row_reader_find(reader, sets, count, err);
}

/* The row of a provider or consumer; NULL: there is none. */
static struct change *find_row(struct change_list *rows, int64_t id)
{
    size_t at;
    SEARCH_LOWER(at, 0, rows->count, rows->items[at].row.id < id);
    return at < rows->count && rows->items[at].row.id == id ? &rows->items[at] : NULL;
}
/* Each of these kinds begins with the id. */
_Static_assert(offsetof(struct change, row.id) == offsetof(struct change, provider.id) &&
                   offsetof(struct change, row.id) == offsetof(struct change, consumer.id) &&
                   offsetof(struct change, row.id) == offsetof(struct change, catalog.id),
               "rows are found by their ids");

const struct change *entities_row(struct entities *entities, enum rows_table table, int64_t id)
{
    return find_row(&entities->rows[table], id);
}
/* Only these are inserted or moved. */
static struct change_list rows_to_place(struct entities *entities)
{
    struct change_list placed = {.arena = entities->arena};
    for (size_t i = 0; i < entities->history_count; i++) {
        const struct provider_history *history = &entities->histories[i];
        const struct change *row = find_row(&entities->rows[ROWS_PROVIDERS], history->id);
        if (row != NULL && (is_new(history) || history->updated))
            *change_append(&placed, CHANGE_PROVIDER_INSERT) = *row;
    }
    return placed;
}

static void append_provider(struct entities *entities, const struct change *change, uint32_t depth)
{
    *change_append(&entities->providers, change->kind) = *change;
    entities->depths = arena_grow(entities->arena, entities->depths, entities->depth_count,
                                  &entities->depth_capacity, sizeof(*entities->depths));
    entities->depths[entities->depth_count++] = depth;
}

/* One provider's row as its records. */
static void append_history(struct entities *entities, const struct provider_history *history,
                           const struct change *row, const struct tree_order *forest)
{
    struct change change = *row;
    uint32_t depth = 0;
    if (is_new(history) || history->updated) {
        depth = tree_order_depth(forest, history->id);
        tree_order_place(forest, &change.provider);
        change.kind = is_new(history) ? CHANGE_PROVIDER_INSERT : CHANGE_PROVIDER_UPDATE;
        append_provider(entities, &change, depth);
    }
    if (is_new(history))
        return;
    change.kind = CHANGE_PROVIDER_GENERATION;
    change.generation = (struct change_generation){.provider_id = history->id,
                                                   .expected = row->provider.generation,
                                                   .next = row->provider.generation};
    append_provider(entities, &change, depth);
}

static bool read_places(struct entities *entities, const struct row_reader *reader,
                        struct tree_order *places, struct err *err)
{
    const struct change_list to_place = rows_to_place(entities);
    return ancestors_read(reader, &to_place, places, err);
}

bool entities_read(struct entities *entities, const struct row_reader *reader,
                   const struct tree_order *forest, struct err *err)
{
    struct tree_order places = {0};
    entities->providers.arena = entities->arena;
    bool ok = read_wanted(entities, reader, err) &&
              (forest != NULL || read_places(entities, reader, &places, err));
    for (size_t i = 0; ok && i < entities->history_count; i++) {
        const struct provider_history *history = &entities->histories[i];
        const struct change *row = find_row(&entities->rows[ROWS_PROVIDERS], history->id);
        if (row != NULL)
            append_history(entities, history, row, forest != NULL ? forest : &places);
    }
    tree_order_free(&places);
    return ok;
}

struct sending {
    store_sink *sink;
    void *cls;
};

static void send(const struct sending *to, const struct change_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        to->sink(to->cls, &list->items[i]);
}

static void send_catalog(const struct sending *to, struct entities *entities, enum rows_table table)
{
    const struct wanted_list *wanted = &entities->wanted[table];
    for (size_t i = 0; i < wanted->count; i++) {
        struct change *row = find_row(&entities->rows[table], wanted->items[i].id);
        if (row == NULL)
            continue;
        if (wanted->items[i].kind == CHANGE_MERGE_CATALOG_PUT)
            row->merged.of = row->kind;
        row->kind = wanted->items[i].kind;
        to->sink(to->cls, row);
    }
}

struct placed {
    uint32_t depth;
    size_t at;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *left = a;
    const struct placed *right = b;
    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    return left->at < right->at ? -1 : left->at > right->at;
}

static void send_providers(const struct sending *to, struct entities *entities)
{
    size_t count = entities->providers.count;
    struct placed *order = arena_array(entities->arena, count, sizeof(*order));
    for (size_t i = 0; i < count; i++)
        order[i] = (struct placed){entities->depths[i], i};
    if (count > 0)
        qsort(order, count, sizeof(*order), compare_placed);
    for (size_t i = 0; i < count; i++)
        to->sink(to->cls, &entities->providers.items[order[i].at]);
}

/* Inventories or links: those of providers that can be seen. */
static void send_contents(const struct sending *to, struct entities *entities,
                          enum rows_table table)
{
    const struct change_list *rows = &entities->rows[table];
    for (size_t i = 0; i < rows->count; i++) {
        const struct change *row = &rows->items[i];
        int64_t provider_id =
            table == ROWS_INVENTORIES ? row->inventory.provider_id : row->link.provider_id;
        if (find_row(&entities->rows[ROWS_PROVIDERS], provider_id) != NULL)
            to->sink(to->cls, row);
    }
}

static int compare_allocations(const void *a, const void *b)
{
    int64_t left = ((const struct change *)a)->allocation.id;
    int64_t right = ((const struct change *)b)->allocation.id;
    return left < right ? -1 : left > right;
}

static void send_allocations(const struct sending *to, struct entities *entities)
{
    struct change_list *rows = &entities->rows[ROWS_ALLOCATIONS];
    if (rows->count > 0)
        qsort(rows->items, rows->count, sizeof(struct change), compare_allocations);
    for (size_t i = 0; i < rows->count; i++)
        if (find_row(&entities->rows[ROWS_CONSUMERS], rows->items[i].allocation.consumer_id) !=
            NULL)
            to->sink(to->cls, &rows->items[i]);
}

static void send_records(const struct sending *to, struct entities *entities, enum rows_table table)
{
    const struct wanted_list *wanted = &entities->wanted[table];
    for (size_t i = 0; i < wanted->count; i++) {
        int64_t id = wanted->items[i].id;
        const struct change *row = find_row(&entities->rows[table], id);
        const struct change deleted = {.kind = rows_record_info(table)->delete, .row.id = id};
        to->sink(to->cls, row != NULL ? row : &deleted);
    }
}

void entities_send(struct entities *entities, store_sink *sink, void *cls)
{
    const struct sending to = {sink, cls};
    send(&to, &entities->gone);
    for (int table = 0; table < ROWS_PROVIDERS; table++)
        send_catalog(&to, entities, (enum rows_table)table);
    send_providers(&to, entities);
    send(&to, &entities->left);
    for (int table = ROWS_INVENTORIES; table < ROWS_CONSUMERS; table++)
        send_contents(&to, entities, (enum rows_table)table);
    send(&to, &entities->rows[ROWS_CONSUMERS]);
    send_allocations(&to, entities);
    for (int table = ROWS_RECORDS; table < ROWS_PARENTS; table++)
        send_records(&to, entities, (enum rows_table)table);
}
