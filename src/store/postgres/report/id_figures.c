/* See id_figures.h. The sequence is the one that belongs to the column, whatever its name. One
 * thread at a time. */
#include "store/postgres/report/id_figures.h"

#include "base/buf.h"
#include "store/postgres/session/figure.h"

static const char *const tables[PG_ID_TABLES] = {
    "allocations", "consumer_types",   "consumers",          "inventories", "placement_aggregates",
    "projects",    "resource_classes", "resource_providers", "traits",      "users",
};

static void append_question(struct buf *sql, const char *table)
{
    buf_printf(sql,
               "SELECT pg_get_serial_sequence('%s', 'id') IS NOT NULL,"
               " coalesce(pg_sequence_last_value(pg_get_serial_sequence('%s', 'id')::regclass), 0),"
               " (SELECT coalesce(max(id), 0) FROM %s)",
               table, table, table);
}

static enum server_outcome read_figure(const struct pg_session *session, const struct pg_rows *rows,
                                       size_t row, struct pg_id_figure *figure, struct err *err)
{
    int64_t has_sequence = 0;
    enum server_outcome outcome = pg_figure_read(session, rows, row, 0, &has_sequence, err);
    if (outcome == SERVER_OK)
        outcome = pg_figure_read(session, rows, row, 1, &figure->handed_out, err);
    if (outcome == SERVER_OK)
        outcome = pg_figure_read(session, rows, row, 2, &figure->largest, err);
    figure->has_sequence = has_sequence != 0;
    return outcome;
}

enum server_outcome pg_id_figures_read(struct pg_session *session,
                                       struct pg_id_figure figures[static PG_ID_TABLES],
                                       uint64_t deadline_us, struct err *err)
{
    struct buf sql = {0};
    for (size_t i = 0; i < PG_ID_TABLES; i++) {
        if (i > 0)
            buf_append_lit(&sql, " UNION ALL ");
        append_question(&sql, tables[i]);
    }
    buf_append_char(&sql, '\0');
    struct pg_statement statement = {.sql = sql.data, .what = "read"};
    struct pg_rows rows = {0};
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    for (size_t i = 0; i < PG_ID_TABLES && outcome == SERVER_OK; i++) {
        figures[i] = (struct pg_id_figure){.table = tables[i]};
        outcome = read_figure(session, &rows, i, &figures[i], err);
    }
    pg_rows_free(&rows);
    buf_free(&sql);
    return outcome;
}
