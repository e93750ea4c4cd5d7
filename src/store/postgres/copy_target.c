/* See copy_target.h. The whole copy, and the comparison after it, is one transaction, in which all
 * tables are locked against other writers. Until its COMMIT the target is as it was. Rows are
 * inserted a few thousand at a time, as one array for each column. One thread. */
#include "store/postgres/copy_target.h"

#include <float.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/postgres/exchange/cells.h"
#include "store/postgres/session/array.h"
#include "store/postgres/session/tool_session.h"

enum { CHUNK_ROWS = 4000, CHUNK_BYTES = 4 << 20, PARENT_COLUMNS = 3 };

/* Of the last table that was written. */
struct pg_copy {
    struct pg_session *session;
    const struct copy_table *table; /* NULL: the rows are parents of providers */
    struct pg_array columns[COPY_COLUMNS_MOST];
    size_t rows; /* in the arrays */
    size_t bytes;
    struct pg_rows read; /* one row */
    struct pg_cells cells;
    struct buf sql; /* of the table that is read */
};

static bool pg_copy_run(struct pg_copy *target, const char *sql, struct err *err)
{
    return pg_session_run(target->session, sql, "written", tool_session_deadline(), err) ==
           SERVER_OK;
}

static void *pg_copy_open(struct slice connection, struct err *err)
{
    struct pg_session *session = tool_session_open(connection, err);
    struct pg_copy *target;
    if (session == NULL)
        return NULL;
    target = calloc(1, sizeof(*target));
    check(target != NULL);
    target->session = session;
    return target;
}

static void pg_copy_close(void *cls)
{
    struct pg_copy *target = cls;
    pg_session_destroy(target->session);
    for (unsigned i = 0; i < COPY_COLUMNS_MOST; i++)
        buf_free(&target->columns[i].bytes);
    pg_rows_free(&target->read);
    buf_free(&target->sql);
    free(target);
}

static bool pg_copy_query_int(void *cls, const char *sql, int64_t *value, struct err *err)
{
    struct pg_copy *target = cls;
    const struct pg_statement statement = {.sql = sql, .what = "read"};
    struct pg_rows rows = {0};
    bool ok = pg_session_execute(target->session, &statement, &rows, tool_session_deadline(),
                                 err) == SERVER_OK;
    if (ok && !pg_rows_int(&rows, 0, 0, value))
        ok = err_set(err, 503, NULL, "the database '%.*s' cannot be read: a number is none",
                     SLICE_ARG(pg_session_target(target->session)));
    pg_rows_free(&rows);
    return ok;
}

static bool pg_copy_has_table(void *cls, const char *name, bool *has, struct err *err)
{
    struct slice sql =
        arena_printf(err->arena, "SELECT (to_regclass('%s') IS NOT NULL)::int", name);
    int64_t count = 0;
    bool ok = pg_copy_query_int(cls, sql.data, &count, err);
    *has = count > 0;
    return ok;
}

static bool pg_copy_read_limits(void *cls, struct copy_limits *limits, struct err *err)
{
    (void)cls;
    (void)err;
    *limits = (struct copy_limits){.values = {.has_lengths = true, .refuses_nul = true},
                                   .time_least_us = INT64_MIN,
                                   .ratio_most = DBL_MAX};
    return true;
}

/* ---- writing ---- */

static bool pg_copy_start(void *cls, const struct copy_table *tables, struct err *err)
{
    struct pg_copy *target = cls;
    struct buf sql = {0};
    for (unsigned i = 0; i < COPY_TABLES; i++)
        buf_printf(&sql, "%s%s", i == 0 ? "LOCK TABLE " : ", ", tables[i].name);
    buf_printf(&sql, " IN SHARE ROW EXCLUSIVE MODE%c", '\0');
    bool ok = tool_session_begin(target->session, tool_session_deadline(), err) == SERVER_OK &&
              pg_copy_run(target, sql.data, err);
    buf_free(&sql);
    return ok;
}

static bool pg_copy_abandon(void *cls, struct err *err)
{
    return pg_copy_run(cls, "ROLLBACK", err);
}

