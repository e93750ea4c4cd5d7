/* Streams the whole database into memory.
 *
 * Rows are sent in the order of their ids (links: of their rowids) and refer only to rows sent
 * before. Rows that refer to something missing are left out, as the service's joins leave them out
 * (skipped.h). tree_order.h determines the place of each provider. Writer thread, inside its
 * transaction. */
#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"
#include "store/sqlite/tree_order.h"

/* Ids that were sent, ascending. */
struct id_set {
    int64_t *ids;
    size_t count;
    size_t capacity;
};

struct loading {
    struct store *store;
    store_sink *sink;
    void *cls;
    struct err *err;
    struct id_set sets[ROWS_TABLE_COUNT];
    struct tree_order *forest;
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

static bool wanted(struct loading *loading, enum rows_table table, struct change *change)
{
    const struct id_set *sets = loading->sets;
    switch (table) {
    case ROWS_INVENTORIES:
        return id_set_has(&sets[ROWS_PROVIDERS], change->inventory.provider_id) &&
               id_set_has(&sets[ROWS_CLASSES], change->inventory.class_id);
    case ROWS_PROVIDER_TRAITS:
        return id_set_has(&sets[ROWS_PROVIDERS], change->link.provider_id) &&
               id_set_has(&sets[ROWS_TRAITS], change->link.other_id);
    case ROWS_PROVIDER_AGGREGATES:
        return id_set_has(&sets[ROWS_PROVIDERS], change->link.provider_id) &&
               id_set_has(&sets[ROWS_AGGREGATES], change->link.other_id);
    case ROWS_CONSUMERS:
        if (!id_set_has(&sets[ROWS_CONSUMER_TYPES], change->consumer.type_id))
            change->consumer.type_id = 0;
        return id_set_has(&sets[ROWS_PROJECTS], change->consumer.project_id) &&
               id_set_has(&sets[ROWS_USERS], change->consumer.user_id);
    case ROWS_ALLOCATIONS:
        return id_set_has(&sets[ROWS_PROVIDERS], change->allocation.provider_id) &&
               id_set_has(&sets[ROWS_CLASSES], change->allocation.class_id) &&
               id_set_has(&sets[ROWS_CONSUMERS], change->allocation.consumer_id);
    case ROWS_CLASSES:
    case ROWS_TRAITS:
    case ROWS_AGGREGATES:
    case ROWS_PROJECTS:
    case ROWS_USERS:
    case ROWS_CONSUMER_TYPES:
    case ROWS_PROVIDERS:
    case ROWS_TABLE_COUNT:
        break;
    }
    return true;
}

/* A row without an id of its own is identified by its provider's: the first column. */
static void note_skipped(struct loading *loading, enum rows_table table, sqlite3_stmt *row,
                         const struct change *change, bool is_read)
{
    struct skipped *skipped = &loading->store->skipped;
    skipped_add(skipped, rows_table_name(table), sqlite3_column_name(row, 0)[0] == 'i',
                sqlite3_column_int64(row, 0));
    if (table == ROWS_PROVIDERS)
        skipped_take(skipped, CHANGE_PROVIDER_INSERT, 0, change->provider.name);
    if (table == ROWS_CONSUMERS)
        skipped_take(skipped, CHANGE_CONSUMER_INSERT, 0, change->consumer.uuid);
    if (!is_read)
        return;
    if (table == ROWS_CONSUMERS) {
        skipped_refer(skipped, STORE_PROJECTS, change->consumer.project_id);
        skipped_refer(skipped, STORE_USERS, change->consumer.user_id);
    } else if (table == ROWS_INVENTORIES) {
        skipped_refer(skipped, STORE_PROVIDERS, change->inventory.provider_id);
        skipped_refer(skipped, STORE_CLASSES, change->inventory.class_id);
    } else if (table == ROWS_ALLOCATIONS) {
        skipped_refer(skipped, STORE_PROVIDERS, change->allocation.provider_id);
        skipped_refer(skipped, STORE_CLASSES, change->allocation.class_id);
    } else if (table == ROWS_PROVIDER_TRAITS || table == ROWS_PROVIDER_AGGREGATES) {
        skipped_refer(skipped, STORE_PROVIDERS, change->link.provider_id);
        skipped_refer(skipped, table == ROWS_PROVIDER_TRAITS ? STORE_TRAITS : STORE_AGGREGATES,
                      change->link.other_id);
    }
}

static int64_t set_id(enum rows_table table, const struct change *change)
{
    return table == ROWS_PROVIDERS   ? change->provider.id
           : table == ROWS_CONSUMERS ? change->consumer.id
                                     : change->catalog.id;
}

static bool load_table(struct loading *loading, enum rows_table table)
{
    bool is_link = table == ROWS_PROVIDER_TRAITS || table == ROWS_PROVIDER_AGGREGATES;
    bool is_referred = table < ROWS_INVENTORIES || table == ROWS_CONSUMERS;
    char sql[512];
    snprintf(sql, sizeof(sql), "%s ORDER BY t.%s", rows_select[table], is_link ? "rowid" : "id");
    sqlite3_stmt *rows = db_prepare(&loading->store->writer, sql, loading->err);
    if (rows == NULL)
        return false;
    struct change change;
    int rc;
    while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
        bool is_read = rows_read(table, rows, &change);
        if (!is_read || !wanted(loading, table, &change)) {
            note_skipped(loading, table, rows, &change, is_read);
            continue;
        }
        if (table == ROWS_PROVIDERS)
            tree_order_place(loading->forest, &change.provider);
        if (is_referred)
            id_set_add(&loading->sets[table], set_id(table, &change));
        loading->sink(loading->cls, &change);
    }
    if (rc != SQLITE_DONE)
        store_read_failed(loading->store, loading->err);
    sqlite3_finalize(rows);
    return rc == SQLITE_DONE;
}

