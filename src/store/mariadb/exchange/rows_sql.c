/* See rows_sql.h. The same rows are visible as on SQLite.
 *
 * The text of a statement is planned each time, but by statistics that may be of a table that was
 * empty: so indexes are named (indexes.h), and joins have an order. What a row refers to is
 * found by a subquery that cannot become a join. Texts are compared byte by byte where memory
 * compares them so, in addition to the column's collation, which the indexes have. Pure; any
 * thread. */
#include "store/mariadb/exchange/rows_sql.h"

#include "store/mariadb/session/literal.h"

/* cell_is_uuid() as a regular expression for the hexadecimal digits of a text: one that all servers
 * understand, in every sql_mode and collation. */
#define UUID_PATTERN "'^(2[013-9A-F]|[346][0-9A-F]|5[0-9ABDEF]|7[0-9A-E]){1,36}$'"

/* From 1000 values on, MariaDB makes a subquery of a list. */
enum { LIST_MOST = 500 };

/* Whether clients can see row k of a table: rows_change() in SQL. */
static void append_is_visible(struct buf *sql, enum rows_table table)
{
    const struct rows_info *info = rows_info(table);
    for (unsigned i = 0; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        if (column->cell != CELL_TEXT || (column->flags & ROWS_NEEDED) == 0)
            continue;
        if ((column->flags & ROWS_IS_UUID) != 0)
            buf_printf(sql, " AND HEX(k.%s) REGEXP " UUID_PATTERN, column->name);
        else
            buf_printf(sql, " AND k.%s IS NOT NULL", column->name);
    }
}

/* "(SELECT … )": the visible row that the column refers to. */
static void append_referred(struct buf *sql, const struct rows_column *column)
{
    buf_printf(sql, "(SELECT k.id FROM %s k WHERE k.id=t.%s", rows_name(column->refers_to),
               column->name);
    append_is_visible(sql, column->refers_to);
    buf_append_char(sql, ')');
}

static bool is_of_consumers(enum rows_table table)
{
    return table == ROWS_ALLOCATIONS || table == ROWS_HOLDERS;
}

/* With `is_checked`, a reference that need not be there is read as NULL if there is no such row. A
 * FLOAT is shown with 6 digits (store/value_forms.h). */
static void rows_sql_append_columns(struct buf *sql, enum rows_table table, bool is_joined,
                                    bool is_checked)
{
    const struct rows_info *info = rows_info(table);
    for (unsigned i = 0; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        bool is_of_consumer = (column->flags & ROWS_OF_CONSUMER) != 0;
        buf_append_slice(sql, i == 0 ? SLICE_LIT("SELECT ") : SLICE_LIT(","));
        if (is_checked && (column->flags & (ROWS_REFERS | ROWS_NEEDED)) == ROWS_REFERS)
            append_referred(sql, column);
        else if (is_of_consumer && !is_joined)
            buf_append_lit(sql, "NULL");
        else
            buf_printf(sql, "%c.%s", is_of_consumer ? 'c' : 't', column->name);
    }
}

/* Answers copy an object unchanged, so whatever else the column contains is left out. */
static void append_record_columns(struct buf *sql, const struct record_table_info *table)
{
    buf_append_lit(sql, "SELECT t.id");
    for (unsigned i = 0; i < table->shape->stored; i++) {
        const char *name = table->shape->fields[i].name;
        if (table->shape->fields[i].kind == RECORD_JSON)
            buf_printf(sql,
                       ",CASE WHEN JSON_VALID(t.`%s`) THEN CASE JSON_TYPE(t.`%s`) WHEN 'OBJECT'"
                       " THEN t.`%s` END END",
                       name, name, name);
        else
            buf_printf(sql, ",t.`%s`", name);
    }
}

/* Links have no ids of their own. */
static bool has_id(enum rows_table table)
{
    return table != ROWS_PROVIDER_TRAITS && table != ROWS_PROVIDER_AGGREGATES;
}

static void append_select(enum rows_table table, bool is_joined, bool is_checked, struct buf *sql)
{
    if (rows_is_record(table))
        append_record_columns(sql, rows_record_info(table));
    else
        rows_sql_append_columns(sql, table, is_joined, is_checked);
}

