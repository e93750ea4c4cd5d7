/* Reads rows of the tables, within a snapshot: all of one table, those with some ids, and those
 * that were written lately. */
#include "store/mariadb/exchange/rows_sql.h"

#include <stdlib.h>

#include "base/clock.h"
#include "store/mariadb/exchange/cells.h"
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/session/session_state.h"

enum {
    STEP_ROWS = 100,           /* for each, as long as for the answer to any other statement */
    LATELY_S = 10,             /* rows of transactions that took no longer are found */
    ROWS_BYTES_MOST = 1 << 30, /* of one answer: memory has all rows anyway, and a provider that is
                                  shared by all hosts has many consumers */
};

static void read_cells(struct mariadb_cells *cells, const struct mariadb_rows *rows, size_t row)
{
    const char *values[ROWS_CELLS_MAX];
    unsigned long lengths[ROWS_CELLS_MAX];
    for (unsigned i = 0; i < cells->count; i++) {
        struct slice value = mariadb_rows_bytes(rows, row, i);
        values[i] = value.data;
        lengths[i] = value.len;
    }
    mariadb_cells_read(cells, values, lengths);
}

static void take_rows(const struct mariadb_rows *rows, enum rows_table table, size_t at,
                      server_take *take, void *cls)
{
    struct mariadb_cells cells;
    mariadb_cells_begin(&cells, table);
    for (size_t i = 0; i < mariadb_rows_count(rows); i++) {
        read_cells(&cells, rows, i);
        take(cls, at, cells.at);
    }
}

/* ---- all of one table ---- */

