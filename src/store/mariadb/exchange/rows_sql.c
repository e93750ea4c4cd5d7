/* See rows_sql.h. The same rows are visible as on SQLite.
 *
 * The text of a statement is planned each time, but by statistics that may be of a table that was
 * empty: so indexes are named (indexes.h), and joins have an order. What a row refers to is
 * found by a subquery that cannot become a join. Texts are compared byte by byte where memory
 * compares them so, in addition to the column's collation, which the indexes have. Pure; any
 * thread. */
#include "store/mariadb/exchange/rows_sql.h"

#include "store/mariadb/session/literal.h"
#include "store/server/rows_parts.h"

/* The pattern for a uuid is one for the hexadecimal digits of its text: all servers understand it,
 * in every sql_mode and collation. */
#define UUID_PATTERN "'^(2[013-9A-F]|[346][0-9A-F]|5[0-9ABDEF]|7[0-9A-E]){1,36}$'"

/* From 1000 values on, MariaDB makes a subquery of a list. */
enum { LIST_MOST = 500 };

static void append_object(const char *name, struct buf *sql)
{
    buf_printf(sql,
               "CASE WHEN JSON_VALID(t.`%s`) THEN CASE JSON_TYPE(t.`%s`) WHEN 'OBJECT'"
               " THEN t.`%s` END END",
               name, name, name);
}

/* A FLOAT is shown with 6 digits (store/value_forms.h). */
static const struct rows_parts PARTS = {
    .null_id = "NULL",
    .before_uuid = "HEX(",
    .after_uuid = ") REGEXP " UUID_PATTERN,
    .quote = '`',
    .append_object = append_object,
};

void mariadb_rows_sql_all(enum rows_table table, struct buf *sql)
{
    rows_parts_select(&PARTS, table, false, false, sql);
    buf_printf(sql, " FROM %s t", rows_name(table));
    if (rows_parts_has_id(table))
        buf_append_lit(sql, " FORCE INDEX(PRIMARY) ORDER BY t.id");
    buf_append_char(sql, ';');
}

/* What the server's collation takes for equal need not be so in memory. */
#define SAME_UUID "CAST(c.uuid AS BINARY)=CAST(t.consumer_id AS BINARY)"

void mariadb_rows_sql_since(enum rows_table table, int64_t since, struct buf *sql)
{
    rows_parts_select(&PARTS, table, false, false, sql);
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
        buf_append_lit(sql, " LEFT JOIN consumers c ON c.uuid=t.consumer_id AND " SAME_UUID);
        return provider;
    }
    if (table == ROWS_INVENTORIES)
        append_hint(indexes->has_inventory_index, MARIADB_INVENTORY_INDEX, sql);
    if (!rows_parts_has_id(table) || table == ROWS_INVENTORIES)
        return provider;
    append_hint(true, "PRIMARY", sql);
    return SLICE_LIT("t.id");
}

void mariadb_rows_sql_of_ids(enum rows_table table, const int64_t *ids, size_t count,
                             const struct mariadb_indexes *indexes, struct buf *sql)
{
    rows_parts_select(&PARTS, table, rows_parts_is_of_consumers(table), true, sql);
    struct slice column = append_from(table, indexes, sql);
    append_ids(column, ids, count, sql);
    if (!rows_is_record(table))
        rows_parts_references(&PARTS, table, sql);
    if (table == ROWS_HOLDERS)
        buf_append_lit(sql, " ORDER BY t.id;");
    else
        buf_printf(sql, " ORDER BY %.*s%s;", SLICE_ARG(column),
                   table == ROWS_ALLOCATIONS || table == ROWS_INVENTORIES ? ",t.id" : "");
}