static bool pg_copy_delete_names(void *cls, struct err *err)
{
    return pg_copy_run(cls, "DELETE FROM traits", err) &&
           pg_copy_run(cls, "DELETE FROM resource_classes", err);
}

static enum pg_type array_type(const struct copy_column *column)
{
    switch (column->cell) {
    case CELL_RATIO:
        return PG_FLOAT8_ARRAY;
    case CELL_TEXT:
        return PG_TEXT_ARRAY;
    case CELL_TIME:
        return PG_TIMESTAMP_ARRAY;
    case CELL_INTEGER:
    case CELL_NUMBER:
        break;
    }
    return column->is_bool ? PG_BOOL_ARRAY : column->is_wide ? PG_INT8_ARRAY : PG_INT4_ARRAY;
}

static void copy_target_append_insert(const struct copy_table *table, struct buf *sql)
{
    buf_printf(sql, "INSERT INTO %s (", table->name);
    copy_table_append_columns(table, "", '"', sql);
    buf_append_char(sql, ')');
    for (unsigned i = 0; i < table->count; i++)
        buf_printf(sql, "%su.c%u%s", i == 0 ? " SELECT " : ", ", i,
                   table->columns[i].is_json ? "::json" : "");
    for (unsigned i = 0; i < table->count; i++)
        buf_printf(sql, "%s$%u", i == 0 ? " FROM unnest(" : ", ", i + 1);
    for (unsigned i = 0; i < table->count; i++)
        buf_printf(sql, "%sc%u", i == 0 ? ") AS u(" : ", ", i);
    buf_append_char(sql, ')');
}

static bool pg_copy_flush(void *cls, struct err *err)
{
    struct pg_copy *target = cls;
    struct pg_parameter parameters[COPY_COLUMNS_MOST];
    struct buf sql = {0};
    unsigned count = target->table == NULL ? PARENT_COLUMNS : target->table->count;
    if (target->rows == 0)
        return true;
    for (unsigned i = 0; i < count; i++)
        parameters[i] = pg_array_parameter(&target->columns[i]);
    if (target->table == NULL)
        buf_append_lit(&sql, "UPDATE resource_providers AS p SET root_provider_id = u.root,"
                             " parent_provider_id = u.parent FROM unnest($1, $2, $3)"
                             " AS u(id, root, parent) WHERE p.id = u.id");
    else
        copy_target_append_insert(target->table, &sql);
    buf_append_char(&sql, '\0');
    const struct pg_statement statement = {
        .sql = sql.data, .parameters = parameters, .parameters_n = count, .what = "written"};
    bool ok = pg_session_execute(target->session, &statement, NULL, tool_session_deadline(), err) ==
              SERVER_OK;
    buf_free(&sql);
    target->rows = 0;
    target->bytes = 0;
    return ok;
}

/* Room for one more row. */
static bool make_room(struct pg_copy *target, const struct copy_table *table, struct err *err)
{
    bool is_full = target->rows >= CHUNK_ROWS || target->bytes >= CHUNK_BYTES;
    if ((is_full || target->table != table) && !pg_copy_flush(target, err))
        return false;
    if (target->rows > 0)
        return true;
    target->table = table;
    for (unsigned i = 0; i < (table == NULL ? PARENT_COLUMNS : table->count); i++)
        pg_array_begin(&target->columns[i],
                       table == NULL ? PG_INT4_ARRAY : array_type(&table->columns[i]));
    return true;
}

static void add_value(struct pg_array *array, const struct cell *cell)
{
    if (cell->is_null)
        pg_array_add_null(array);
    else if (array->type == PG_FLOAT8_ARRAY)
        pg_array_add_float(array, cell->ratio);
    else if (array->type == PG_TEXT_ARRAY)
        pg_array_add_text(array, cell->text);
    else if (array->type == PG_TIMESTAMP_ARRAY)
        pg_array_add_time(array, cell->integer);
    else if (array->type == PG_BOOL_ARRAY)
        pg_array_add_bool(array, cell->integer != 0);
    else
        pg_array_add_int(array, cell->integer);
}

