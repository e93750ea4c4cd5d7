/* See collation.h. Memory compares texts byte by byte, and so does PostgreSQL, whatever the
 * language of a collation, unless an ICU collation was created as nondeterministic (from version 12
 * on). Deletes by uuid would then delete other rows as well. One thread at a time. */
#include "store/postgres/report/collation.h"

#include "base/buf.h"
#include "store/rows.h"

enum { FIRST_VERSION = 120000 };

static void append_columns(struct buf *sql)
{
    const char *separator = "";
    for (int table = 0; table < ROWS_RECORDS; table++) {
        const struct rows_info *info = rows_info((enum rows_table)table);
        for (unsigned i = 0; i < info->count; i++)
            if (info->columns[i].cell == CELL_TEXT) {
                buf_printf(sql, "%s('%s', '%s')", separator, info->name, info->columns[i].name);
                separator = ", ";
            }
    }
}

bool pg_collation_check(struct pg_session *session, uint64_t deadline_us, struct err *err)
{
    if (pg_session_server(session)->version < FIRST_VERSION)
        return true;
    struct buf sql = {0};
    buf_append_lit(&sql, "SELECT c.relname || '.' || a.attname FROM pg_catalog.pg_attribute a"
                         " JOIN pg_catalog.pg_class c ON c.oid = a.attrelid"
                         " JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation"
                         " WHERE NOT l.collisdeterministic"
                         " AND pg_catalog.pg_table_is_visible(c.oid)"
                         " AND (c.relname::text, a.attname::text) IN (");
    append_columns(&sql);
    buf_append(&sql, ") ORDER BY 1", sizeof(") ORDER BY 1"));
    const struct pg_statement statement = {.sql = sql.data, .what = "read"};
    struct pg_rows rows = {0};
    bool ok = pg_session_execute(session, &statement, &rows, deadline_us, err) == SERVER_OK;
    if (ok && pg_rows_count(&rows) > 0)
        ok = err_set(err, 503, NULL,
                     "the database '%.*s' cannot be used: %.*s has a collation for which different "
                     "names can be equal",
                     SLICE_ARG(pg_session_target(session)), SLICE_ARG(pg_rows_bytes(&rows, 0, 0)));
    pg_rows_free(&rows);
    buf_free(&sql);
    return ok;
}
