/* SQL generated from the tables of fields.
 *
 * Uniqueness is enforced by separate indexes, because SQLite cannot add a unique column to an
 * existing table. Columns that only a newer berth knows are left unchanged: a put names its own
 * columns. One thread at a time. */
#include "store/sqlite/record_sql.h"

/* The columns that the table has in the database. */
struct columns {
    unsigned count; /* of any name */
    bool has[RECORD_FIELDS_MAX];
};

static bool read_columns(struct db *db, const struct record_table_info *table,
                         struct columns *columns, struct err *err)
{
    *columns = (struct columns){0};
    sqlite3_stmt *rows = db_prepare(db, "SELECT name FROM pragma_table_info(?1)", err);
    if (rows == NULL)
        return false;
    sqlite3_bind_text(rows, 1, table->name, -1, SQLITE_STATIC);
    int rc;
    while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
        struct slice name = db_column_text(rows, 0);
        columns->count++;
        for (unsigned i = 0; i < table->shape->stored; i++)
            columns->has[i] |= slice_equal_nocase(slice_of(table->shape->fields[i].name), name);
    }
    if (rc != SQLITE_DONE)
        db_fail(db, "read", err);
    sqlite3_finalize(rows);
    return rc == SQLITE_DONE;
}

static const char *type_of(const struct record_field *field)
{
    static const char *const types[] = {
        [RECORD_TEXT] = "TEXT", [RECORD_BOOL] = "BOOLEAN", [RECORD_TIME] = "DATETIME",
        [RECORD_JSON] = "TEXT", [RECORD_WORDS] = "TEXT",   [RECORD_REFERENCE] = "INTEGER",
    };
    check(field->kind < sizeof(types) / sizeof(types[0]));
    return types[field->kind];
}

static bool record_sql_run(struct db *db, struct buf *sql, struct err *err)
{
    buf_append_char(sql, '\0');
    bool ok = db_exec(db, sql->data, err);
    sql->len = 0;
    return ok;
}

static bool make_table(struct db *db, const struct record_table_info *table, struct buf *sql,
                       struct err *err)
{
    buf_printf(sql, "CREATE TABLE %s (id INTEGER PRIMARY KEY", table->name);
    for (unsigned i = 0; i < table->shape->stored; i++)
        buf_printf(sql, ", %s %s", table->shape->fields[i].name, type_of(&table->shape->fields[i]));
    buf_append_char(sql, ')');
    return record_sql_run(db, sql, err);
}

static bool make(struct db *db, const struct record_table_info *table, struct buf *sql,
                 struct err *err)
{
    struct columns columns;
    if (!read_columns(db, table, &columns, err))
        return false;
    if (columns.count == 0 && !make_table(db, table, sql, err))
        return false;
    for (unsigned i = 0; i < table->shape->stored; i++) {
        const struct record_field *field = &table->shape->fields[i];
        if (columns.count > 0 && !columns.has[i]) {
            buf_printf(sql, "ALTER TABLE %s ADD COLUMN %s %s", table->name, field->name,
                       type_of(field));
            if (!record_sql_run(db, sql, err))
                return false;
        }
        if ((field->flags & RECORD_UNIQUE) != 0) {
            buf_printf(sql, "CREATE UNIQUE INDEX IF NOT EXISTS %s_%s ON %s (%s)", table->name,
                       field->name, table->name, field->name);
            if (!record_sql_run(db, sql, err))
                return false;
        }
    }
    return true;
}

bool record_sql_make_tables(struct db *db, struct err *err)
{
    struct buf sql = {0};
    bool ok = true;
    for (int i = 0; i < RECORD_TABLE_COUNT && ok; i++)
        ok = make(db, &record_tables[i], &sql, err);
    buf_free(&sql);
    return ok;
}

bool record_sql_is_whole(struct db *db, const struct record_table_info *table, bool *is_whole,
                         struct err *err)
{
    struct columns columns;
    if (!read_columns(db, table, &columns, err))
        return false;
    *is_whole = columns.count > 0;
    for (unsigned i = 0; i < table->shape->stored; i++)
        *is_whole &= columns.has[i];
    return true;
}

bool record_sql_select(struct db *db, const struct record_table_info *table, struct buf *sql,
                       bool *exists, struct err *err)
{
    struct columns columns;
    if (!read_columns(db, table, &columns, err))
        return false;
    *exists = columns.count > 0;
    buf_append_lit(sql, "SELECT t.id");
    for (unsigned i = 0; i < table->shape->stored; i++) {
        const char *name = table->shape->fields[i].name;
        if (!columns.has[i])
            buf_append_lit(sql, ", NULL");
        else if (table->shape->fields[i].kind == RECORD_JSON)
            /* Answers copy it unchanged. A value that is not text is never passed to json_valid. */
            buf_printf(sql,
                       ", CASE typeof(t.%s) WHEN 'text' THEN CASE json_valid(t.%s) WHEN 1 THEN"
                       " CASE json_type(t.%s) WHEN 'object' THEN t.%s END END END",
                       name, name, name, name);
        else
            buf_printf(sql, ", t.%s", name);
    }
    buf_printf(sql, " FROM %s t", table->name);
    return true;
}

static void append_put(const struct record_table_info *table, struct buf *sql)
{
    buf_printf(sql, "INSERT INTO %s (id", table->name);
    for (unsigned i = 0; i < table->shape->stored; i++)
        buf_printf(sql, ", %s", table->shape->fields[i].name);
    buf_append_lit(sql, ") VALUES (?1");
    for (unsigned i = 0; i < table->shape->stored; i++)
        buf_printf(sql, ", ?%u", i + 2);
    buf_printf(sql, ") ON CONFLICT (id) DO UPDATE SET ");
    for (unsigned i = 0; i < table->shape->stored; i++)
        buf_printf(sql, "%s%s = excluded.%s", i == 0 ? "" : ", ", table->shape->fields[i].name,
                   table->shape->fields[i].name);
}

void record_sql_statement(enum change_kind kind, struct buf *sql)
{
    const struct record_table_info *table = record_table_of(kind);
    check(table != NULL);
    if (kind == table->put)
        append_put(table, sql);
    else
        buf_printf(sql, "DELETE FROM %s WHERE id = ?1", table->name);
}