static bool pg_copy_write(void *cls, const struct copy_table *table, const struct cell *cells,
                          struct err *err)
{
    struct pg_copy *target = cls;
    if (!make_room(target, table, err))
        return false;
    for (unsigned i = 0; i < table->count; i++) {
        add_value(&target->columns[i], &cells[i]);
        if (table->columns[i].cell == CELL_TEXT && !cells[i].is_null)
            target->bytes += cells[i].text.len;
    }
    target->rows++;
    return true;
}

static bool pg_copy_write_parents(void *cls, int64_t id, int64_t root_id, int64_t parent_id,
                                  struct err *err)
{
    struct pg_copy *target = cls;
    const int64_t values[PARENT_COLUMNS] = {id, root_id, parent_id};
    if (!make_room(target, NULL, err))
        return false;
    for (unsigned i = 0; i < PARENT_COLUMNS; i++) {
        const struct cell cell = {.is_null = values[i] == 0, .integer = values[i]};
        add_value(&target->columns[i], &cell);
    }
    target->rows++;
    return true;
}

/* ---- reading ---- */

static bool pg_copy_read_begin(void *cls, const struct copy_table *table, struct err *err)
{
    struct pg_copy *target = cls;
    target->sql.len = 0;
    target->cells.count = table->count;
    for (unsigned i = 0; i < table->count; i++)
        target->cells.kinds[i] = (uint8_t)table->columns[i].cell;
    buf_append_lit(&target->sql, "SELECT ");
    copy_table_append_columns(table, "", '"', &target->sql);
    buf_printf(&target->sql, " FROM %s", table->name);
    copy_table_append_order(table, &target->sql);
    buf_append_char(&target->sql, '\0');
    const struct pg_statement statement = {
        .sql = target->sql.data, .binary_results = true, .what = "read"};
    return pg_stream_begin(target->session, &statement, tool_session_deadline(), err) == SERVER_OK;
}

static bool pg_copy_read_next(void *cls, struct cell *cells, bool *has_row, struct err *err)
{
    struct pg_copy *target = cls;
    enum server_outcome outcome =
        pg_stream_next(target->session, &target->read, tool_session_deadline(), err);
    *has_row = outcome == SERVER_OK;
    if (*has_row) {
        pg_cells_read(&target->cells, &target->read, 0);
        memcpy(cells, target->cells.at, target->cells.count * sizeof(*cells));
    }
    return *has_row || outcome == SERVER_END;
}

/* ---- the end ---- */

static bool move_sequence(struct pg_copy *target, const struct copy_table *table, struct err *err)
{
    if (table->key_count > 1)
        return true;
    struct slice sql = arena_printf(
        err->arena,
        "SELECT setval(x.s, x.m) FROM (SELECT pg_get_serial_sequence('%s', 'id')::regclass AS s,"
        " (SELECT max(id) FROM %s) AS m) x WHERE x.m > coalesce(pg_sequence_last_value(x.s), 0)",
        table->name, table->name);
    return pg_copy_run(target, sql.data, err);
}

static bool pg_copy_finish(void *cls, const struct copy_table *tables, struct err *err)
{
    struct pg_copy *target = cls;
    for (unsigned i = 0; i < COPY_TABLES; i++)
        if (!move_sequence(target, &tables[i], err))
            return false;
    return tool_session_commit(target->session, tool_session_deadline(), err) == SERVER_OK;
}

const struct copy_target_driver pg_copy_target = {
    .open = pg_copy_open,
    .close = pg_copy_close,
    .has_table = pg_copy_has_table,
    .query_int = pg_copy_query_int,
    .read_limits = pg_copy_read_limits,
    .start = pg_copy_start,
    .abandon = pg_copy_abandon,
    .delete_names = pg_copy_delete_names,
    .write = pg_copy_write,
    .flush = pg_copy_flush,
    .write_parents = pg_copy_write_parents,
    .read_begin = pg_copy_read_begin,
    .read_next = pg_copy_read_next,
    .finish = pg_copy_finish,
    .left_behind = "nothing was copied",
};
