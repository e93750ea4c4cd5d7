/* See copy_target.h. A large transaction would stop a Galera cluster, so a copy is many, of at most
 * a megabyte each, behind a mark (copy_mark.h). A copy that is not finished is removed by the next
 * one. One thread. */
#include "store/mariadb/copy_target.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "store/mariadb/copy_mark.h"
#include "store/mariadb/exchange/cells.h"
#include "store/mariadb/report/value_facts.h"
#include "store/mariadb/session/literal.h"
#include "store/mariadb/session/session_settings.h"
#include "store/mariadb/session/tool_session.h"
#include "store/revisions.h"

enum {
    CHUNK_ROWS = 5000,
    CHUNK_BYTES = 1 << 20,
    PARENT_ROWS = 100, /* a SELECT for each, and MySQL reads them recursively */
    REMOVED_ROWS = 5000,
    ROW_BYTES = 64 << 10, /* all of a row but its texts, and the statement around it */
};

static const int64_t YEAR_1000_US = INT64_C(-30610224000000000); /* where DATETIME begins */

struct mariadb_copy {
    struct mariadb_session *session;
    struct mariadb_copy_mark mark;
    const struct copy_table *table; /* NULL: the rows are parents of providers */
    struct buf sql;                 /* with the rows of a chunk */
    struct buf row;
    size_t rows;
    struct mariadb_rows read; /* one row */
    struct mariadb_cells cells;
    bool is_reading; /* in a snapshot */
};

static bool mariadb_copy_run(struct mariadb_copy *target, const char *sql, struct err *err)
{
    return mariadb_session_run(target->session, sql, "used", mariadb_tool_deadline(), err) ==
           SERVER_OK;
}

/* The class VCPU has the id 0. */
static void *mariadb_copy_open(struct slice connection, struct err *err)
{
    struct mariadb_session *session = mariadb_tool_open(connection, err);
    struct mariadb_copy *target;
    if (session == NULL)
        return NULL;
    target = calloc(1, sizeof(*target));
    check(target != NULL);
    target->session = session;
    if (mariadb_copy_run(target,
                         "SET SESSION sql_mode='" MARIADB_SQL_MODE ",NO_AUTO_VALUE_ON_ZERO'", err))
        return target;
    mariadb_session_destroy(session);
    free(target);
    return NULL;
}

static void mariadb_copy_close(void *cls)
{
    struct mariadb_copy *target = cls;
    mariadb_session_destroy(target->session);
    buf_free(&target->sql);
    buf_free(&target->row);
    mariadb_rows_free(&target->read);
    free(target);
}

static bool mariadb_copy_query_int(void *cls, const char *sql, int64_t *value, struct err *err)
{
    struct mariadb_copy *target = cls;
    const struct mariadb_text text = {.sql = slice_of(sql), .statements = 1, .what = "read"};
    struct mariadb_rows rows = {0};
    bool ok = mariadb_session_execute(target->session, &text, &rows, 1, NULL,
                                      mariadb_tool_deadline(), err) == SERVER_OK;
    if (ok && !mariadb_rows_int(&rows, 0, 0, value))
        ok = err_set(err, 503, NULL, "the database '%.*s' cannot be read: a number is none",
                     SLICE_ARG(((const struct server_session *)target->session)->target));
    mariadb_rows_free(&rows);
    return ok;
}

static bool mariadb_copy_has_table(void *cls, const char *name, bool *has, struct err *err)
{
    struct slice sql = arena_printf(err->arena,
                                    "SELECT COUNT(*) FROM information_schema.TABLES"
                                    " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '%s'",
                                    name);
    int64_t count = 0;
    bool ok = mariadb_copy_query_int(cls, sql.data, &count, err);
    *has = count > 0;
    return ok;
}

/* "latin1_swedish_ci", "utf8mb3_bin", "utf8mb4_nopad_bin", "utf8mb4_0900_ai_ci". */
static uint8_t ignores_of(const char *collation)
{
    const char *last = strrchr(collation, '_');
    unsigned ignores = 0;
    if (last != NULL && strcmp(last, "_ci") == 0)
        ignores |= COPY_IGNORES_CASE;
    if (last != NULL && strstr(collation, "nopad") == NULL && strstr(collation, "_0900_") == NULL)
        ignores |= COPY_IGNORES_LAST_BLANKS;
    return (uint8_t)ignores;
}