static bool load_all(struct loading *loading)
{
    if (!tree_order_read(loading->forest, loading->store, loading->err))
        return false;
    for (int table = 0; table < ROWS_TABLE_COUNT; table++) {
        if (!load_table(loading, (enum rows_table)table))
            return false;
        if (table == ROWS_PROVIDERS)
            loading->sink(loading->cls, &(struct change){.kind = CHANGE_LOAD_PROVIDERS_END});
    }
    return store_load_rows(loading->store, loading->sink, loading->cls, loading->err);
}

/* A load reads each page once. The cache's pages lie among the rows that memory keeps, so the
 * memory of a larger cache is not returned afterwards (8 MiB cost 640 bytes per host with 10 000).
 * Writes access pages all over the file: with a quarter of it in the cache, a claim takes an eighth
 * less time (measured with 100 000 allocations). */
enum { LOAD_SHARE = 64, LOAD_MIN_KIB = 1024, LOAD_MAX_KIB = 8192 };
enum { WRITE_SHARE = 4, WRITE_MIN_KIB = 8192, WRITE_MAX_KIB = 262144 };

/* That fraction of the file, within limits. */
static bool size_cache(struct store *store, int share, int64_t min_kib, int64_t max_kib,
                       struct err *err)
{
    int64_t pages = 0;
    int64_t page_bytes = 0;
    if (!db_query_int(&store->writer, "PRAGMA page_count", &pages, err) ||
        !db_query_int(&store->writer, "PRAGMA page_size", &page_bytes, err))
        return false;
    int64_t kib = pages * page_bytes / 1024 / share;
    kib = kib < min_kib ? min_kib : kib > max_kib ? max_kib : kib;
    char sql[64];
    snprintf(sql, sizeof(sql), "PRAGMA cache_size = -%ld", kib);
    return db_exec(&store->writer, sql, err);
}

static bool load_rows(struct loading *loading)
{
    struct store *store = loading->store;
    struct err *err = loading->err;
    return size_cache(store, LOAD_SHARE, LOAD_MIN_KIB, LOAD_MAX_KIB, err) && load_all(loading) &&
           store_read_next_ids(store, err) &&
           size_cache(store, WRITE_SHARE, WRITE_MIN_KIB, WRITE_MAX_KIB, err);
}

