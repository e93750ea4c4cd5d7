/* Upstream's rows as the records that insert them; a load and a follow read by the same hands.
 *
 * A file may hold anything: a figure beyond 32 bits is cut to them, a text that is no instant is
 * none, a row without the text that names it is invisible. Pure but for the statement. */
#include "store/sqlite/internal.h"

#define CATALOG(table, column)                                                                     \
    "SELECT t.id, t.created_at, t.updated_at, t." column " FROM " table " t"

const char *const rows_select[ROWS_TABLE_COUNT] = {
    [ROWS_CLASSES] = CATALOG("resource_classes", "name"),
    [ROWS_TRAITS] = CATALOG("traits", "name"),
    [ROWS_AGGREGATES] = CATALOG("placement_aggregates", "uuid"),
    [ROWS_PROJECTS] = CATALOG("projects", "external_id"),
    [ROWS_USERS] = CATALOG("users", "external_id"),
    [ROWS_CONSUMER_TYPES] = CATALOG("consumer_types", "name"),
    [ROWS_PROVIDERS] = "SELECT t.id, t.created_at, t.updated_at, t.uuid, t.name, t.generation,"
                       " t.root_provider_id, t.parent_provider_id FROM resource_providers t",
    [ROWS_INVENTORIES] =
        "SELECT t.resource_provider_id, t.created_at, t.updated_at, t.resource_class_id, t.total,"
        " t.reserved, t.min_unit, t.max_unit, t.step_size, t.allocation_ratio FROM inventories t",
    [ROWS_PROVIDER_TRAITS] = "SELECT t.resource_provider_id, t.created_at, t.updated_at,"
                             " t.trait_id FROM resource_provider_traits t",
    [ROWS_PROVIDER_AGGREGATES] = "SELECT t.resource_provider_id, t.created_at, t.updated_at,"
                                 " t.aggregate_id FROM resource_provider_aggregates t",
    [ROWS_CONSUMERS] = "SELECT t.id, t.created_at, t.updated_at, t.uuid, t.project_id, t.user_id,"
                       " t.generation, t.consumer_type_id FROM consumers t",
    /* CROSS JOIN keeps SQLite's planner from turning the join round. */
    [ROWS_ALLOCATIONS] =
        "SELECT t.id, t.created_at, t.updated_at, t.resource_provider_id, t.resource_class_id,"
        " t.used, t.consumer_id, c.id FROM allocations t CROSS JOIN consumers c"
        " ON c.uuid = t.consumer_id",
};

static const enum change_kind insert_kind[ROWS_TABLE_COUNT] = {
    [ROWS_CLASSES] = CHANGE_CLASS_INSERT,
    [ROWS_TRAITS] = CHANGE_TRAIT_INSERT,
    [ROWS_AGGREGATES] = CHANGE_AGGREGATE_INSERT,
    [ROWS_PROJECTS] = CHANGE_PROJECT_INSERT,
    [ROWS_USERS] = CHANGE_USER_INSERT,
    [ROWS_CONSUMER_TYPES] = CHANGE_CONSUMER_TYPE_INSERT,
    [ROWS_PROVIDERS] = CHANGE_PROVIDER_INSERT,
    [ROWS_INVENTORIES] = CHANGE_INVENTORY_INSERT,
    [ROWS_PROVIDER_TRAITS] = CHANGE_PROVIDER_TRAIT_INSERT,
    [ROWS_PROVIDER_AGGREGATES] = CHANGE_PROVIDER_AGGREGATE_INSERT,
    [ROWS_CONSUMERS] = CHANGE_CONSUMER_INSERT,
    [ROWS_ALLOCATIONS] = CHANGE_ALLOCATION_INSERT,
};

enum { UUID_MAX = 36 };

bool rows_uuid_is_visible(struct slice uuid)
{
    return uuid.data != NULL && uuid.len <= UUID_MAX;
}

static int32_t column_i32(sqlite3_stmt *row, int column)
{
    int64_t value = sqlite3_column_int64(row, column);
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static bool read_provider(sqlite3_stmt *row, struct change_provider *provider)
{
    provider->id = sqlite3_column_int64(row, 0);
    provider->uuid = db_column_text(row, 3);
    provider->name = db_column_text(row, 4);
    provider->generation = sqlite3_column_int64(row, 5);
    provider->root_id = sqlite3_column_int64(row, 6);
    provider->parent_id = sqlite3_column_int64(row, 7);
    return rows_uuid_is_visible(provider->uuid);
}

static void read_inventory(sqlite3_stmt *row, struct change_inventory *inventory)
{
    inventory->provider_id = sqlite3_column_int64(row, 0);
    inventory->class_id = sqlite3_column_int64(row, 3);
    inventory->total = column_i32(row, 4);
    inventory->reserved = column_i32(row, 5);
    inventory->min_unit = column_i32(row, 6);
    inventory->max_unit = column_i32(row, 7);
    inventory->step_size = column_i32(row, 8);
    inventory->allocation_ratio = sqlite3_column_double(row, 9);
}

static bool read_consumer(sqlite3_stmt *row, struct change_consumer *consumer)
{
    consumer->id = sqlite3_column_int64(row, 0);
    consumer->uuid = db_column_text(row, 3);
    consumer->project_id = sqlite3_column_int64(row, 4);
    consumer->user_id = sqlite3_column_int64(row, 5);
    consumer->generation = sqlite3_column_int64(row, 6);
    consumer->expected_generation = consumer->generation;
    consumer->type_id = sqlite3_column_int64(row, 7);
    return rows_uuid_is_visible(consumer->uuid);
}

static void read_allocation(sqlite3_stmt *row, struct change_allocation *allocation)
{
    allocation->id = sqlite3_column_int64(row, 0);
    allocation->provider_id = sqlite3_column_int64(row, 3);
    allocation->class_id = sqlite3_column_int64(row, 4);
    allocation->used = sqlite3_column_int64(row, 5);
    allocation->consumer_uuid = db_column_text(row, 6);
    allocation->consumer_id = sqlite3_column_int64(row, 7);
}

bool rows_read(enum rows_table table, sqlite3_stmt *row, struct change *change)
{
    *change = (struct change){
        .kind = insert_kind[table],
        .created_at_us = instant_parse(db_column_text(row, 1)),
        .updated_at_us = instant_parse(db_column_text(row, 2)),
    };
    switch (table) {
    case ROWS_PROVIDERS:
        return read_provider(row, &change->provider);
    case ROWS_INVENTORIES:
        read_inventory(row, &change->inventory);
        return true;
    case ROWS_PROVIDER_TRAITS:
    case ROWS_PROVIDER_AGGREGATES:
        change->link.provider_id = sqlite3_column_int64(row, 0);
        change->link.other_id = sqlite3_column_int64(row, 3);
        return true;
    case ROWS_CONSUMERS:
        return read_consumer(row, &change->consumer);
    case ROWS_ALLOCATIONS:
        read_allocation(row, &change->allocation);
        return true;
    case ROWS_CLASSES:
    case ROWS_TRAITS:
    case ROWS_AGGREGATES:
    case ROWS_PROJECTS:
    case ROWS_USERS:
    case ROWS_CONSUMER_TYPES:
    case ROWS_TABLE_COUNT:
        break;
    }
    change->catalog.id = sqlite3_column_int64(row, 0);
    change->catalog.name = db_column_text(row, 3);
    return change->catalog.name.data != NULL;
}
