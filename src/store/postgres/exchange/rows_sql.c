/* See rows_sql.h. The same rows are visible as on SQLite.
 *
 * A session plans each statement of ids once, perhaps while a table is empty, for which a scan of
 * the whole table is as good as any other plan. So these statements leave no choice: what a row
 * refers to is found by a subquery that cannot become a join, and so are the allocations of a
 * consumer. Pure; any thread. */
#include "store/postgres/exchange/rows_sql.h"

#include "store/server/rows_parts.h"

static void append_object(const char *name, struct buf *sql)
{
    buf_printf(sql, "CASE json_typeof(t.\"%s\") WHEN 'object' THEN t.\"%s\"::text END", name, name);
}

static const struct rows_parts PARTS = {
    .null_id = "NULL::integer",
    .before_uuid = "",
    .after_uuid = " ~ '^[ !#-\\[\\]-~]{1,36}$'",
    .quote = '"',
    .append_object = append_object,
};

/* Which rows of a table are read. Allocations get the ids of their consumers from the server,
 * unless all are read (row_reader.c). */
enum scope { SCOPE_ALL, SCOPE_RECENT, SCOPE_IDS };

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
                            " = ANY ($1::int[]) OFFSET 0) t LEFT JOIN LATERAL (SELECT id"
                            " FROM consumers o WHERE o.uuid = t.consumer_id OFFSET 0) c ON true");
    else
        return false;
    return true;
}

static void append_from(struct buf *sql, enum rows_table table, enum scope scope)
{
    bool is_joined = scope != SCOPE_ALL && rows_parts_is_of_consumers(table);
    rows_parts_select(&PARTS, table, is_joined, scope == SCOPE_IDS, sql);
    if (scope == SCOPE_IDS && append_lookup(sql, table))
        return;
    buf_printf(sql, " FROM %s t", rows_name(table));
    if (is_joined)
        buf_append_lit(sql, " JOIN consumers c ON c.uuid = t.consumer_id");
}

void pg_rows_sql_all(enum rows_table table, struct buf *sql)
{
    append_from(sql, table, SCOPE_ALL);
    if (rows_parts_has_id(table))
        buf_append_lit(sql, " ORDER BY t.id");
    end_sql(sql);
}

void pg_rows_sql_recent(enum rows_table table, uint32_t transaction, struct buf *sql)
{
    append_from(sql, table, SCOPE_RECENT);
    buf_printf(sql, " WHERE age(t.xmin) <= age('%u'::xid)", transaction);
    end_sql(sql);
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
    rows_parts_references(&PARTS, table, sql);
    if (table == ROWS_ALLOCATIONS)
        buf_append_lit(sql, " ORDER BY c.id, t.id");
    else
        buf_printf(sql, " ORDER BY t.%s%s", rows_info(table)->columns[0].name,
                   rows_parts_has_id(table) && table == ROWS_INVENTORIES ? ", t.id" : "");
    end_sql(sql);
}
