/* See copy_source.h. The database is locked as a restore locks it: a connection in WAL mode holds a
 * shared lock as long as it is open, so the lock is refused while the database is in use, and once
 * it is taken nobody opens it. Nothing is written to the database; a -wal stays as it is. One
 * thread. */
#include "store/sqlite/copy_source.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "store/instant.h"
#include "store/sqlite/db.h"
#include "store/sqlite/holder.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/url.h"

enum { SOURCE_WAIT_MS = 1000 }; /* for a tool that reads the database briefly */

struct sqlite_copy {
    struct db db;
    char path[PATH_MAX];
    const struct copy_table *table;
    sqlite3_stmt *rows;       /* NULL: the table is missing */
    sqlite3_stmt *json;       /* whether a text is JSON */
    struct instant_text time; /* the last one read: rows written together have the same times */
};

static bool refuse_used(const struct sqlite_copy *source, const struct stat *file, struct err *err)
{
    char who[HOLDER_BYTES];
    if (!holder_find(file, who))
        snprintf(who, sizeof(who), "another process");
    return err_set(err, 503, NULL,
                   "the database '%s' is in use by %s: stop it before the database is copied",
                   source->path, who);
}

static bool open_locked(struct sqlite_copy *source, struct err *err)
{
    const struct db_options options = {.path = source->path,
                                       .busy_timeout_ms = SOURCE_WAIT_MS,
                                       .keep_journal = true,
                                       .exclusive = true};
    struct err failed = {.arena = err->arena};
    struct stat file = {0};
    char who[HOLDER_BYTES];
    bool is_open = db_open(&source->db, &options, &failed);
    (void)!stat(source->path, &file);
    if (!is_open && source->db.open_code == SQLITE_BUSY)
        return refuse_used(source, &file, err);
    if (!is_open)
        return err_set_text(err, failed.status, failed.code, failed.message);
    return !holder_find(&file, who) || refuse_used(source, &file, err);
}

static void sqlite_copy_close(void *cls)
{
    struct sqlite_copy *source = cls;
    db_close(&source->db, true);
    free(source);
}

static void *sqlite_copy_open(struct slice connection, struct err *err)
{
    struct slice path;
    char revision[STORE_REVISION_BYTES];
    if (!sqlite_url_parse(connection, &path, err))
        return NULL;
    if (path.len == 0 || path.len >= PATH_MAX) {
        err_set(err, 400, NULL, "a database in memory cannot be copied");
        return NULL;
    }
    struct sqlite_copy *source = calloc(1, sizeof(*source));
    check(source != NULL);
    snprintf(source->path, sizeof(source->path), "%.*s", SLICE_ARG(path));
    if (open_locked(source, err) && migrate_check_served(&source->db, revision, err) &&
        (source->json = db_prepare(&source->db, "SELECT json_valid(?1)", err)) != NULL)
        return source;
    sqlite_copy_close(source);
    return NULL;
}

/* ---- rows ---- */

static bool has_column(struct sqlite_copy *source, const char *table, const char *column, bool *has,
                       struct err *err)
{
    sqlite3_stmt *names = db_prepare(
        &source->db, "SELECT 1 FROM pragma_table_info(?1) WHERE lower(name) = lower(?2)", err);
    if (names == NULL)
        return false;
    sqlite3_bind_text(names, 1, table, -1, SQLITE_STATIC);
    sqlite3_bind_text(names, 2, column, -1, SQLITE_STATIC);
    int rc = sqlite3_step(names);
    *has = rc == SQLITE_ROW;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        db_fail(&source->db, "read", err);
    sqlite3_finalize(names);
    return !err_is_set(err);
}

/* A column that only a newer berth creates is null. */
static bool append_source_columns(struct sqlite_copy *source, const struct copy_table *table,
                                  struct buf *sql, struct err *err)
{
    for (unsigned i = 0; i < table->count; i++) {
        const char *name = table->columns[i].name;
        bool has = false;
        if (!has_column(source, table->name, name, &has, err))
            return false;
        if (has)
            buf_printf(sql, "%s\"%s\"", i == 0 ? "SELECT " : ", ", name);
        else
            buf_printf(sql, "%sNULL", i == 0 ? "SELECT " : ", ");
    }
    return true;
}

static bool sqlite_copy_begin(void *cls, const struct copy_table *table, struct err *err)
{
    struct sqlite_copy *source = cls;
    struct buf sql = {0};
    bool exists = false;
    sqlite3_finalize(source->rows);
    source->rows = NULL;
    source->table = table;
    bool ok = has_column(source, table->name, table->columns[0].name, &exists, err);
    if (ok && exists) {
        ok = append_source_columns(source, table, &sql, err);
        buf_printf(&sql, " FROM %s", table->name);
        copy_table_append_order(table, &sql);
        buf_append_char(&sql, '\0');
        ok = ok && (source->rows = db_prepare(&source->db, sql.data, err)) != NULL;
    }
    buf_free(&sql);
    return ok;
}

static bool is_json(struct sqlite_copy *source, struct slice text)
{
    sqlite3_reset(source->json);
    sqlite3_bind_text64(source->json, 1, text.data, text.len, SQLITE_STATIC, SQLITE_UTF8);
    return sqlite3_step(source->json) == SQLITE_ROW && sqlite3_column_int(source->json, 0) == 1;
}

