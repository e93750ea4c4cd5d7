/* See rows.h. A database may contain anything: what no service writes is cut to what the API
 * allows, or the row is left out. Pure; any thread. */
#include "store/rows.h"

#include <stddef.h>

#include "base/arena.h"
#include "store/record_rows.h"

#define FIELD(field)                                                                               \
    .at = offsetof(struct change, field), .bytes = sizeof(((struct change *)0)->field)
#define COLUMN(text, kind, options, field)                                                         \
    {                                                                                              \
        .name = (text), .cell = (kind), .flags = (options), FIELD(field)                           \
    }
#define TEXT(text, most, options, field)                                                           \
    {                                                                                              \
        .name = (text), .cell = CELL_TEXT, .flags = (options), .chars = (most), FIELD(field)       \
    }
#define REFERENCE(text, table, options, field)                                                     \
    {                                                                                              \
        .name = (text), .cell = CELL_INTEGER, .flags = ROWS_REFERS | (options),                    \
        .refers_to = (table), FIELD(field)                                                         \
    }
#define TIMES                                                                                      \
    COLUMN("created_at", CELL_TIME, 0, created_at_us),                                             \
        COLUMN("updated_at", CELL_TIME, 0, updated_at_us)

#define CATALOG(text, most)                                                                        \
    {                                                                                              \
        COLUMN("id", CELL_INTEGER, ROWS_NEEDED, catalog.id), TIMES,                                \
            TEXT((text), (most), ROWS_NEEDED, catalog.name)                                        \
    }
static const struct rows_column named[] = CATALOG("name", 255);
static const struct rows_column with_uuid[] = CATALOG("uuid", 36);
static const struct rows_column external[] = CATALOG("external_id", 255);

static const struct rows_column providers[] = {
    COLUMN("id", CELL_INTEGER, ROWS_NEEDED, provider.id),
    TIMES,
    TEXT("uuid", 36, ROWS_NEEDED | ROWS_IS_UUID, provider.uuid),
    TEXT("name", 200, 0, provider.name),
    COLUMN("generation", CELL_NUMBER, 0, provider.generation),
    /* Where they refer to no row, the tree begins (tree_order.h). */
    COLUMN("root_provider_id", CELL_INTEGER, 0, provider.root_id),
    COLUMN("parent_provider_id", CELL_INTEGER, 0, provider.parent_id),
};

static const struct rows_column parents[] = {
    COLUMN("id", CELL_INTEGER, ROWS_NEEDED, provider.id),
    TEXT("uuid", 36, ROWS_NEEDED | ROWS_IS_UUID, provider.uuid),
    COLUMN("parent_provider_id", CELL_INTEGER, 0, provider.parent_id),
};

static const struct rows_column inventories[] = {
    REFERENCE("resource_provider_id", ROWS_PROVIDERS, ROWS_NEEDED, inventory.provider_id),
    TIMES,
    REFERENCE("resource_class_id", ROWS_CLASSES, ROWS_NEEDED, inventory.class_id),
    COLUMN("total", CELL_NUMBER, 0, inventory.total),
    COLUMN("reserved", CELL_NUMBER, 0, inventory.reserved),
    COLUMN("min_unit", CELL_NUMBER, 0, inventory.min_unit),
    COLUMN("max_unit", CELL_NUMBER, 0, inventory.max_unit),
    COLUMN("step_size", CELL_NUMBER, 0, inventory.step_size),
    COLUMN("allocation_ratio", CELL_RATIO, 0, inventory.allocation_ratio),
};

#define LINKS(text, table)                                                                         \
    {                                                                                              \
        REFERENCE("resource_provider_id", ROWS_PROVIDERS, ROWS_NEEDED, link.provider_id), TIMES,   \
            REFERENCE((text), (table), ROWS_NEEDED, link.other_id)                                 \
    }
static const struct rows_column provider_traits[] = LINKS("trait_id", ROWS_TRAITS);
static const struct rows_column provider_aggregates[] = LINKS("aggregate_id", ROWS_AGGREGATES);

static const struct rows_column consumers[] = {
    COLUMN("id", CELL_INTEGER, ROWS_NEEDED, consumer.id),
    TIMES,
    TEXT("uuid", 36, ROWS_NEEDED | ROWS_IS_UUID, consumer.uuid),
    REFERENCE("project_id", ROWS_PROJECTS, ROWS_NEEDED, consumer.project_id),
    REFERENCE("user_id", ROWS_USERS, ROWS_NEEDED, consumer.user_id),
    COLUMN("generation", CELL_NUMBER, 0, consumer.generation),
    REFERENCE("consumer_type_id", ROWS_CONSUMER_TYPES, 0, consumer.type_id),
};