static bool read_collations(struct mariadb_copy *target, struct copy_limits *limits,
                            struct err *err)
{
    struct mariadb_columns columns;
    if (mariadb_columns_read(target->session, &columns, mariadb_tool_deadline(), err) != SERVER_OK)
        return false;
    for (unsigned table = 0; table < ROWS_RECORDS; table++)
        for (unsigned i = 0; i < VALUE_COLUMNS_MOST; i++)
            limits->ignores[table][i] = ignores_of(columns.of[table][i].collation);
    return true;
}

static bool mariadb_copy_read_limits(void *cls, struct copy_limits *limits, struct err *err)
{
    struct mariadb_copy *target = cls;
    *limits = (struct copy_limits){
        .values = mariadb_value_limits, .time_least_us = YEAR_1000_US, .ratio_most = FLT_MAX};
    size_t text_most = mariadb_session_server(target->session)->text_bytes_most;
    limits->row_bytes_most = text_most > 2 * ROW_BYTES ? text_most - ROW_BYTES : ROW_BYTES;
    return mariadb_value_facts_read((struct server_session *)target->session, &limits->values,
                                    mariadb_tool_deadline(), err) == SERVER_OK &&
           read_collations(target, limits, err);
}

/* ---- what an unfinished copy has left ---- */

struct removal {
    void (*go_on)(void *cls, int64_t rows);
    void *cls;
    int64_t rows;
};

static bool execute_until_none(struct mariadb_copy *target, const char *sql,
                               struct removal *removal, struct err *err)
{
    uint64_t affected;
    do {
        if (!mariadb_copy_mark_execute(target->session, &target->mark, slice_of(sql), &affected,
                                       err))
            return false;
        removal->rows += (int64_t)affected;
        removal->go_on(removal->cls, removal->rows);
    } while (affected > 0);
    return true;
}

/* Providers refer to each other. */
static bool remove_rows(struct mariadb_copy *target, const struct copy_table *table,
                        struct removal *removal, struct err *err)
{
    struct buf sql = {0};
    if (table->rows == ROWS_PROVIDERS &&
        !execute_until_none(
            target,
            "UPDATE resource_providers SET root_provider_id = NULL, parent_provider_id = NULL"
            " WHERE root_provider_id IS NOT NULL OR parent_provider_id IS NOT NULL"
            " ORDER BY id LIMIT 5000",
            removal, err))
        return false;
    buf_printf(&sql, "DELETE FROM %s", table->name);
    copy_table_append_order(table, &sql);
    buf_printf(&sql, " LIMIT %d%c", REMOVED_ROWS, '\0');
    bool ok = execute_until_none(target, sql.data, removal, err);
    buf_free(&sql);
    return ok;
}

static bool read_mark(struct mariadb_copy *target, struct err *err)
{
    const struct mariadb_text text = {.sql = SLICE_LIT("SELECT version_num FROM alembic_version"),
                                      .statements = 1,
                                      .what = "read"};
    struct mariadb_rows rows = {0};
    bool ok = mariadb_session_execute(target->session, &text, &rows, 1, NULL,
                                      mariadb_tool_deadline(), err) == SERVER_OK;
    snprintf(target->mark.text, sizeof(target->mark.text), "%.*s",
             SLICE_ARG(mariadb_rows_bytes(&rows, 0, 0)));
    mariadb_rows_free(&rows);
    return ok;
}

static bool mariadb_copy_clean(void *cls, const struct copy_table *tables,
                               void (*go_on)(void *, int64_t), void *go_on_cls, struct err *err)
{
    struct mariadb_copy *target = cls;
    struct removal removal = {go_on, go_on_cls, 0};
    if (!read_mark(target, err) || !mariadb_copy_mark_set(target->session, &target->mark, err))
        return false;
    for (unsigned i = COPY_TABLES; i-- > 0;) {
        bool exists;
        if (!mariadb_copy_has_table(target, tables[i].name, &exists, err) ||
            (exists && !remove_rows(target, &tables[i], &removal, err)))
            return false;
    }
    return mariadb_copy_mark_remove(target->session, &target->mark,
                                    schema_revision_ids[SCHEMA_NEWEST], err);
}

