/* See random_batch.h. Changes are tried on tables as they are made; most of those that are refused
 * are left out, since a batch that is refused tells less. Ids of new rows are new, as a store's
 * are; those of providers are sometimes used again. One thread. */
#include "random_batch.h"

#include "base/arena.h"
#include "store/record_tables.h"
#include "tables_internal.h"

enum { NAMES = 4, CHANGES_MOST = 200, FRESH = 100 };

static const struct slice TEXTS[] = {
    {"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1},
};

struct making {
    const uint8_t *data;
    size_t size, at;
    struct tables *tables;
    struct change_list list;
    int64_t fresh_id;
    int64_t now_us;
};

static unsigned below(struct making *making, unsigned n)
{
    return making->at < making->size ? making->data[making->at++] % n : 0;
}

static bool one_in(struct making *making, unsigned n)
{
    return below(making, n) == n - 1;
}

static struct slice text(struct making *making, unsigned n)
{
    return TEXTS[below(making, n)];
}

/* Ends a change: it stays if the tables accept it, and sometimes otherwise. */
static void add(struct making *making, struct change *change)
{
    change->created_at_us = change->updated_at_us = making->now_us;
    if (tables_execute_planned(making->tables, change) != NULL && !one_in(making, 100))
        making->list.count--;
}

static struct change *begin(struct making *making, enum change_kind kind)
{
    return change_append(&making->list, kind);
}

/* A row that is there; NULL: the table is empty. */
static const struct row *pick(struct making *making, enum table table)
{
    const struct rows *rows = &making->tables->rows[table];
    unsigned at = below(making, 251);
    return rows->count == 0 ? NULL : &rows->row[at % rows->count];
}

static int64_t pick_id(struct making *making, enum table table)
{
    const struct row *row = pick(making, table);
    return row == NULL || one_in(making, 16) ? 1 + below(making, 3) : row->image.catalog.id;
}

/* "" if there is no such row. */
static struct slice name_of(struct making *making, enum table table, int64_t id)
{
    const struct row *row = tables_find(making->tables, table, id);
    return row == NULL ? SLICE_LIT("") : row->image.catalog.name;
}

/* ---- one change ---- */

static void make_catalog(struct making *making, enum change_kind kind)
{
    struct change *change = begin(making, kind);
    change->catalog.id = ++making->fresh_id;
    if (kind == CHANGE_CLASS_RENAME || kind == CHANGE_CLASS_DELETE)
        change->catalog.id = pick_id(making, TABLE_CLASSES);
    if (kind == CHANGE_TRAIT_DELETE)
        change->catalog.id = pick_id(making, TABLE_TRAITS);
    if (kind == CHANGE_CLASS_DELETE)
        change->catalog.name = name_of(making, TABLE_CLASSES, change->catalog.id);
    else if (kind == CHANGE_TRAIT_DELETE)
        change->catalog.name = name_of(making, TABLE_TRAITS, change->catalog.id);
    else
        change->catalog.name = text(making, NAMES);
    if (kind == CHANGE_CLASS_RENAME)
        change->renamed.before = name_of(making, TABLE_CLASSES, change->catalog.id);
    add(making, change);
}

static void set_place(struct making *making, struct change_provider *provider)
{
    const struct row *parent = one_in(making, 2) ? pick(making, TABLE_PROVIDERS) : NULL;
    bool is_root = parent == NULL || parent->image.provider.id == provider->id;
    provider->parent_id = is_root ? 0 : parent->image.provider.id;
    provider->root_id = is_root ? provider->id : parent->image.provider.root_id;
}

static void make_provider(struct making *making, enum change_kind kind)
{
    const struct row *row = pick(making, TABLE_PROVIDERS);
    struct change *change = begin(making, kind);
    struct change_provider *provider = &change->provider;
    if (kind == CHANGE_PROVIDER_INSERT) {
        provider->id = one_in(making, 3) ? 1 + below(making, 3) : ++making->fresh_id;
        provider->name = text(making, NAMES);
        provider->uuid = text(making, NAMES);
        set_place(making, provider);
    } else if (row != NULL) {
        *provider = row->image.provider;
        change->is_root_only = kind == CHANGE_PROVIDER_UPDATE && one_in(making, 2);
        struct change_provider place = *provider;
        set_place(making, &place);
        provider->root_id = place.root_id;
        if (!change->is_root_only) {
            provider->parent_id = place.parent_id;
            provider->name = text(making, NAMES);
        }
    }
    add(making, change);
}

static void make_generation(struct making *making)
{
    const struct row *row = pick(making, TABLE_PROVIDERS);
    struct change *change = begin(making, CHANGE_PROVIDER_GENERATION);
    if (row != NULL) {
        int64_t is = row->image.provider.generation;
        int64_t expected = one_in(making, 16) ? is + 1 : is;
        change->generation = (struct change_generation){row->image.provider.id, expected,
                                                        expected + 1 - (int64_t)below(making, 2)};
    }
    add(making, change);
}

static void make_inventory(struct making *making, enum change_kind kind)
{
    struct change *change = begin(making, kind);
    const struct row *row = pick(making, TABLE_INVENTORIES);
    if (kind != CHANGE_INVENTORY_INSERT && row != NULL)
        change->inventory = row->image.inventory;
    else
        change->inventory = (struct change_inventory){
            pick_id(making, TABLE_PROVIDERS), pick_id(making, TABLE_CLASSES), 0, 0, 1, 1, 1, 1.0};
    change->inventory.total = (int32_t)below(making, 9);
    add(making, change);
}

static void make_link(struct making *making, enum change_kind kind)
{
    bool is_trait = kind == CHANGE_PROVIDER_TRAIT_INSERT || kind == CHANGE_PROVIDER_TRAIT_DELETE;
    bool is_insert =
        kind == CHANGE_PROVIDER_TRAIT_INSERT || kind == CHANGE_PROVIDER_AGGREGATE_INSERT;
    struct change *change = begin(making, kind);
    const struct row *row =
        pick(making, is_trait ? TABLE_PROVIDER_TRAITS : TABLE_PROVIDER_AGGREGATES);
    if (!is_insert && row != NULL)
        change->link = row->image.link;
    else
        change->link =
            (struct change_link){pick_id(making, TABLE_PROVIDERS),
                                 pick_id(making, is_trait ? TABLE_TRAITS : TABLE_AGGREGATES)};
    add(making, change);
}

static void set_owner(struct making *making, struct change_consumer *consumer)
{
    consumer->project_id = pick_id(making, TABLE_PROJECTS);
    consumer->user_id = pick_id(making, TABLE_USERS);
    consumer->type_id = one_in(making, 3) ? 0 : pick_id(making, TABLE_TYPES);
}

static void insert_consumer(struct making *making)
{
    struct change *change = begin(making, CHANGE_CONSUMER_INSERT);
    change->consumer.id = ++making->fresh_id;
    change->consumer.uuid = text(making, NAMES);
    set_owner(making, &change->consumer);
    add(making, change);
}

/* `row` is of a consumer, or NULL. */
static void write_consumer(struct making *making, enum change_kind kind, const struct row *row)
{
    struct change *change = begin(making, kind);
    if (row != NULL) {
        change->consumer = row->image.consumer;
        change->is_generation_only = kind == CHANGE_CONSUMER_UPDATE && one_in(making, 2);
        if (!change->is_generation_only)
            set_owner(making, &change->consumer);
        change->consumer.expected_generation =
            change->consumer.generation + (one_in(making, 16) ? 1 : 0);
        change->consumer.generation++;
    }
    add(making, change);
}

static void write_allocations(struct making *making, enum change_kind kind, const struct row *row)
{
    struct change *change = begin(making, kind);
    if (row != NULL) {
        change->allocation.consumer_id = row->image.consumer.id;
        change->allocation.consumer_uuid = row->image.consumer.uuid;
    }
    if (kind == CHANGE_ALLOCATION_INSERT) {
        change->allocation.id = ++making->fresh_id;
        change->allocation.provider_id = pick_id(making, TABLE_PROVIDERS);
        change->allocation.class_id = pick_id(making, TABLE_CLASSES);
        change->allocation.used = 1 + below(making, 3);
    }
    add(making, change);
}

/* `like`: the record whose unique texts it has; NULL: none. */
static const struct record *make_row(struct making *making, const struct record_shape *shape,
                                     int64_t id, const struct record *like)
{
    struct record_value values[RECORD_FIELDS_MAX];
    record_init(shape, values);
    for (unsigned f = 0; f < shape->stored; f++) {
        unsigned flags = shape->fields[f].flags;
        if ((flags & RECORD_UNIQUE) != 0 && like != NULL)
            values[f].text = record_text(like, f);
        else if ((flags & RECORD_UNIQUE) != 0 &&
                 ((flags & RECORD_NULLABLE) == 0 || one_in(making, 2)))
            values[f].text = text(making, NAMES);
    }
    return record_pack(shape, id, values, making->list.arena);
}

static void make_record(struct making *making, unsigned which)
{
    const struct record_table_info *table = &record_tables[which / 2 % RECORD_TABLE_COUNT];
    struct change *change = begin(making, which % 2 == 0 ? table->put : table->delete);
    change->row.id = 1 + below(making, 4);
    const struct row *row = tables_find(
        making->tables, (enum table)(TABLE_NODES + (int)(table - record_tables)), change->row.id);
    if (change->kind == table->put) {
        change->is_new = (row == NULL) != one_in(making, 50);
        change->keeps_names = row != NULL && one_in(making, 2);
        change->row.record =
            make_row(making, table->shape, change->row.id,
                     change->keeps_names && row != NULL ? row->image.row.record : NULL);
    }
    add(making, change);
}

static void make_change(struct making *making, unsigned kind)
{
    switch (kind) {
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
    case CHANGE_PROVIDER_DELETE:
        make_provider(making, kind);
        return;
    case CHANGE_PROVIDER_GENERATION:
        make_generation(making);
        return;
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_UPDATE:
    case CHANGE_INVENTORY_DELETE:
        make_inventory(making, kind);
        return;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        make_link(making, kind);
        return;
    case CHANGE_CONSUMER_INSERT:
        insert_consumer(making);
        return;
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
        write_consumer(making, kind, pick(making, TABLE_CONSUMERS));
        return;
    case CHANGE_ALLOCATION_INSERT:
    case CHANGE_ALLOCATIONS_OF_DELETE:
        write_allocations(making, kind, pick(making, TABLE_CONSUMERS));
        return;
    default:
        make_catalog(making, kind);
    }
}

/* ---- several, as a request has them ---- */

static void replace_claim(struct making *making)
{
    int64_t id = pick_id(making, TABLE_CONSUMERS);
    write_allocations(making, CHANGE_ALLOCATIONS_OF_DELETE,
                      tables_find(making->tables, TABLE_CONSUMERS, id));
    write_consumer(making, CHANGE_CONSUMER_UPDATE,
                   tables_find(making->tables, TABLE_CONSUMERS, id));
    for (unsigned i = below(making, 3); i > 0; i--)
        write_allocations(making, CHANGE_ALLOCATION_INSERT,
                          tables_find(making->tables, TABLE_CONSUMERS, id));
    for (unsigned i = below(making, 3); i > 0; i--)
        make_generation(making);
}

static void drop_consumer(struct making *making)
{
    int64_t id = pick_id(making, TABLE_CONSUMERS);
    write_allocations(making, CHANGE_ALLOCATIONS_OF_DELETE,
                      tables_find(making->tables, TABLE_CONSUMERS, id));
    write_consumer(making, CHANGE_CONSUMER_DELETE,
                   tables_find(making->tables, TABLE_CONSUMERS, id));
}

static void drop_contents(struct making *making, int64_t id, enum table table,
                          enum change_kind kind)
{
    const struct rows *rows = &making->tables->rows[table];
    for (uint32_t i = rows->count; i-- > 0;) {
        if (rows->row[i].image.link.provider_id != id)
            continue;
        struct change *change = begin(making, kind);
        *change = rows->row[i].image;
        change->kind = kind;
        add(making, change);
    }
}

static void drop_provider(struct making *making)
{
    int64_t id = pick_id(making, TABLE_PROVIDERS);
    drop_contents(making, id, TABLE_INVENTORIES, CHANGE_INVENTORY_DELETE);
    drop_contents(making, id, TABLE_PROVIDER_TRAITS, CHANGE_PROVIDER_TRAIT_DELETE);
    drop_contents(making, id, TABLE_PROVIDER_AGGREGATES, CHANGE_PROVIDER_AGGREGATE_DELETE);
    const struct row *row = tables_find(making->tables, TABLE_PROVIDERS, id);
    struct change *change = begin(making, CHANGE_PROVIDER_DELETE);
    change->provider.id = id;
    if (row != NULL)
        change->provider.uuid = row->image.provider.uuid;
    add(making, change);
}

static void make_some(struct making *making)
{
    unsigned what = below(making, CHANGE_NODE_PUT + 2 * RECORD_TABLE_COUNT + 9);
    if (what < CHANGE_NODE_PUT)
        make_change(making, what);
    else if (what < CHANGE_NODE_PUT + 2 * RECORD_TABLE_COUNT)
        make_record(making, what - CHANGE_NODE_PUT);
    else if (what % 3 == 0)
        replace_claim(making);
    else if (what % 3 == 1)
        drop_consumer(making);
    else
        drop_provider(making);
}

struct store_batch random_batch_make(const struct tables *base, struct tables *scratch,
                                     const uint8_t *data, size_t size, struct arena *arena)
{
    struct making making = {.data = data,
                            .size = size,
                            .tables = scratch,
                            .list = {.arena = arena},
                            .fresh_id = FRESH,
                            .now_us = 1};
    size_t *ends = arena_array(arena, CHANGES_MOST + 1, sizeof(*ends));
    size_t requests = 0;
    tables_copy(scratch, base);
    while (making.at < making.size && making.list.count < CHANGES_MOST) {
        size_t before = making.list.count;
        make_some(&making);
        if (making.list.count > before && one_in(&making, 2)) {
            ends[requests++] = making.list.count;
            making.now_us++;
        }
    }
    ends[requests++] = making.list.count;
    return (struct store_batch){.changes = making.list.items, .ends = ends, .requests = requests};
}

void random_batch_base(struct tables *tables, struct arena *arena)
{
    /* Each of these twice, with the first bytes that the makers read. */
    static const uint8_t KINDS[] = {
        CHANGE_CLASS_INSERT,          CHANGE_TRAIT_INSERT,
        CHANGE_AGGREGATE_INSERT,      CHANGE_PROJECT_INSERT,
        CHANGE_USER_INSERT,           CHANGE_CONSUMER_TYPE_INSERT,
        CHANGE_PROVIDER_INSERT,       CHANGE_INVENTORY_INSERT,
        CHANGE_PROVIDER_TRAIT_INSERT, CHANGE_PROVIDER_AGGREGATE_INSERT,
        CHANGE_CONSUMER_INSERT,       CHANGE_ALLOCATION_INSERT,
    };
    uint8_t data[64];
    struct making making = {.data = data, .tables = tables, .list = {.arena = arena}, .now_us = 1};
    for (unsigned i = 0; i < 2 * sizeof(KINDS); i++) {
        making.at = 0;
        making.size = sizeof(data);
        memset(data, (int)(i % 2), sizeof(data));
        make_change(&making, KINDS[i / 2]);
    }
    for (unsigned i = 0; i < 2 * RECORD_TABLE_COUNT; i++) {
        making.at = 0;
        memset(data, (int)(i % 2), sizeof(data));
        make_record(&making, 2 * (i / 2));
    }
    check(tables->rows[TABLE_PROVIDERS].count == 2 && tables->rows[TABLE_ALLOCATIONS].count == 2 &&
          tables->rows[TABLE_NODES].count == 2);
}