static const struct rows_column allocations[] = {
    COLUMN("id", CELL_INTEGER, ROWS_NEEDED, allocation.id),
    TIMES,
    TEXT("consumer_id", 36, ROWS_NEEDED, allocation.consumer_uuid),
    REFERENCE("resource_provider_id", ROWS_PROVIDERS, ROWS_NEEDED, allocation.provider_id),
    REFERENCE("resource_class_id", ROWS_CLASSES, ROWS_NEEDED, allocation.class_id),
    COLUMN("used", CELL_NUMBER, 0, allocation.used),
    REFERENCE("id", ROWS_CONSUMERS, ROWS_NEEDED | ROWS_OF_CONSUMER, allocation.consumer_id),
};

#define TABLE(text, kind, table, list)                                                             \
    {                                                                                              \
        (text), (kind), (table), (list), sizeof(list) / sizeof((list)[0])                          \
    }
static const struct rows_info upstream[ROWS_RECORDS] = {
    [ROWS_CLASSES] = TABLE("resource_classes", CHANGE_CLASS_INSERT, STORE_CLASSES, named),
    [ROWS_TRAITS] = TABLE("traits", CHANGE_TRAIT_INSERT, STORE_TRAITS, named),
    [ROWS_AGGREGATES] =
        TABLE("placement_aggregates", CHANGE_AGGREGATE_INSERT, STORE_AGGREGATES, with_uuid),
    [ROWS_PROJECTS] = TABLE("projects", CHANGE_PROJECT_INSERT, STORE_PROJECTS, external),
    [ROWS_USERS] = TABLE("users", CHANGE_USER_INSERT, STORE_USERS, external),
    [ROWS_CONSUMER_TYPES] =
        TABLE("consumer_types", CHANGE_CONSUMER_TYPE_INSERT, STORE_CONSUMER_TYPES, named),
    [ROWS_PROVIDERS] =
        TABLE("resource_providers", CHANGE_PROVIDER_INSERT, STORE_PROVIDERS, providers),
    [ROWS_INVENTORIES] =
        TABLE("inventories", CHANGE_INVENTORY_INSERT, STORE_TABLE_COUNT, inventories),
    [ROWS_PROVIDER_TRAITS] = TABLE("resource_provider_traits", CHANGE_PROVIDER_TRAIT_INSERT,
                                   STORE_TABLE_COUNT, provider_traits),
    [ROWS_PROVIDER_AGGREGATES] =
        TABLE("resource_provider_aggregates", CHANGE_PROVIDER_AGGREGATE_INSERT, STORE_TABLE_COUNT,
              provider_aggregates),
    [ROWS_CONSUMERS] = TABLE("consumers", CHANGE_CONSUMER_INSERT, STORE_CONSUMERS, consumers),
    [ROWS_ALLOCATIONS] =
        TABLE("allocations", CHANGE_ALLOCATION_INSERT, STORE_ALLOCATIONS, allocations),
};
static const struct rows_info parents_info =
    TABLE("resource_providers", CHANGE_PROVIDER_INSERT, STORE_PROVIDERS, parents);

/* The API's limit for allocation_ratio: a client may send back the value that it was shown. */
static const double ratio_max = 3.40282e+38;

const struct rows_info *rows_info(enum rows_table table)
{
    if (table == ROWS_PARENTS)
        return &parents_info;
    if (table == ROWS_HOLDERS)
        return &upstream[ROWS_ALLOCATIONS];
    return table < ROWS_RECORDS ? &upstream[table] : NULL;
}

const struct record_table_info *rows_record_info(enum rows_table table)
{
    return rows_is_record(table) ? &record_tables[table - ROWS_RECORDS] : NULL;
}

const char *rows_name(enum rows_table table)
{
    return rows_is_record(table) ? rows_record_info(table)->name : rows_info(table)->name;
}

unsigned rows_cell_kinds(enum rows_table table, uint8_t kinds[static ROWS_CELLS_MAX])
{
    if (rows_is_record(table))
        return record_rows_cell_kinds(rows_record_info(table), kinds);
    const struct rows_info *info = rows_info(table);
    for (unsigned i = 0; i < info->count; i++)
        kinds[i] = (uint8_t)info->columns[i].cell;
    return info->count;
}