void mariadb_rows_sql_all(enum rows_table table, struct buf *sql)
{
    append_select(table, false, false, sql);
    buf_printf(sql, " FROM %s t", rows_name(table));
    if (has_id(table))
        buf_append_lit(sql, " FORCE INDEX(PRIMARY) ORDER BY t.id");
    buf_append_char(sql, ';');
}

/* What the server's collation takes for equal need not be so in memory. */
#define SAME_UUID "CAST(c.uuid AS BINARY)=CAST(t.consumer_id AS BINARY)"

void mariadb_rows_sql_since(enum rows_table table, int64_t since, struct buf *sql)
{
    append_select(table, false, false, sql);
    buf_printf(sql,
               " FROM %s t WHERE t.created_at>=FROM_UNIXTIME(%lld)"
               " OR t.updated_at>=FROM_UNIXTIME(%lld);",
               rows_name(table), (long long)since, (long long)since);
}

static void append_ids(struct slice column, const int64_t *ids, size_t count, struct buf *sql)
{
    check(count > 0);
    buf_append_lit(sql, " WHERE (");
    for (size_t i = 0; i < count; i++) {
        if (i % LIST_MOST == 0)
            buf_printf(sql, "%s%.*s IN(", i == 0 ? "" : ")OR ", SLICE_ARG(column));
        else
            buf_append_char(sql, ',');
        mariadb_literal_int(sql, ids[i]);
    }
    buf_append_lit(sql, "))");
}

/* The row refers to visible rows only. The one it was asked for by is not checked. */
static void append_references(struct buf *sql, enum rows_table table)
{
    const struct rows_info *info = rows_info(table);
    for (unsigned i = is_of_consumers(table) ? 0 : 1; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        if ((column->flags & ROWS_OF_CONSUMER) != 0 ||
            (column->flags & (ROWS_REFERS | ROWS_NEEDED)) != (ROWS_REFERS | ROWS_NEEDED))
            continue;
        buf_append_lit(sql, " AND ");
        append_referred(sql, column);
        buf_append_lit(sql, " IS NOT NULL");
    }
}

static void append_hint(bool has_index, const char *index, struct buf *sql)
{
    if (has_index)
        buf_printf(sql, " FORCE INDEX(%s)", index);
}

/* Returns the column by whose values rows are asked for. */
static struct slice append_from(enum rows_table table, const struct mariadb_indexes *indexes,
                                struct buf *sql)
{
    static const struct slice provider = {"t.resource_provider_id", 22};
    if (table == ROWS_ALLOCATIONS) {
        buf_append_lit(sql, " FROM consumers c FORCE INDEX(PRIMARY) STRAIGHT_JOIN allocations t");
        append_hint(indexes->has_consumer_index, MARIADB_CONSUMER_INDEX, sql);
        buf_append_lit(sql, " ON t.consumer_id=c.uuid AND " SAME_UUID);
        return SLICE_LIT("c.id");
    }
    buf_printf(sql, " FROM %s t", rows_name(table));
    if (table == ROWS_HOLDERS) {
        append_hint(indexes->has_provider_index, MARIADB_PROVIDER_INDEX, sql);
        buf_append_lit(sql, " STRAIGHT_JOIN consumers c ON c.uuid=t.consumer_id AND " SAME_UUID);
        return provider;
    }
    if (table == ROWS_INVENTORIES)
        append_hint(indexes->has_inventory_index, MARIADB_INVENTORY_INDEX, sql);
    if (!has_id(table) || table == ROWS_INVENTORIES)
        return provider;
    append_hint(true, "PRIMARY", sql);
    return SLICE_LIT("t.id");
}

void mariadb_rows_sql_of_ids(enum rows_table table, const int64_t *ids, size_t count,
                             const struct mariadb_indexes *indexes, struct buf *sql)
{
    append_select(table, is_of_consumers(table), true, sql);
    struct slice column = append_from(table, indexes, sql);
    append_ids(column, ids, count, sql);
    if (!rows_is_record(table))
        append_references(sql, table);
    if (table == ROWS_HOLDERS)
        buf_append_lit(sql, " ORDER BY t.id;");
    else
        buf_printf(sql, " ORDER BY %.*s%s;", SLICE_ARG(column),
                   table == ROWS_ALLOCATIONS || table == ROWS_INVENTORIES ? ",t.id" : "");
}
