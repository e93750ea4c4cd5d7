/* See rows_sql.h. Rows that refer to a missing row are left out, as in a load. Pure; any thread. */
#include "store/sqlite/rows_sql.h"

/* Whether clients can see row k of a table: rows_change() in SQL. */
static void append_is_visible(struct buf *sql, enum rows_table table)
{
    const struct rows_info *info = rows_info(table);
    for (unsigned i = 0; i < info->count; i++) {
        const char *name = info->columns[i].name;
        if (info->columns[i].cell != CELL_TEXT || (info->columns[i].flags & ROWS_NEEDED) == 0)
            continue;
        buf_printf(sql, " AND typeof(k.%s) = 'text'", name);
        if ((info->columns[i].flags & ROWS_IS_UUID) != 0)
            buf_printf(sql,
                       " AND length(k.%s) BETWEEN 1 AND 36"
                       " AND length(CAST(k.%s AS BLOB)) = length(k.%s)"
                       " AND k.%s NOT GLOB '*[^] !#-[^-~]*'",
                       name, name, name, name);
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

/* `is_checked`: a reference that need not be there is read as NULL if there is no such row. */
static void append_columns(struct buf *sql, const struct rows_info *info, bool is_checked)
{
    for (unsigned i = 0; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        buf_append_slice(sql, slice_of(i == 0 ? "SELECT " : ", "));
        if (is_checked && (column->flags & (ROWS_REFERS | ROWS_NEEDED)) == ROWS_REFERS)
            append_referred(sql, column);
        else
            buf_printf(sql, "%c.%s", (column->flags & ROWS_OF_CONSUMER) != 0 ? 'c' : 't',
                       column->name);
    }
}

static void end(struct buf *sql)
{
    buf_append_char(sql, '\0');
    sql->len--;
}

/* An allocation whose consumer has no row gets NULL. */
void rows_sql_all(enum rows_table table, struct buf *sql)
{
    const struct rows_info *info = rows_info(table);
    append_columns(sql, info, false);
    buf_printf(sql, " FROM %s t", info->name);
    if (table == ROWS_ALLOCATIONS)
        buf_append_lit(sql, " LEFT JOIN consumers c ON c.uuid = t.consumer_id");
    buf_printf(sql, " ORDER BY t.%s", info->ids == STORE_TABLE_COUNT ? "rowid" : "id");
    end(sql);
}

void rows_sql_of_id(enum rows_table table, struct buf *sql)
{
    const struct rows_info *info = rows_info(table);
    append_columns(sql, info, true);
    if (table == ROWS_ALLOCATIONS)
        buf_append_lit(sql, " FROM consumers c CROSS JOIN allocations t ON t.consumer_id = c.uuid"
                            " WHERE c.id = ?1");
    else
        buf_printf(sql, " FROM %s t WHERE t.%s = ?1", info->name, info->columns[0].name);
    for (unsigned i = table == ROWS_ALLOCATIONS ? 0 : 1; i < info->count; i++) {
        const struct rows_column *column = &info->columns[i];
        if ((column->flags & ROWS_OF_CONSUMER) != 0 ||
            (column->flags & (ROWS_REFERS | ROWS_NEEDED)) != (ROWS_REFERS | ROWS_NEEDED))
            continue;
        buf_append_lit(sql, " AND EXISTS ");
        append_referred(sql, column);
    }
    if (info->ids == STORE_TABLE_COUNT)
        buf_append_lit(sql, " ORDER BY t.rowid");
    end(sql);
}