static int64_t limit_number(int64_t number)
{
    return number > INT32_MAX ? INT32_MAX : number < INT32_MIN ? INT32_MIN : number;
}

static double limit_ratio(double ratio)
{
    return ratio > ratio_max ? ratio_max : ratio < -ratio_max ? -ratio_max : ratio;
}

/* Sets the column's field. A text that need not be there is empty, not absent. */
static void set_field(const struct rows_column *column, const struct cell *cell, void *field)
{
    switch (column->cell) {
    case CELL_INTEGER:
    case CELL_TIME:
        *(int64_t *)field = cell->integer;
        return;
    case CELL_NUMBER:
        if (column->bytes == sizeof(int32_t))
            *(int32_t *)field = (int32_t)limit_number(cell->integer);
        else
            *(int64_t *)field = limit_number(cell->integer);
        return;
    case CELL_RATIO:
        *(double *)field = limit_ratio(cell->ratio);
        return;
    case CELL_TEXT:
        *(struct slice *)field =
            cell->is_null && (column->flags & ROWS_NEEDED) == 0 ? SLICE_LIT("") : cell->text;
        return;
    }
}

static bool is_valid(const struct rows_column *column, const struct cell *cell)
{
    if (column->flags == 0)
        return true;
    if (cell->is_null)
        return (column->flags & ROWS_NEEDED) == 0;
    return (column->flags & ROWS_IS_UUID) == 0 || cell_is_uuid(cell->text);
}

static bool change_of_record(enum rows_table table, const struct cell *cells, struct arena *arena,
                             struct change *change)
{
    const struct record_table_info *info = rows_record_info(table);
    const struct record *record = record_rows_pack(info, cells, arena);
    int64_t id = cells[0].integer;
    *change = (struct change){.kind = info->put, .row = {id, record}};
    return record != NULL;
}

bool rows_change(enum rows_table table, const struct cell *cells, struct arena *arena,
                 struct change *change)
{
    if (rows_is_record(table))
        return change_of_record(table, cells, arena, change);
    const struct rows_info *info = rows_info(table);
    bool is_visible = true;
    *change = (struct change){.kind = info->insert};
    for (unsigned i = 0; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        set_field(column, &cells[i], (char *)change + column->at);
        is_visible &= is_valid(column, &cells[i]);
    }
    if (table == ROWS_CONSUMERS)
        change->consumer.expected_generation = change->consumer.generation;
    return is_visible;
}

void rows_copy_texts(enum rows_table table, struct arena *arena, struct change *change)
{
    const struct rows_info *info = rows_info(table);
    for (unsigned i = 0; info != NULL && i < info->count; i++) {
        struct slice *text = (struct slice *)(void *)((char *)change + info->columns[i].at);
        if (info->columns[i].cell == CELL_TEXT && text->data != NULL)
            *text = arena_copy(arena, *text);
    }
}

enum rows_table rows_inserted_by(enum change_kind kind)
{
    for (int table = 0; table < ROWS_RECORDS; table++)
        if (upstream[table].insert == kind)
            return (enum rows_table)table;
    return ROWS_TABLE_COUNT;
}

enum rows_table rows_written_by(enum change_kind kind)
{
    switch (kind) {
    case CHANGE_CLASS_RENAME:
        return ROWS_CLASSES;
    case CHANGE_PROVIDER_UPDATE:
        return ROWS_PROVIDERS;
    case CHANGE_INVENTORY_UPDATE:
        return ROWS_INVENTORIES;
    case CHANGE_CONSUMER_UPDATE:
        return ROWS_CONSUMERS;
    default:
        return rows_inserted_by(kind);
    }
}

void rows_append_into(struct buf *sql, enum rows_table table, unsigned rows, char mark)
{
    const struct rows_info *info = rows_info(table);
    unsigned parameters = 2;
    buf_printf(sql, "INTO %s (created_at, updated_at", info->name);
    for (unsigned i = 0; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        if (column->cell == CELL_TIME || (column->flags & ROWS_OF_CONSUMER) != 0)
            continue;
        buf_printf(sql, ", %s", column->name);
        parameters++;
    }
    buf_append_lit(sql, ") VALUES ");
    for (unsigned i = 0; i < rows * parameters; i++)
        buf_printf(sql, "%s%c%u%s",
                   i == 0                ? "("
                   : i % parameters == 0 ? ", ("
                                         : ", ",
                   mark, i + 1, i % parameters == parameters - 1 ? ")" : "");
}
