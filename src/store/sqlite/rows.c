/* Converts upstream's rows to the records that insert them; a load and a follow use the same code.
 *
 * A file may contain anything: a number outside the range that the API accepts is limited to it, a
 * text that is not a timestamp counts as none, a reference that is not an integer refers to
 * nothing, and a row without the text that names it (NULL and BLOBs do not count) is invisible.
 * Pure except for the statement. */
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
    /* CROSS JOIN keeps SQLite's planner from reordering the join. */
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

const char *rows_table_name(enum rows_table table)
{
    static const char *const names[ROWS_TABLE_COUNT] = {
        [ROWS_CLASSES] = "resource_classes",
        [ROWS_TRAITS] = "traits",
        [ROWS_AGGREGATES] = "placement_aggregates",
        [ROWS_PROJECTS] = "projects",
        [ROWS_USERS] = "users",
        [ROWS_CONSUMER_TYPES] = "consumer_types",
        [ROWS_PROVIDERS] = "resource_providers",
        [ROWS_INVENTORIES] = "inventories",
        [ROWS_PROVIDER_TRAITS] = "resource_provider_traits",
        [ROWS_PROVIDER_AGGREGATES] = "resource_provider_aggregates",
        [ROWS_CONSUMERS] = "consumers",
        [ROWS_ALLOCATIONS] = "allocations",
    };
    return names[table];
}

enum { UUID_MAX = 36 };

/* The API's limit for allocation_ratio: a client may send back the value that it was shown. */
static const double ratio_max = 3.40282e+38;

/* A name's text; data is NULL if there is none. */
static struct slice column_name(sqlite3_stmt *row, int column)
{
    if (sqlite3_column_type(row, column) != SQLITE_TEXT)
        return (struct slice){NULL, 0};
    return db_column_text(row, column);
}

bool rows_read_uuid(sqlite3_stmt *row, int column, struct slice *uuid)
{
    *uuid = column_name(row, column);
    if (uuid->len == 0 || uuid->len > UUID_MAX)
        return false;
    for (size_t i = 0; i < uuid->len; i++) {
        char c = uuid->data[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            return false;
    }
    return true;
}

static bool column_id(sqlite3_stmt *row, int column, int64_t *id)
{
    bool is_id = sqlite3_column_type(row, column) == SQLITE_INTEGER;
    *id = sqlite3_column_int64(row, column);
    return is_id;
}

int64_t rows_read_optional_id(sqlite3_stmt *row, int column)
{
    int64_t id;
    return column_id(row, column, &id) ? id : 0;
}

static int32_t column_i32(sqlite3_stmt *row, int column)
{
    int64_t value = sqlite3_column_int64(row, column);
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static double column_ratio(sqlite3_stmt *row, int column)
{
    int type = sqlite3_column_type(row, column);
    if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
        return 0;
    double value = sqlite3_column_double(row, column);
    return value > ratio_max ? ratio_max : value < -ratio_max ? -ratio_max : value;
}

static bool read_provider(sqlite3_stmt *row, struct change_provider *provider)
{
    provider->id = sqlite3_column_int64(row, 0);
    provider->name = column_name(row, 4);
    if (provider->name.data == NULL)
        provider->name = SLICE_LIT("");
    provider->generation = column_i32(row, 5);
    provider->root_id = rows_read_optional_id(row, 6);
    provider->parent_id = rows_read_optional_id(row, 7);
    return rows_read_uuid(row, 3, &provider->uuid);
}

static bool read_inventory(sqlite3_stmt *row, struct change_inventory *inventory)
{
    inventory->total = column_i32(row, 4);
    inventory->reserved = column_i32(row, 5);
    inventory->min_unit = column_i32(row, 6);
    inventory->max_unit = column_i32(row, 7);
    inventory->step_size = column_i32(row, 8);
    inventory->allocation_ratio = column_ratio(row, 9);
    return column_id(row, 0, &inventory->provider_id) && column_id(row, 3, &inventory->class_id);
}

static bool read_link(sqlite3_stmt *row, struct change_link *link)
{
    return column_id(row, 0, &link->provider_id) && column_id(row, 3, &link->other_id);
}

static bool read_consumer(sqlite3_stmt *row, struct change_consumer *consumer)
{
    consumer->id = sqlite3_column_int64(row, 0);
    consumer->generation = column_i32(row, 6);
    consumer->expected_generation = consumer->generation;
    consumer->type_id = rows_read_optional_id(row, 7);
    return rows_read_uuid(row, 3, &consumer->uuid) && column_id(row, 4, &consumer->project_id) &&
           column_id(row, 5, &consumer->user_id);
}

static bool read_allocation(sqlite3_stmt *row, struct change_allocation *allocation)
{
    allocation->id = sqlite3_column_int64(row, 0);
    allocation->used = column_i32(row, 5);
    allocation->consumer_id = sqlite3_column_int64(row, 7);
    allocation->consumer_uuid = column_name(row, 6); /* visible if its consumer is */
    return allocation->consumer_uuid.data != NULL && column_id(row, 3, &allocation->provider_id) &&
           column_id(row, 4, &allocation->class_id);
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
        return read_inventory(row, &change->inventory);
    case ROWS_PROVIDER_TRAITS:
    case ROWS_PROVIDER_AGGREGATES:
        return read_link(row, &change->link);
    case ROWS_CONSUMERS:
        return read_consumer(row, &change->consumer);
    case ROWS_ALLOCATIONS:
        return read_allocation(row, &change->allocation);
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
    change->catalog.name = column_name(row, 3);
    return change->catalog.name.data != NULL;
}