/* ---- writing ---- */

static bool mariadb_copy_start(void *cls, const struct copy_table *tables, struct err *err)
{
    struct mariadb_copy *target = cls;
    (void)tables;
    snprintf(target->mark.text, sizeof(target->mark.text), "%s",
             schema_revision_ids[SCHEMA_NEWEST]);
    return mariadb_copy_mark_set(target->session, &target->mark, err);
}

static bool mariadb_copy_abandon(void *cls, struct err *err)
{
    struct mariadb_copy *target = cls;
    return mariadb_copy_mark_remove(target->session, &target->mark,
                                    schema_revision_ids[SCHEMA_NEWEST], err);
}

static bool mariadb_copy_delete_names(void *cls, struct err *err)
{
    struct mariadb_copy *target = cls;
    return mariadb_copy_mark_execute(target->session, &target->mark,
                                     SLICE_LIT("DELETE FROM traits"), NULL, err) &&
           mariadb_copy_mark_execute(target->session, &target->mark,
                                     SLICE_LIT("DELETE FROM resource_classes"), NULL, err);
}

static bool mariadb_copy_flush(void *cls, struct err *err)
{
    struct mariadb_copy *target = cls;
    if (target->rows == 0)
        return true;
    if (target->table == NULL)
        buf_printf(&target->sql, ") AS u ON u.id = p.id SET p.root_provider_id = u.root,"
                                 " p.parent_provider_id = u.parent");
    bool ok = mariadb_copy_mark_execute(target->session, &target->mark, buf_slice(&target->sql),
                                        NULL, err);
    target->rows = 0;
    target->sql.len = 0;
    return ok;
}

static void append_value(const struct copy_table *table, const struct copy_column *column,
                         const struct cell *cell, struct buf *sql)
{
    if (cell->is_null)
        buf_append_lit(sql, "NULL");
    else if (column->cell == CELL_TEXT)
        mariadb_literal_text(sql, cell->text);
    else if (column->cell == CELL_RATIO)
        mariadb_literal_double(sql, cell->ratio);
    else if (column->cell != CELL_TIME)
        mariadb_literal_int(sql, cell->integer);
    else if (rows_is_record(table->rows))
        mariadb_literal_instant(sql, cell->integer);
    else
        mariadb_literal_second(sql, cell->integer);
}

/* Appends target->row to the chunk. */
static bool append_row(struct mariadb_copy *target, const struct copy_table *table, size_t most,
                       struct slice between, struct err *err)
{
    bool is_full =
        target->rows >= most || target->sql.len + target->row.len + ROW_BYTES / 2 > CHUNK_BYTES;
    if ((is_full || target->table != table) && !mariadb_copy_flush(target, err))
        return false;
    if (target->rows++ > 0) {
        buf_append_slice(&target->sql, between);
    } else if (table == NULL) {
        buf_append_lit(&target->sql, "UPDATE resource_providers AS p JOIN (");
    } else {
        buf_printf(&target->sql, "INSERT INTO %s (", table->name);
        copy_table_append_columns(table, "", '`', &target->sql);
        buf_append_lit(&target->sql, ") VALUES ");
    }
    target->table = table;
    buf_append_slice(&target->sql, buf_slice(&target->row));
    return true;
}

static bool mariadb_copy_write(void *cls, const struct copy_table *table, const struct cell *cells,
                               struct err *err)
{
    struct mariadb_copy *target = cls;
    target->row.len = 0;
    for (unsigned i = 0; i < table->count; i++) {
        buf_append_char(&target->row, i == 0 ? '(' : ',');
        append_value(table, &table->columns[i], &cells[i], &target->row);
    }
    buf_append_char(&target->row, ')');
    return append_row(target, table, CHUNK_ROWS, SLICE_LIT(","), err);
}

