/* Reads the rows of one entity again for a follow.
 *
 * Rows that refer to a missing row are left out, as in a load. Writer thread, inside its
 * transaction. */
#include <stdio.h>

#include "base/arena.h"
#include "store/sqlite/internal.h"

#define VISIBLE_PROVIDER                                                                           \
    " AND EXISTS (SELECT 1 FROM resource_providers p WHERE p.id = t.resource_provider_id"          \
    " AND " ROWS_UUID_IS_VISIBLE("p.uuid") ")"
#define KNOWN(table, name, reference)                                                              \
    " AND EXISTS (SELECT 1 FROM " table " k WHERE k.id = " reference " AND typeof(k." name         \
    ") = 'text')"
#define KNOWN_CLASS KNOWN("resource_classes", "name", "t.resource_class_id")

static const char *const follow_where[ROWS_TABLE_COUNT] = {
    [ROWS_CLASSES] = "t.id = ?1",
    [ROWS_TRAITS] = "t.id = ?1",
    [ROWS_AGGREGATES] = "t.id = ?1",
    [ROWS_PROJECTS] = "t.id = ?1",
    [ROWS_USERS] = "t.id = ?1",
    [ROWS_CONSUMER_TYPES] = "t.id = ?1",
    [ROWS_PROVIDERS] = "t.id = ?1",
    [ROWS_INVENTORIES] = "t.resource_provider_id = ?1" KNOWN_CLASS " ORDER BY t.id",
    [ROWS_PROVIDER_TRAITS] =
        "t.resource_provider_id = ?1" KNOWN("traits", "name", "t.trait_id") " ORDER BY t.rowid",
    [ROWS_PROVIDER_AGGREGATES] = "t.resource_provider_id = ?1" KNOWN(
        "placement_aggregates", "uuid", "t.aggregate_id") " ORDER BY t.rowid",
    [ROWS_CONSUMERS] = "t.id = ?1" KNOWN("projects", "external_id", "t.project_id")
        KNOWN("users", "external_id", "t.user_id"),
    [ROWS_ALLOCATIONS] = "t.consumer_id = ?1" VISIBLE_PROVIDER KNOWN_CLASS,
};

static sqlite3_stmt *rows_of(struct store *store, enum rows_table table, struct err *err)
{
    if (store->follow_statements[table] == NULL) {
        char sql[1024];
        snprintf(sql, sizeof(sql), "%s WHERE %s", rows_select[table], follow_where[table]);
        store->follow_statements[table] = db_prepare(&store->writer, sql, err);
    }
    return store->follow_statements[table];
}

static void follow_rows_keep(struct change_list *list, const struct change *change)
{
    struct change *kept = change_append(list, change->kind);
    *kept = *change;
    switch (change->kind) {
    case CHANGE_PROVIDER_INSERT:
        kept->provider.uuid = arena_copy(list->arena, change->provider.uuid);
        if (change->provider.name.data != NULL)
            kept->provider.name = arena_copy(list->arena, change->provider.name);
        return;
    case CHANGE_CONSUMER_INSERT:
        kept->consumer.uuid = arena_copy(list->arena, change->consumer.uuid);
        return;
    case CHANGE_ALLOCATION_INSERT:
        kept->allocation.consumer_uuid = arena_copy(list->arena, change->allocation.consumer_uuid);
        return;
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
        return;
    default:
        kept->catalog.name = arena_copy(list->arena, change->catalog.name);
    }
}

/* Appends the rows that the statement returns; its parameter is bound. */
static bool read_rows(struct store *store, enum rows_table table, struct change_list *list,
                      struct err *err)
{
    sqlite3_stmt *rows = store->follow_statements[table];
    struct change change;
    int rc;
    while ((rc = sqlite3_step(rows)) == SQLITE_ROW)
        if (rows_read(table, rows, &change))
            follow_rows_keep(list, &change);
    if (rc != SQLITE_DONE)
        store_read_failed(store, err);
    sqlite3_reset(rows);
    return rc == SQLITE_DONE;
}

bool store_reread(struct store *store, enum rows_table table, int64_t id, struct change_list *list,
                  struct err *err)
{
    sqlite3_stmt *rows = rows_of(store, table, err);
    if (rows == NULL)
        return false;
    sqlite3_bind_int64(rows, 1, id);
    return read_rows(store, table, list, err);
}

bool store_reread_allocations(struct store *store, struct slice consumer_uuid,
                              struct change_list *list, struct err *err)
{
    sqlite3_stmt *rows = rows_of(store, ROWS_ALLOCATIONS, err);
    if (rows == NULL)
        return false;
    sqlite3_bind_text64(rows, 1, consumer_uuid.data, consumer_uuid.len, SQLITE_TRANSIENT,
                        SQLITE_UTF8);
    return read_rows(store, ROWS_ALLOCATIONS, list, err);
}
