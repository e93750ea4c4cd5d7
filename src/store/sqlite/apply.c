/* One request's changes as statements, in the transaction of the batch.
 *
 * Memory decided; the database only has to agree. Generations move by compare-and-swap, and a row
 * that is to be altered must be there: where it is not, memory and database differ, the transaction
 * fails and the next begin reads everything anew. Writer thread only. */
#include "store/sqlite/internal.h"

static void bind_text(sqlite3_stmt *statement, int at, struct slice text)
{
    /* The list owns the text beyond the step. */
    sqlite3_bind_text64(statement, at, text.data, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static void bind_id(sqlite3_stmt *statement, int at, int64_t id)
{
    if (id == 0)
        sqlite3_bind_null(statement, at);
    else
        sqlite3_bind_int64(statement, at, id);
}

static void bind_provider(sqlite3_stmt *statement, const struct change_provider *provider)
{
    sqlite3_bind_int64(statement, 3, provider->id);
    if (sqlite3_bind_parameter_count(statement) < 4)
        return;
    bind_text(statement, 4, provider->uuid);
    bind_text(statement, 5, provider->name);
    sqlite3_bind_int64(statement, 6, provider->generation);
    bind_id(statement, 7, provider->root_id);
    bind_id(statement, 8, provider->parent_id);
}

static void bind_inventory(sqlite3_stmt *statement, const struct change_inventory *inventory)
{
    sqlite3_bind_int64(statement, 3, inventory->provider_id);
    sqlite3_bind_int64(statement, 4, inventory->class_id);
    if (sqlite3_bind_parameter_count(statement) < 5)
        return;
    sqlite3_bind_int(statement, 5, inventory->total);
    sqlite3_bind_int(statement, 6, inventory->reserved);
    sqlite3_bind_int(statement, 7, inventory->min_unit);
    sqlite3_bind_int(statement, 8, inventory->max_unit);
    sqlite3_bind_int(statement, 9, inventory->step_size);
    sqlite3_bind_double(statement, 10, inventory->allocation_ratio);
}

static void bind_consumer(sqlite3_stmt *statement, const struct change_consumer *consumer)
{
    sqlite3_bind_int64(statement, 3, consumer->id);
    if (sqlite3_bind_parameter_count(statement) < 4)
        return;
    bind_text(statement, 4, consumer->uuid);
    sqlite3_bind_int64(statement, 5, consumer->project_id);
    sqlite3_bind_int64(statement, 6, consumer->user_id);
    sqlite3_bind_int64(statement, 7, consumer->generation);
    bind_id(statement, 8, consumer->type_id);
    sqlite3_bind_int64(statement, 9, consumer->expected_generation);
}

static void bind_allocation(sqlite3_stmt *statement, const struct change_allocation *allocation)
{
    bind_id(statement, 3, allocation->id);
    bind_text(statement, 4, allocation->consumer_uuid);
    if (sqlite3_bind_parameter_count(statement) < 5)
        return;
    sqlite3_bind_int64(statement, 5, allocation->provider_id);
    sqlite3_bind_int64(statement, 6, allocation->class_id);
    sqlite3_bind_int64(statement, 7, allocation->used);
}

static void bind_change(struct store *store, sqlite3_stmt *statement, const struct change *change)
{
    if (record_table_of(change->kind) != NULL) {
        store_bind_row(store, statement, change);
        return;
    }
    store_bind_instant(store, statement, 1, change->created_at_us);
    store_bind_instant(store, statement, 2, change->updated_at_us);
    switch (change->kind) {
    case CHANGE_CLASS_INSERT:
    case CHANGE_CLASS_RENAME:
    case CHANGE_TRAIT_INSERT:
    case CHANGE_AGGREGATE_INSERT:
    case CHANGE_PROJECT_INSERT:
    case CHANGE_USER_INSERT:
    case CHANGE_CONSUMER_TYPE_INSERT:
        bind_text(statement, 4, change->catalog.name);
        sqlite3_bind_int64(statement, 3, change->catalog.id);
        return;
    case CHANGE_CLASS_DELETE:
    case CHANGE_TRAIT_DELETE:
        sqlite3_bind_int64(statement, 3, change->catalog.id);
        return;
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
    case CHANGE_PROVIDER_DELETE:
        bind_provider(statement, &change->provider);
        return;
    case CHANGE_PROVIDER_GENERATION:
        sqlite3_bind_int64(statement, 3, change->generation.provider_id);
        sqlite3_bind_int64(statement, 4, change->generation.next);
        sqlite3_bind_int64(statement, 5, change->generation.expected);
        return;
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_UPDATE:
    case CHANGE_INVENTORY_DELETE:
        bind_inventory(statement, &change->inventory);
        return;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        sqlite3_bind_int64(statement, 3, change->link.provider_id);
        sqlite3_bind_int64(statement, 4, change->link.other_id);
        return;
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
        bind_consumer(statement, &change->consumer);
        return;
    case CHANGE_ALLOCATION_INSERT:
    case CHANGE_ALLOCATIONS_OF_DELETE:
        bind_allocation(statement, &change->allocation);
        return;
    case CHANGE_NODE_PUT:
    case CHANGE_NODE_DELETE:
    case CHANGE_NODE_ALLOCATION_PUT:
    case CHANGE_NODE_ALLOCATION_DELETE:
    case CHANGE_VALET_CASES:
    case CHANGE_LOAD_PROVIDERS_END:
    case CHANGE_FOLLOW_PROVIDER_RESET:
    case CHANGE_FOLLOW_CONSUMER_RESET:
    case CHANGE_KIND_COUNT:
        break;
    }
    check(false);
}

static enum store_result apply_one(struct store *store, const struct change *change,
                                   struct err *err)
{
    sqlite3_stmt *statement = store_statement(store, STATEMENT_CHANGE + (int)change->kind, err);
    if (statement == NULL)
        return STORE_FAILED;
    bind_change(store, statement, change);
    if (!store_step(store, statement, err)) {
        if (sqlite3_errcode(store->writer.handle) != SQLITE_CONSTRAINT)
            return STORE_FAILED;
        /* The database holds what memory does not know of. */
        store->followed.valid = false;
        return STORE_REFUSED;
    }
    if (change->kind != CHANGE_ALLOCATIONS_OF_DELETE &&
        sqlite3_changes(store->writer.handle) != 1) {
        store->followed.valid = false;
        err_set(err, 503, NULL,
                "the database '%s' does not hold what it was read to hold; it is read again",
                store->writer.path);
        return STORE_REFUSED;
    }
    log_append(&store->transaction.touched, change);
    return STORE_OK;
}

enum store_result store_apply(struct store *store, const struct change_list *changes,
                              struct err *err)
{
    check(store->transaction.open && store->transaction.intent == STORE_TO_WRITE);
    for (size_t i = 0; i < changes->count; i++) {
        enum store_result result = apply_one(store, &changes->items[i], err);
        if (result != STORE_OK) {
            store->transaction.failed = true;
            return result;
        }
    }
    return STORE_OK;
}