static int64_t read_instant(struct instant_text *last, struct slice text)
{
    if (text.len != INSTANT_LEN)
        return instant_parse(text);
    if (last->us == 0 || memcmp(last->text, text.data, INSTANT_LEN) != 0) {
        last->us = instant_parse(text);
        memcpy(last->text, text.data, INSTANT_LEN);
    }
    return last->us;
}

static struct slice copy_source_text(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return (struct slice){text, text == NULL ? 0 : (size_t)sqlite3_value_bytes(value)};
}

/* False: the value is of another type. The functions on a value take no lock (cells.c). */
static bool read_value(struct sqlite_copy *source, const struct copy_column *column,
                       sqlite3_value *value, struct cell *cell)
{
    int type = sqlite3_value_type(value);
    *cell = (struct cell){.is_null = type == SQLITE_NULL};
    if (cell->is_null)
        return true;
    switch (column->cell) {
    case CELL_INTEGER:
    case CELL_NUMBER:
        cell->integer = sqlite3_value_int64(value);
        return type == SQLITE_INTEGER;
    case CELL_RATIO:
        cell->ratio = sqlite3_value_double(value);
        return type == SQLITE_FLOAT || type == SQLITE_INTEGER;
    case CELL_TEXT:
        cell->text = copy_source_text(value);
        return type == SQLITE_TEXT && (!column->is_json || is_json(source, cell->text));
    case CELL_TIME:
        if (type == SQLITE_TEXT)
            cell->integer = read_instant(&source->time, copy_source_text(value));
        return cell->integer != 0;
    }
    return false;
}

static bool sqlite_copy_next(void *cls, struct cell *cells, unsigned *wrong, bool *has_row,
                             struct err *err)
{
    struct sqlite_copy *source = cls;
    int rc = source->rows == NULL ? SQLITE_DONE : sqlite3_step(source->rows);
    *has_row = rc == SQLITE_ROW;
    *wrong = COPY_NOTHING_WRONG;
    if (rc != SQLITE_ROW)
        return rc == SQLITE_DONE || db_fail(&source->db, "read", err);
    for (unsigned i = 0; i < source->table->count; i++)
        if (!read_value(source, &source->table->columns[i],
                        sqlite3_column_value(source->rows, (int)i), &cells[i]) &&
            *wrong == COPY_NOTHING_WRONG)
            *wrong = i;
    return true;
}

static bool sqlite_copy_find_dangling(void *cls, const struct copy_reference *reference,
                                      int64_t *id, bool *is_found, struct err *err)
{
    struct sqlite_copy *source = cls;
    struct buf sql = {0};
    buf_printf(&sql,
               "SELECT t.%s FROM %s t WHERE t.%s IS NOT NULL"
               " AND NOT EXISTS (SELECT 1 FROM %s k WHERE k.id = t.%s) LIMIT 1%c",
               reference->column, rows_name(reference->table), reference->column,
               rows_name(reference->refers_to), reference->column, '\0');
    sqlite3_stmt *found = db_prepare(&source->db, sql.data, err);
    buf_free(&sql);
    if (found == NULL)
        return false;
    int rc = sqlite3_step(found);
    *is_found = rc == SQLITE_ROW;
    if (*is_found)
        *id = sqlite3_column_int64(found, 0);
    else if (rc != SQLITE_DONE)
        db_fail(&source->db, "read", err);
    sqlite3_finalize(found);
    return !err_is_set(err);
}

/* Only texts with a capital letter or a blank at the end can be equal to others. */
static bool may_be_equal(struct sqlite_copy *source, const char *table, const char *column,
                         const char *form, bool *may, struct err *err)
{
    int64_t found = 0;
    struct slice sql =
        arena_printf(err->arena, "SELECT 1 FROM %s WHERE %s <> %s LIMIT 1", table, column, form);
    bool ok = db_query_int(&source->db, sql.data, &found, err);
    *may = found != 0;
    return ok;
}

static bool sqlite_copy_find_equal(void *cls, const char *table, const char *column,
                                   unsigned ignores, struct slice *one, struct slice *other,
                                   bool *is_found, struct err *err)
{
    struct sqlite_copy *source = cls;
    struct slice form =
        arena_printf(err->arena, "%s%s%s%s", (ignores & COPY_IGNORES_CASE) != 0 ? "lower(" : "(",
                     (ignores & COPY_IGNORES_LAST_BLANKS) != 0 ? "rtrim(" : "(", column, "))");
    *is_found = false;
    if (!may_be_equal(source, table, column, form.data, is_found, err) || !*is_found)
        return !err_is_set(err);
    struct slice sql =
        arena_printf(err->arena, "SELECT min(%s), max(%s) FROM %s GROUP BY %s HAVING count(*) > 1",
                     column, column, table, form.data);
    sqlite3_stmt *found = db_prepare(&source->db, sql.data, err);
    if (found == NULL)
        return false;
    int rc = sqlite3_step(found);
    *is_found = rc == SQLITE_ROW;
    if (*is_found) {
        *one = arena_copy(err->arena, db_column_text(found, 0));
        *other = arena_copy(err->arena, db_column_text(found, 1));
    } else if (rc != SQLITE_DONE) {
        db_fail(&source->db, "read", err);
    }
    sqlite3_finalize(found);
    return !err_is_set(err);
}

const struct copy_source_driver sqlite_copy_source = {
    .open = sqlite_copy_open,
    .close = sqlite_copy_close,
    .begin = sqlite_copy_begin,
    .next = sqlite_copy_next,
    .find_dangling = sqlite_copy_find_dangling,
    .find_equal = sqlite_copy_find_equal,
};
