/* See rows_parts.h. What a row refers to is found by a subquery, so that no plan for a table that
 * is empty now can become one that reads all rows. */
#include "store/server/rows_parts.h"

/* Whether clients can see row k of a table: rows_change() in SQL. */
static void append_is_visible(const struct rows_parts *parts, enum rows_table table,
                              struct buf *sql)
{
    const struct rows_info *info = rows_info(table);
    for (unsigned i = 0; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        if (column->cell != CELL_TEXT || (column->flags & ROWS_NEEDED) == 0)
            continue;
        if ((column->flags & ROWS_IS_UUID) != 0)
            buf_printf(sql, " AND %sk.%s%s", parts->before_uuid, column->name, parts->after_uuid);
        else
            buf_printf(sql, " AND k.%s IS NOT NULL", column->name);
    }
}

/* "(SELECT ... )": the visible row that the column refers to. */
static void append_referred(const struct rows_parts *parts, const struct rows_column *column,
                            struct buf *sql)
{
    buf_printf(sql, "(SELECT k.id FROM %s k WHERE k.id=t.%s", rows_name(column->refers_to),
               column->name);
    append_is_visible(parts, column->refers_to, sql);
    buf_append_char(sql, ')');
}

static bool may_lack_row(const struct rows_column *column)
{
    return (column->flags & (ROWS_REFERS | ROWS_NEEDED)) == ROWS_REFERS;
}

static bool needs_row(const struct rows_column *column)
{
    return (column->flags & (ROWS_REFERS | ROWS_NEEDED)) == (ROWS_REFERS | ROWS_NEEDED);
}

/* A holder may be a consumer without a row, whose id is 0. */
static void append_columns(const struct rows_parts *parts, enum rows_table table, bool is_joined,
                           bool is_checked, struct buf *sql)
{
    const struct rows_info *info = rows_info(table);
    const bool may_lack_consumer = table == ROWS_HOLDERS;
    for (unsigned i = 0; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        bool is_of_consumer = (column->flags & ROWS_OF_CONSUMER) != 0;
        buf_append_slice(sql, i == 0 ? SLICE_LIT("SELECT ") : SLICE_LIT(","));
        if (is_checked && may_lack_row(column))
            append_referred(parts, column, sql);
        else if (is_of_consumer && !is_joined)
            buf_append_slice(sql, slice_of(parts->null_id));
        else if (is_of_consumer && may_lack_consumer)
            buf_printf(sql, "COALESCE(c.%s,0)", column->name);
        else
            buf_printf(sql, "%c.%s", is_of_consumer ? 'c' : 't', column->name);
    }
}

static void append_fields(const struct rows_parts *parts, const struct record_shape *shape,
                          struct buf *sql)
{
    buf_append_lit(sql, "SELECT t.id");
    for (unsigned i = 0; i < shape->stored; i++) {
        const struct record_field *field = &shape->fields[i];
        buf_append_char(sql, ',');
        if (field->kind == RECORD_JSON)
            parts->append_object(field->name, sql);
        else
            buf_printf(sql, "t.%c%s%c", parts->quote, field->name, parts->quote);
    }
}

void rows_parts_select(const struct rows_parts *parts, enum rows_table table, bool is_joined,
                       bool is_checked, struct buf *sql)
{
    if (rows_is_record(table))
        append_fields(parts, rows_record_info(table)->shape, sql);
    else
        append_columns(parts, table, is_joined, is_checked, sql);
}

void rows_parts_references(const struct rows_parts *parts, enum rows_table table, struct buf *sql)
{
    const struct rows_info *info = rows_info(table);
    for (unsigned i = rows_parts_is_of_consumers(table) ? 0 : 1; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        if ((column->flags & ROWS_OF_CONSUMER) != 0 || !needs_row(column))
            continue;
        buf_append_lit(sql, " AND ");
        append_referred(parts, column, sql);
        buf_append_lit(sql, " IS NOT NULL");
    }
}

bool rows_parts_is_of_consumers(enum rows_table table)
{
    return table == ROWS_ALLOCATIONS || table == ROWS_HOLDERS;
}

bool rows_parts_has_id(enum rows_table table)
{
    return table != ROWS_PROVIDER_TRAITS && table != ROWS_PROVIDER_AGGREGATES;
}
