/* Reads rows of the tables, within a snapshot: all of one table, those with some ids, and those
 * that were written lately. */
#include "store/postgres/exchange/rows_sql.h"

#include <stdlib.h>

#include "base/clock.h"
#include "store/postgres/exchange/cells.h"
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/session/figure.h"
#include "store/postgres/session/pipeline.h"
#include "store/postgres/session/session_state.h"

enum { STEP_ROWS = 100 }; /* for each, as long as for the answer to any other statement */

static struct pg_statement statement_of(const struct buf *sql)
{
    return (struct pg_statement){.sql = sql->data, .binary_results = true, .what = "read"};
}

/* ---- all of one table ---- */

/* The statement is planned for the size that the table has now. */
enum server_outcome pg_rows_stream(struct server_session *base, enum rows_table table,
                                   server_take *take, void *cls, uint64_t timeout_us,
                                   struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    struct buf sql = {0};
    struct pg_rows rows = {0};
    struct pg_cells cells;
    pg_rows_sql_all(table, &sql);
    const struct pg_statement statement = statement_of(&sql);
    uint64_t deadline_us = clock_monotonic_us() + timeout_us;
    enum server_outcome outcome = pg_stream_begin(session, &statement, deadline_us, err);
    pg_cells_begin(&cells, table);
    for (size_t row = 0; outcome == SERVER_OK; row++) {
        if (row % STEP_ROWS == 0)
            deadline_us = clock_monotonic_us() + timeout_us;
        outcome = pg_stream_next(session, &rows, deadline_us, err);
        if (outcome == SERVER_OK) {
            pg_cells_read(&cells, &rows, 0);
            take(cls, 0, cells.at);
        }
    }
    pg_rows_free(&rows);
    buf_free(&sql);
    return outcome == SERVER_END ? SERVER_OK : outcome;
}

/* ---- those with some ids ---- */

static enum server_outcome queue_set(struct pg_session *session, const struct row_set *set,
                                     struct err *err)
{
    struct buf sql = {0};
    struct pg_array *ids = &session->arrays[0];
    bool is_big = rows_is_record(set->table);
    pg_rows_sql_of_ids(set->table, &sql);
    pg_array_begin(ids, is_big ? PG_INT8_ARRAY : PG_INT4_ARRAY);
    for (size_t i = 0; i < set->count; i++)
        if (is_big || set->ids[i] == (int32_t)set->ids[i]) /* otherwise there is no such row */
            pg_array_add_int(ids, set->ids[i]);
    const struct pg_parameter parameter = pg_array_parameter(ids);
    struct pg_statement statement = statement_of(&sql);
    statement.is_prepared = true;
    statement.parameters = &parameter;
    statement.parameters_n = 1;
    enum server_outcome outcome = pg_pipeline_queue(session, &statement, err);
    buf_free(&sql);
    return outcome;
}

/* The rows of the next result. */
static enum server_outcome take_rows(struct pg_session *session, enum rows_table table, size_t set,
                                     server_take *take, void *cls, uint64_t deadline_us,
                                     struct err *err)
{
    struct pg_rows rows = {0};
    struct pg_cells cells;
    enum server_outcome outcome = pg_pipeline_next(session, &rows, deadline_us, err);
    pg_cells_begin(&cells, table);
    for (size_t i = 0; i < pg_rows_count(&rows); i++) {
        pg_cells_read(&cells, &rows, i);
        take(cls, set, cells.at);
    }
    pg_rows_free(&rows);
    return outcome;
}

enum server_outcome pg_rows_find(struct server_session *base, const struct row_set *sets,
                                 size_t count, server_take *take, void *cls, uint64_t timeout_us,
                                 struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    enum server_outcome outcome = pg_pipeline_begin(session, err);
    for (size_t i = 0; outcome == SERVER_OK && i < count; i++)
        outcome = queue_set(session, &sets[i], err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_send(session, clock_monotonic_us() + timeout_us, err);
    for (size_t i = 0; outcome == SERVER_OK && i < count; i++)
        outcome =
            take_rows(session, sets[i].table, i, take, cls, clock_monotonic_us() + timeout_us, err);
    return outcome == SERVER_OK
               ? pg_pipeline_finish(session, clock_monotonic_us() + timeout_us, err)
               : outcome;
}

/* ---- those that were written lately ---- */

static const char HORIZON[] = "SELECT txid_snapshot_xmin(txid_current_snapshot())";

static enum server_outcome queue_recent(struct pg_session *session,
                                        const struct examined_table *table, int64_t since,
                                        struct err *err)
{
    struct buf sql = {0};
    pg_rows_sql_recent(table->table, (uint32_t)since, &sql);
    struct pg_statement statement = statement_of(&sql);
    enum server_outcome outcome = pg_pipeline_queue(session, &statement, err);
    sql.len = 0;
    buf_printf(&sql, "SELECT count(*) FROM %s%c", rows_name(table->table), '\0');
    statement.sql = sql.data;
    if (outcome == SERVER_OK && table->is_counted)
        outcome = pg_pipeline_queue(session, &statement, err);
    buf_free(&sql);
    return outcome;
}

static enum server_outcome take_figure(struct pg_session *session, int64_t *figure,
                                       uint64_t deadline_us, struct err *err)
{
    struct pg_rows rows = {0};
    enum server_outcome outcome = pg_pipeline_next(session, &rows, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = pg_figure_read(session, &rows, 0, 0, figure, err);
    pg_rows_free(&rows);
    return outcome;
}

enum server_outcome pg_rows_examine(struct server_session *base, struct examination *examination,
                                    server_take *take, void *cls, uint64_t timeout_us,
                                    struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    const struct pg_statement horizon = {.sql = HORIZON, .binary_results = true, .what = "read"};
    enum server_outcome outcome = pg_pipeline_begin(session, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_queue(session, &horizon, err);
    for (size_t i = 0; outcome == SERVER_OK && i < examination->count; i++)
        outcome = queue_recent(session, &examination->tables[i], examination->since, err);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_send(session, clock_monotonic_us() + timeout_us, err);
    if (outcome == SERVER_OK)
        outcome =
            take_figure(session, &examination->horizon, clock_monotonic_us() + timeout_us, err);
    for (size_t i = 0; outcome == SERVER_OK && i < examination->count; i++) {
        struct examined_table *table = &examination->tables[i];
        outcome =
            take_rows(session, table->table, i, take, cls, clock_monotonic_us() + timeout_us, err);
        if (outcome == SERVER_OK && table->is_counted)
            outcome = take_figure(session, &table->rows, clock_monotonic_us() + timeout_us, err);
    }
    return outcome == SERVER_OK
               ? pg_pipeline_finish(session, clock_monotonic_us() + timeout_us, err)
               : outcome;
}

enum server_outcome pg_rows_ids(struct server_session *base, enum rows_table table,
                                struct row_ids *ids, uint64_t deadline_us, struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    struct buf sql = {0};
    struct pg_rows rows = {0};
    buf_printf(&sql, "SELECT id FROM %s ORDER BY id%c", rows_name(table), '\0');
    const struct pg_statement statement = statement_of(&sql);
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    ids->count = pg_rows_count(&rows);
    ids->at = calloc(ids->count + 1, sizeof(*ids->at));
    check(ids->at != NULL);
    for (size_t i = 0; outcome == SERVER_OK && i < ids->count; i++)
        outcome = pg_figure_read(session, &rows, i, 0, &ids->at[i], err);
    pg_rows_free(&rows);
    buf_free(&sql);
    return outcome;
}