enum server_outcome mariadb_rows_stream(struct server_session *base, enum rows_table table,
                                        server_take *take, void *cls, uint64_t timeout_us,
                                        struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_rows row = {0};
    struct mariadb_cells cells;
    struct buf sql = {0};
    uint64_t deadline_us = 0;
    mariadb_rows_sql_all(table, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    enum server_outcome outcome = mariadb_stream_begin(session, &text, err);
    mariadb_cells_begin(&cells, table);
    for (size_t i = 0; outcome == SERVER_OK; i++) {
        if (i % STEP_ROWS == 0)
            deadline_us = clock_monotonic_us() + timeout_us;
        outcome = mariadb_stream_next(session, &row, deadline_us, err);
        if (outcome == SERVER_OK) {
            read_cells(&cells, &row, 0);
            take(cls, 0, cells.at);
        }
    }
    mariadb_rows_free(&row);
    buf_free(&sql);
    return outcome == SERVER_END ? SERVER_OK : outcome;
}

/* ---- those with some ids ---- */

enum server_outcome mariadb_rows_find(struct server_session *base, const struct row_set *sets,
                                      size_t count, server_take *take, void *cls,
                                      uint64_t timeout_us, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_rows *rows = calloc(count + 1, sizeof(*rows));
    size_t *of_result = calloc(count + 1, sizeof(*of_result));
    size_t results = 0;
    struct buf sql = {0};
    check(rows != NULL && of_result != NULL);
    for (size_t i = 0; i < count; i++)
        if (sets[i].count > 0) {
            mariadb_rows_sql_of_ids(sets[i].table, sets[i].ids, sets[i].count, &session->indexes,
                                    &sql);
            of_result[results++] = i;
        }
    const struct mariadb_text text = {
        .sql = buf_slice(&sql), .what = "read", .result_bytes_most = ROWS_BYTES_MOST};
    enum server_outcome outcome = SERVER_OK;
    if (results > 0)
        outcome = mariadb_session_execute(session, &text, rows, results, NULL,
                                          clock_monotonic_us() + timeout_us, err);
    for (size_t i = 0; i < results; i++) {
        if (outcome == SERVER_OK)
            take_rows(&rows[i], sets[of_result[i]].table, of_result[i], take, cls);
        mariadb_rows_free(&rows[i]);
    }
    free(rows);
    free(of_result);
    buf_free(&sql);
    return outcome;
}

/* ---- those that were written lately ---- */

static void append_recent(const struct examined_table *table, int64_t since, struct buf *sql)
{
    mariadb_rows_sql_since(table->table, since, sql);
    if (table->is_counted)
        buf_printf(sql,
                   "SELECT COUNT(*), CAST(COALESCE(SUM(id), 0) AS SIGNED),"
                   " CAST(COALESCE(SUM(%s), 0) AS SIGNED) FROM %s;",
                   table->has_generations ? "generation" : "0", rows_name(table->table));
}

static bool read_sums(const struct mariadb_rows *row, struct examined_table *table)
{
    table->has_sums = true;
    return mariadb_rows_int(row, 0, 0, &table->rows) && mariadb_rows_int(row, 0, 1, &table->ids) &&
           mariadb_rows_int(row, 0, 2, &table->generations);
}

static enum server_outcome lacks_figure(const struct server_session *base, struct err *err)
{
    return server_failure_set(SERVER_FAILED, base->target, "read",
                              SLICE_LIT("the server's answer is not a number"), err);
}

/* What the rows of a result are. */
struct recent_result {
    enum { RECENT_TIME, RECENT_ROWS, RECENT_SUMS } of;
    size_t table; /* of the examination, if they are of one */
};

/* All statements are one text, the results of which are in `results`. */
static void append_examination(struct examination *examination, struct recent_result *results,
                               struct buf *sql)
{
    size_t count = 0;
    buf_append_lit(sql, "SELECT UNIX_TIMESTAMP();");
    results[count++] = (struct recent_result){.of = RECENT_TIME};
    for (size_t i = 0; i < examination->count; i++) {
        struct examined_table *table = &examination->tables[i];
        append_recent(table, examination->since - LATELY_S, sql);
        results[count++] = (struct recent_result){RECENT_ROWS, i};
        if (table->is_counted)
            results[count++] = (struct recent_result){RECENT_SUMS, i};
    }
}

/* False: it is not what was asked for. */
static bool take_result_row(const struct mariadb_rows *row, struct examination *examination,
                            const struct recent_result *result, server_take *take, void *cls)
{
    struct mariadb_cells cells;
    switch (result->of) {
    case RECENT_TIME:
        return mariadb_rows_int(row, 0, 0, &examination->horizon);
    case RECENT_SUMS:
        return read_sums(row, &examination->tables[result->table]);
    case RECENT_ROWS:
        mariadb_cells_begin(&cells, examination->tables[result->table].table);
        read_cells(&cells, row, 0);
        take(cls, result->table, cells.at);
    }
    return true;
}

/* A program may have changed a million rows since the last time, so that they are not all read
 * before the first one is passed. */
static enum server_outcome take_recent(struct mariadb_session *session,
                                       struct examination *examination,
                                       const struct recent_result *results, server_take *take,
                                       void *cls, uint64_t timeout_us, struct err *err)
{
    struct mariadb_rows row = {0};
    enum server_outcome outcome = SERVER_OK;
    uint64_t deadline_us = 0;
    size_t before = SIZE_MAX;
    for (size_t i = 0; outcome == SERVER_OK; i++) {
        if (i % STEP_ROWS == 0 || session->progress.results != before)
            deadline_us = clock_monotonic_us() + timeout_us;
        before = session->progress.results;
        outcome = mariadb_stream_next(session, &row, deadline_us, err);
        if (outcome == SERVER_OK &&
            !take_result_row(&row, examination, &results[session->progress.results], take, cls)) {
            mariadb_session_close(session);
            outcome = lacks_figure(&session->base, err);
        }
    }
    mariadb_rows_free(&row);
    return outcome == SERVER_END ? SERVER_OK : outcome;
}

enum server_outcome mariadb_rows_examine(struct server_session *base,
                                         struct examination *examination, server_take *take,
                                         void *cls, uint64_t timeout_us, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct recent_result *results = calloc(1 + 2 * examination->count, sizeof(*results));
    struct buf sql = {0};
    check(results != NULL);
    append_examination(examination, results, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "read"};
    enum server_outcome outcome = mariadb_stream_begin(session, &text, err);
    if (outcome == SERVER_OK)
        outcome = take_recent(session, examination, results, take, cls, timeout_us, err);
    free(results);
    buf_free(&sql);
    return outcome;
}

enum server_outcome mariadb_rows_ids(struct server_session *base, enum rows_table table,
                                     struct row_ids *ids, uint64_t deadline_us, struct err *err)
{
    struct mariadb_rows rows = {0};
    struct buf sql = {0};
    buf_printf(&sql, "SELECT id FROM %s ORDER BY id", rows_name(table));
    const struct mariadb_text text = {
        .sql = buf_slice(&sql), .what = "read", .result_bytes_most = ROWS_BYTES_MOST};
    enum server_outcome outcome =
        mariadb_session_execute(mariadb_session_of(base), &text, &rows, 1, NULL, deadline_us, err);
    ids->count = mariadb_rows_count(&rows);
    ids->at = calloc(ids->count + 1, sizeof(*ids->at));
    check(ids->at != NULL);
    for (size_t i = 0; outcome == SERVER_OK && i < ids->count; i++)
        if (!mariadb_rows_int(&rows, i, 0, &ids->at[i]))
            outcome = lacks_figure(base, err);
    mariadb_rows_free(&rows);
    buf_free(&sql);
    return outcome;
}
