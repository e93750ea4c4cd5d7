/* See rows_sql.h. The same rows are visible as on SQLite.
 *
 * A session plans each statement of ids once, perhaps while a table is empty, for which a scan of
 * the whole table is as good as any other plan. So these statements leave no choice: what a row
 * refers to is found by a subquery that cannot become a join, and so are the allocations of a
 * consumer. Pure; any thread. */
#include "store/postgres/exchange/rows_sql.h"

/* cell_is_uuid() as a regular expression. */
#define UUID_PATTERN "'^[ !#-\\[\\]-~]{1,36}$'"

/* Whether clients can see row k of a table: rows_change() in SQL. */
static void append_is_visible(struct buf *sql, enum rows_table table)
{
    const struct rows_info *info = rows_info(table);
    for (unsigned i = 0; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        if (column->cell != CELL_TEXT || (column->flags & ROWS_NEEDED) == 0)
            continue;
        if ((column->flags & ROWS_IS_UUID) != 0)
            buf_printf(sql, " AND k.%s ~ " UUID_PATTERN, column->name);
        else
            buf_printf(sql, " AND k.%s IS NOT NULL", column->name);
    }
}

/* "(SELECT ... )": the visible row that the column refers to. */
static void append_referred(struct buf *sql, const struct rows_column *column)
{
    buf_printf(sql, "(SELECT k.id FROM %s k WHERE k.id = t.%s", rows_name(column->refers_to),
               column->name);
    append_is_visible(sql, column->refers_to);
    buf_append_char(sql, ')');
}

/* Which rows of a table are read. Allocations get the ids of their consumers from the server,
 * unless all are read (row_reader.c). */
enum scope { SCOPE_ALL, SCOPE_RECENT, SCOPE_IDS };

/* With SCOPE_IDS, a reference that need not be there is read as NULL if there is no such row. */
static void append_columns(struct buf *sql, const struct rows_info *info, bool is_joined,
                           bool is_checked)
{
    for (unsigned i = 0; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        buf_append_slice(sql, slice_of(i == 0 ? "SELECT " : ", "));
        if (is_checked && (column->flags & (ROWS_REFERS | ROWS_NEEDED)) == ROWS_REFERS)
            append_referred(sql, column);
        else if ((column->flags & ROWS_OF_CONSUMER) != 0 && !is_joined)
            buf_append_lit(sql, "NULL::integer");
        else
            buf_printf(sql, "%c.%s", (column->flags & ROWS_OF_CONSUMER) != 0 ? 'c' : 't',
                       column->name);
    }
}

/* Answers copy an object unchanged, so whatever else the column contains is left out. */
static void append_record_columns(struct buf *sql, const struct record_table_info *table)
{
    buf_append_lit(sql, "SELECT t.id");
    for (unsigned i = 0; i < table->shape->stored; i++) {
        const char *name = table->shape->fields[i].name;
        if (table->shape->fields[i].kind == RECORD_JSON)
            buf_printf(sql, ", CASE json_typeof(t.\"%s\") WHEN 'object' THEN t.\"%s\"::text END",
                       name, name);
        else
            buf_printf(sql, ", t.\"%s\"", name);
    }
}

static void end_sql(struct buf *sql)
{
    buf_append_char(sql, '\0');
    sql->len--;
}

/* Allocations found by their consumers or providers. Without OFFSET, the subqueries would be merged
 * into the rest. */
static bool append_lookup(struct buf *sql, enum rows_table table)
{
    if (table == ROWS_ALLOCATIONS)
        buf_append_lit(sql, " FROM consumers c CROSS JOIN LATERAL (SELECT * FROM allocations a"
                            " WHERE a.consumer_id = c.uuid OFFSET 0) t");
    else if (table == ROWS_HOLDERS)
        buf_append_lit(sql, " FROM (SELECT * FROM allocations a WHERE a.resource_provider_id"
                            " = ANY ($1::int[]) OFFSET 0) t CROSS JOIN LATERAL (SELECT id"
                            " FROM consumers o WHERE o.uuid = t.consumer_id OFFSET 0) c");
    else
        return false;
    return true;
}

static void append_from(struct buf *sql, enum rows_table table, enum scope scope)
{
    bool is_joined = scope != SCOPE_ALL && (table == ROWS_ALLOCATIONS || table == ROWS_HOLDERS);
    if (rows_is_record(table))
        append_record_columns(sql, rows_record_info(table));
    else
        append_columns(sql, rows_info(table), is_joined, scope == SCOPE_IDS);
    if (scope == SCOPE_IDS && append_lookup(sql, table))
        return;
    buf_printf(sql, " FROM %s t", rows_name(table));
    if (is_joined)
        buf_append_lit(sql, " JOIN consumers c ON c.uuid = t.consumer_id");
}

/* Links have no ids of their own. */
static bool has_id(enum rows_table table)
{
    return table != ROWS_PROVIDER_TRAITS && table != ROWS_PROVIDER_AGGREGATES;
}

void pg_rows_sql_all(enum rows_table table, struct buf *sql)
{
    append_from(sql, table, SCOPE_ALL);
    if (has_id(table))
        buf_append_lit(sql, " ORDER BY t.id");
    end_sql(sql);
}

void pg_rows_sql_recent(enum rows_table table, uint32_t transaction, struct buf *sql)
{
    append_from(sql, table, SCOPE_RECENT);
    buf_printf(sql, " WHERE age(t.xmin) <= age('%u'::xid)", transaction);
    end_sql(sql);
}

/* The row refers to visible rows only. The one it was asked for by is not checked. */
static void append_references(struct buf *sql, enum rows_table table)
{
    const struct rows_info *info = rows_info(table);
    for (unsigned i = table == ROWS_ALLOCATIONS || table == ROWS_HOLDERS ? 0 : 1; i < info->count;
         i++) {
        const struct rows_column *column = &info->columns[i];
        if ((column->flags & ROWS_OF_CONSUMER) != 0 ||
            (column->flags & (ROWS_REFERS | ROWS_NEEDED)) != (ROWS_REFERS | ROWS_NEEDED))
            continue;
        buf_append_lit(sql, " AND ");
        append_referred(sql, column);
        buf_append_lit(sql, " IS NOT NULL");
    }
}

void pg_rows_sql_of_ids(enum rows_table table, struct buf *sql)
{
    append_from(sql, table, SCOPE_IDS);
    if (rows_is_record(table)) {
        buf_append_lit(sql, " WHERE t.id = ANY ($1::bigint[]) ORDER BY t.id");
        end_sql(sql);
        return;
    }
    if (table == ROWS_ALLOCATIONS)
        buf_append_lit(sql, " WHERE c.id = ANY ($1::int[])");
    else if (table == ROWS_HOLDERS)
        buf_append_lit(sql, " WHERE true");
    else
        buf_printf(sql, " WHERE t.%s = ANY ($1::int[])", rows_info(table)->columns[0].name);
    append_references(sql, table);
    if (table == ROWS_ALLOCATIONS)
        buf_append_lit(sql, " ORDER BY c.id, t.id");
    else
        buf_printf(sql, " ORDER BY t.%s%s", rows_info(table)->columns[0].name,
                   has_id(table) && table == ROWS_INVENTORIES ? ", t.id" : "");
    end_sql(sql);
}