bool store_stream(struct store *store, struct tree_order *forest, store_sink *sink, void *cls,
                  struct err *err)
{
    check(store->transaction.open);
    struct loading loading = {
        .store = store, .sink = sink, .cls = cls, .err = err, .forest = forest};
    skipped_begin(&store->skipped);
    bool ok = load_rows(&loading);
    skipped_end(&store->skipped, store->path);
    counter_set(&store->skipped_rows, store->skipped.rows.count);
    for (int table = 0; table < ROWS_TABLE_COUNT; table++)
        free(loading.sets[table].ids);
    sqlite3_db_release_memory(store->writer.handle);
    if (!ok)
        store->followed.valid = false;
    return ok;
}

enum store_result store_load(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    struct tree_order forest = {0};
    if (!store->mismatches.reads_again)
        store->mismatches = (struct mismatches){0};
    store->mismatches.reads_again = false;
    bool ok = store_stream(store, &forest, sink, cls, err);
    tree_order_free(&forest);
    if (!ok)
        return STORE_FAILED;
    store_mark_followed(store);
    return STORE_OK;
}

/* No counter reaches this value: another program wrote it, and further ids would overflow. */
static const int64_t ID_MAX = INT64_MAX / 2;

/* The largest id in a column that refers to rows of another table. */
#define REFERRED(column, table)                                                                    \
    "(SELECT ifnull(max(" column "), 0) FROM " table " WHERE typeof(" column ") = 'integer'"       \
    " AND " column " < 4611686018427387903)"

bool store_read_next_ids(struct store *store, struct err *err)
{
    static const char *const max_id[STORE_TABLE_COUNT] = {
        [STORE_CLASSES] = "SELECT max(max(id), 9999) FROM resource_classes",
        [STORE_TRAITS] = "SELECT max(id) FROM traits",
        [STORE_AGGREGATES] = "SELECT max(id) FROM placement_aggregates",
        [STORE_PROJECTS] = "SELECT max(id) FROM projects",
        [STORE_USERS] = "SELECT max(id) FROM users",
        [STORE_CONSUMER_TYPES] = "SELECT max(id) FROM consumer_types",
        [STORE_PROVIDERS] = "SELECT max(id) FROM resource_providers",
        [STORE_CONSUMERS] = "SELECT max(id) FROM consumers",
        [STORE_ALLOCATIONS] = "SELECT max(id) FROM allocations",
        /* An allocation may still refer to a node whose row was removed by another program. */
        [STORE_NODES] = "SELECT max(ifnull(max(id), 0), " REFERRED(
            "node_id", "berth_node_allocations") ") FROM berth_nodes",
        [STORE_NODE_ALLOCATIONS] = "SELECT max(id) FROM berth_node_allocations",
        /* The same: rows may refer to others that were removed by another program. */
        [STORE_VALET + VALET_GROUPS] = "SELECT max(ifnull(max(id), 0), " REFERRED(
            "group_id",
            "berth_valet_members") ", " REFERRED("group_id",
                                                 "berth_valet_claims") ") FROM berth_valet_groups",
        [STORE_VALET + VALET_MEMBERS] = "SELECT max(id) FROM berth_valet_members",
        [STORE_VALET + VALET_CLAIMS] = "SELECT max(id) FROM berth_valet_claims",
        [STORE_VALET + VALET_PLANS] = "SELECT max(ifnull(max(id), 0), " REFERRED(
            "plan_id", "berth_valet_placements") ") FROM berth_valet_plans",
        [STORE_VALET + VALET_PLACEMENTS] = "SELECT max(id) FROM berth_valet_placements",
    };
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        int64_t id = 0;
        if (store->read_only &&
            table >= STORE_NODES) /* which may be missing; no ids are needed then */
            continue;
        if (!db_query_int(&store->writer, max_id[table], &id, err))
            return false;
        if (id > ID_MAX)
            return err_set(err, 503, NULL, "the database '%s' has run out of ids",
                           store->writer.path);
        if (store->skipped.referred[table] > id && store->skipped.referred[table] < ID_MAX)
            id = store->skipped.referred[table];
        int64_t next = id < 0 ? 1 : id + 1;
        /* Other services remember nodes by their ids for a while, so an id is never used again. */
        if (table < STORE_NODES || next > store->next_ids[table])
            store->next_ids[table] = next;
    }
    return true;
}