static bool mariadb_copy_write_parents(void *cls, int64_t id, int64_t root_id, int64_t parent_id,
                                       struct err *err)
{
    struct mariadb_copy *target = cls;
    target->row.len = 0;
    buf_printf(&target->row, "SELECT %lld AS id, ", (long long)id);
    mariadb_literal_reference(&target->row, root_id);
    buf_append_lit(&target->row, " AS root, ");
    mariadb_literal_reference(&target->row, parent_id);
    buf_append_lit(&target->row, " AS parent");
    return append_row(target, NULL, PARENT_ROWS, SLICE_LIT(" UNION ALL "), err);
}

/* ---- reading ---- */

static bool begin_snapshot(struct mariadb_copy *target, struct err *err)
{
    if (target->is_reading)
        return true;
    target->is_reading = true;
    return mariadb_copy_run(target, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                            err) &&
           mariadb_copy_run(target, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", err);
}

static bool mariadb_copy_read_begin(void *cls, const struct copy_table *table, struct err *err)
{
    struct mariadb_copy *target = cls;
    if (!begin_snapshot(target, err))
        return false;
    target->sql.len = 0;
    target->cells.count = table->count;
    for (unsigned i = 0; i < table->count; i++)
        target->cells.kinds[i] = (uint8_t)table->columns[i].cell;
    buf_append_lit(&target->sql, "SELECT ");
    copy_table_append_columns(table, "", '`', &target->sql);
    buf_printf(&target->sql, " FROM %s FORCE INDEX (PRIMARY)", table->name);
    copy_table_append_order(table, &target->sql);
    const struct mariadb_text text = {.sql = buf_slice(&target->sql), .what = "read"};
    return mariadb_stream_begin(target->session, &text, err) == SERVER_OK;
}

static bool mariadb_copy_read_next(void *cls, struct cell *cells, bool *has_row, struct err *err)
{
    struct mariadb_copy *target = cls;
    const char *values[COPY_COLUMNS_MOST];
    unsigned long lengths[COPY_COLUMNS_MOST];
    enum server_outcome outcome =
        mariadb_stream_next(target->session, &target->read, mariadb_tool_deadline(), err);
    *has_row = outcome == SERVER_OK;
    if (!*has_row)
        return outcome == SERVER_END;
    for (unsigned i = 0; i < target->cells.count; i++) {
        struct slice value = mariadb_rows_bytes(&target->read, 0, i);
        values[i] = value.data;
        lengths[i] = value.len;
    }
    mariadb_cells_read(&target->cells, values, lengths);
    memcpy(cells, target->cells.at, target->cells.count * sizeof(*cells));
    return true;
}

/* Counters of ids follow the rows by themselves. */
static bool mariadb_copy_finish(void *cls, const struct copy_table *tables, struct err *err)
{
    struct mariadb_copy *target = cls;
    (void)tables;
    return mariadb_copy_run(target, "COMMIT", err) &&
           mariadb_copy_mark_remove(target->session, &target->mark,
                                    schema_revision_ids[SCHEMA_NEWEST], err);
}

const struct copy_target_driver mariadb_copy_target = {
    .open = mariadb_copy_open,
    .close = mariadb_copy_close,
    .has_table = mariadb_copy_has_table,
    .query_int = mariadb_copy_query_int,
    .clean = mariadb_copy_clean,
    .read_limits = mariadb_copy_read_limits,
    .forms = {.has_whole_seconds = true, .has_single_ratios = true},
    .start = mariadb_copy_start,
    .abandon = mariadb_copy_abandon,
    .delete_names = mariadb_copy_delete_names,
    .write = mariadb_copy_write,
    .flush = mariadb_copy_flush,
    .write_parents = mariadb_copy_write_parents,
    .read_begin = mariadb_copy_read_begin,
    .read_next = mariadb_copy_read_next,
    .finish = mariadb_copy_finish,
    .left_behind = "the target has an unfinished copy, which no berthd serves: run the command "
                   "again to start from the beginning",
};
