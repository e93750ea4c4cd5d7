/* See row_reader.h. Reading a row by its id costs no round trip, so sets are read id by id with
 * prepared statements. Writer thread, inside its transaction. */
#include "store/sqlite/row_reader.h"

#include "store/sqlite/cells.h"
#include "store/sqlite/rows_sql.h"

/* One of our tables was altered: the next begin creates what is missing, as a start does. */
static bool refuse_broken(struct sqlite_store *store, const struct record_table_info *table,
                          struct err *err)
{
    sqlite_forget_file(store);
    return err_set(err, 503, NULL,
                   "the database '%s' lacks the table %s or a column of it, which is created again",
                   store->writer.path, table->name);
}

/* Prepares reading the table's rows; *rows stays NULL with true: the file cannot be written and
 * does not have the table. */
static bool prepare_records(struct sqlite_store *store, enum rows_table of, const char *tail,
                            sqlite3_stmt **rows, struct err *err)
{
    const struct record_table_info *table = rows_record_info(of);
    struct buf sql = {0};
    bool exists = false;
    bool is_whole = false;
    bool ok = record_sql_is_whole(&store->writer, table, &is_whole, err) &&
              record_sql_select(&store->writer, table, &sql, &exists, err);
    if (ok && !is_whole && !store->read_only)
        ok = refuse_broken(store, table, err);
    if (ok && exists) {
        buf_printf(&sql, " %s", tail);
        buf_append_char(&sql, '\0');
        *rows = db_prepare(&store->writer, sql.data, err);
        ok = *rows != NULL;
    }
    buf_free(&sql);
    return ok;
}

static bool prepare_rows(struct sqlite_store *store, enum rows_table table,
                         void append(enum rows_table table, struct buf *sql), sqlite3_stmt **rows,
                         struct err *err)
{
    struct buf sql = {0};
    append(table, &sql);
    *rows = db_prepare(&store->writer, sql.data, err);
    buf_free(&sql);
    return *rows != NULL;
}

static bool stream(void *cls, enum rows_table table, row_take *take, void *take_cls,
                   struct err *err)
{
    struct sqlite_store *store = cls;
    struct cells cells;
    sqlite3_stmt *rows = NULL;
    if (rows_is_record(table) ? !prepare_records(store, table, "ORDER BY t.id", &rows, err)
                              : !prepare_rows(store, table, rows_sql_all, &rows, err))
        return false;
    if (rows == NULL)
        return true;
    int rc;
    cells_begin(&cells, table);
    while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
        cells_read(&cells, rows);
        take(take_cls, cells.at);
    }
    if (rc != SQLITE_DONE)
        sqlite_read_failed(store, err);
    sqlite3_finalize(rows);
    return rc == SQLITE_DONE;
}

/* The rows of one id. */
static bool find_id(struct sqlite_store *store, const struct row_set *set, int64_t id,
                    struct cells *cells, struct err *err)
{
    sqlite3_stmt *rows = store->row_statements[set->table];
    int rc;
    sqlite3_bind_int64(rows, 1, id);
    while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
        cells_read(cells, rows);
        row_set_take(set, cells->at);
    }
    if (rc != SQLITE_DONE)
        sqlite_read_failed(store, err);
    sqlite3_reset(rows);
    return rc == SQLITE_DONE;
}

static bool find_set(struct sqlite_store *store, const struct row_set *set, struct err *err)
{
    struct cells cells;
    sqlite3_stmt **rows = &store->row_statements[set->table];
    if (*rows == NULL && (rows_is_record(set->table)
                              ? !prepare_records(store, set->table, "WHERE t.id = ?1", rows, err)
                              : !prepare_rows(store, set->table, rows_sql_of_id, rows, err)))
        return false;
    cells_begin(&cells, set->table);
    for (size_t i = 0; *rows != NULL && i < set->count; i++)
        if (!find_id(store, set, set->ids[i], &cells, err))
            return false;
    return true;
}

static bool row_reader_find_sets(void *cls, const struct row_set *sets, size_t count,
                                 struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (!find_set(cls, &sets[i], err))
            return false;
    return true;
}

struct row_reader sqlite_row_reader(struct sqlite_store *store)
{
    return (struct row_reader){
        .name = store->path, .cls = store, .stream = stream, .find = row_reader_find_sets};
}
