/* See copy_tables.h. Upstream's tables are described by rows.h, except for what memory does not
 * need to know. Pure; any thread. */
#include "store/copy_tables.h"

#include "base/arena.h"
#include "store/record_rows.h"

const struct copy_reference copy_references[COPY_REFERENCES] = {
    {ROWS_PROVIDERS, "root_provider_id", ROWS_PROVIDERS},
    {ROWS_PROVIDERS, "parent_provider_id", ROWS_PROVIDERS},
    {ROWS_PROVIDER_TRAITS, "resource_provider_id", ROWS_PROVIDERS},
    {ROWS_PROVIDER_TRAITS, "trait_id", ROWS_TRAITS},
    {ROWS_CONSUMERS, "consumer_type_id", ROWS_CONSUMER_TYPES},
};

const struct copy_unique copy_uniques[COPY_UNIQUES] = {
    {ROWS_CLASSES, "name"},         {ROWS_TRAITS, "name"},       {ROWS_AGGREGATES, "uuid"},
    {ROWS_PROJECTS, "external_id"}, {ROWS_USERS, "external_id"}, {ROWS_CONSUMER_TYPES, "name"},
    {ROWS_PROVIDERS, "uuid"},       {ROWS_PROVIDERS, "name"},    {ROWS_CONSUMERS, "uuid"},
};

/* Of upstream's columns, besides all times. */
static bool may_be_null(enum rows_table table, const char *column)
{
    static const struct {
        enum rows_table table;
        const char *column;
    } columns[] = {
        {ROWS_AGGREGATES, "uuid"},
        {ROWS_PROVIDERS, "name"},
        {ROWS_PROVIDERS, "generation"},
        {ROWS_PROVIDERS, "root_provider_id"},
        {ROWS_PROVIDERS, "parent_provider_id"},
        {ROWS_CONSUMERS, "consumer_type_id"},
    };
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        if (columns[i].table == table && strcmp(columns[i].column, column) == 0)
            return true;
    return false;
}

static void add_column(struct copy_table *description, struct copy_column column)
{
    check(description->count < COPY_COLUMNS_MOST);
    description->columns[description->count++] = column;
}

static void set_key(struct copy_table *description, const char *first, const char *second)
{
    description->key[0] = copy_table_find(description, first);
    description->key_count = 1;
    if (second != NULL)
        description->key[description->key_count++] = copy_table_find(description, second);
}

static void describe_upstream(enum rows_table table, struct copy_table *description)
{
    const struct rows_info *info = rows_info(table);
    const struct copy_column id = {
        .name = "id", .cell = CELL_INTEGER, .is_needed = true, .in_rows = COPY_NOT_IN_ROWS};
    if (table == ROWS_INVENTORIES)
        add_column(description, id);
    for (unsigned i = 0; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        if ((column->flags & ROWS_OF_CONSUMER) != 0)
            continue;
        add_column(description,
                   (struct copy_column){
                       .name = column->name,
                       .cell = column->cell == CELL_NUMBER ? CELL_INTEGER : column->cell,
                       .is_needed = column->cell != CELL_TIME && !may_be_null(table, column->name),
                       .in_rows = i,
                   });
    }
    if (table == ROWS_PROVIDER_TRAITS)
        set_key(description, "trait_id", "resource_provider_id");
    else if (table == ROWS_PROVIDER_AGGREGATES)
        set_key(description, "resource_provider_id", "aggregate_id");
    else
        set_key(description, "id", NULL);
}

static void describe_records(enum rows_table table, struct copy_table *description)
{
    const struct record_table_info *info = rows_record_info(table);
    uint8_t kinds[ROWS_CELLS_MAX];
    unsigned count = record_rows_cell_kinds(info, kinds);
    for (unsigned i = 0; i < count; i++) {
        const struct record_field *field = i == 0 ? NULL : &info->shape->fields[i - 1];
        add_column(description, (struct copy_column){
                                    .name = field == NULL ? "id" : field->name,
                                    .cell = (enum cell_kind)kinds[i],
                                    .is_needed = field == NULL,
                                    .is_wide = true,
                                    .is_bool = field != NULL && field->kind == RECORD_BOOL,
                                    .is_json = field != NULL && field->kind == RECORD_JSON,
                                    .is_short = field != NULL && field->kind == RECORD_TEXT &&
                                                (field->flags & RECORD_UNIQUE) != 0,
                                    .in_rows = COPY_NOT_IN_ROWS,
                                });
    }
    set_key(description, "id", NULL);
}

void copy_table_describe(enum rows_table table, struct copy_table *description)
{
    *description = (struct copy_table){.name = rows_name(table), .rows = table};
    if (rows_is_record(table))
        describe_records(table, description);
    else
        describe_upstream(table, description);
}

unsigned copy_table_find(const struct copy_table *table, const char *column)
{
    for (unsigned i = 0; i < table->count; i++)
        if (strcmp(table->columns[i].name, column) == 0)
            return i;
    check(false);
    return 0;
}

void copy_table_append_columns(const struct copy_table *table, const char *prefix, char quote,
                               struct buf *sql)
{
    for (unsigned i = 0; i < table->count; i++)
        buf_printf(sql, "%s%s%c%s%c", i == 0 ? "" : ", ", prefix, quote, table->columns[i].name,
                   quote);
}

void copy_table_append_order(const struct copy_table *table, struct buf *sql)
{
    for (unsigned i = 0; i < table->key_count; i++)
        buf_printf(sql, "%s%s", i == 0 ? " ORDER BY " : ", ", table->columns[table->key[i]].name);
}

struct slice copy_table_row_name(const struct copy_table *table, const struct cell *cells,
                                 struct arena *arena)
{
    unsigned first = table->key[0];
    unsigned second = table->key[table->key_count - 1];
    if (first == second)
        return arena_printf(arena, "%s with %s %lld", table->name, table->columns[first].name,
                            (long long)cells[first].integer);
    return arena_printf(arena, "%s with %s %lld and %s %lld", table->name,
                        table->columns[first].name, (long long)cells[first].integer,
                        table->columns[second].name, (long long)cells[second].integer);
}

int copy_table_compare_keys(const struct copy_table *table, const struct cell *one,
                            const struct cell *other)
{
    for (unsigned i = 0; i < table->key_count; i++) {
        int64_t a = one[table->key[i]].integer;
        int64_t b = other[table->key[i]].integer;
        if (a != b)
            return a < b ? -1 : 1;
    }
    return 0;
}
