/* The prepared statements of the writer's connection: prepared on first use, kept as long as the
 * connection. Statements of changes number their parameters in the same way: ?1 created_at, ?2
 * updated_at, ?3 and following the row. Those that insert rows are generated from the columns
 * (rows.h); those of records are generated from their fields (record_sql.h). The writer only. */
#include "store/sqlite/internal.h"

/* A number as rows.c reads it. */
#define AS_READ(figure) "max(min(CAST(" figure " AS INTEGER), 2147483647), -2147483648)"

static const char *const statement_sql[STATEMENT_COUNT] = {
    [STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [STATEMENT_BEGIN_READ] = "BEGIN",
    [STATEMENT_COMMIT] = "COMMIT",
    [STATEMENT_ROLLBACK] = "ROLLBACK",
    [STATEMENT_DATA_VERSION] = "PRAGMA data_version",
    /* The two are equal unless another program altered one of them. */
    [STATEMENT_HEAD_READ] = "SELECT max(ifnull((SELECT CAST(seq AS INTEGER) FROM berth_head), 0),"
                            " ifnull((SELECT max(seq) FROM berth_log), 0))",
    [STATEMENT_HEAD_SET] = "INSERT OR REPLACE INTO berth_head (id, seq) VALUES (1, ?1)",
    [STATEMENT_LOG_INSERT] = "INSERT INTO berth_log (seq, mark, created_at, change, entities)"
                             " VALUES (?1, ?2, ?3, ?4, ?5)",
    [STATEMENT_LOG_TRIM] = "DELETE FROM berth_log WHERE seq <= ?1",
    [STATEMENT_LOG_READ] = "SELECT seq, change, entities FROM berth_log WHERE seq > ?1"
                           " ORDER BY seq",

    /* The indexes of name and parent are not updated. */
    [STATEMENT_ROOT_SET] = "UPDATE resource_providers SET root_provider_id = ?4, updated_at = ?2"
                           " WHERE id = ?3",
    /* Nor are those of project, user and type, each of which would be rewritten. */
    [STATEMENT_CONSUMER_GENERATION] = "UPDATE consumers SET generation = ?7, updated_at = ?2"
                                      " WHERE id = ?3 AND " AS_READ("generation") " = ?9",

    [STATEMENT_CHANGE + CHANGE_CLASS_RENAME] =
        "UPDATE resource_classes SET name = ?4, updated_at = ?2 WHERE id = ?3",
    [STATEMENT_CHANGE + CHANGE_CLASS_DELETE] = "DELETE FROM resource_classes WHERE id = ?3",
    [STATEMENT_CHANGE + CHANGE_TRAIT_DELETE] = "DELETE FROM traits WHERE id = ?3",

    [STATEMENT_CHANGE + CHANGE_PROVIDER_UPDATE] =
        "UPDATE resource_providers SET name = ?5, root_provider_id = ?7, parent_provider_id = ?8,"
        " updated_at = ?2 WHERE id = ?3",
    [STATEMENT_CHANGE + CHANGE_PROVIDER_GENERATION] =
        "UPDATE resource_providers SET generation = ?4, updated_at = ?2"
        " WHERE id = ?3 AND " AS_READ("ifnull(generation, 0)") " = ?5",
    [STATEMENT_CHANGE + CHANGE_PROVIDER_DELETE] = "DELETE FROM resource_providers WHERE id = ?3",

    [STATEMENT_CHANGE + CHANGE_INVENTORY_UPDATE] =
        "UPDATE inventories SET total = ?5, reserved = ?6, min_unit = ?7, max_unit = ?8,"
        " step_size = ?9, allocation_ratio = ?10, updated_at = ?2"
        " WHERE resource_provider_id = ?3 AND resource_class_id = ?4",
    [STATEMENT_CHANGE + CHANGE_INVENTORY_DELETE] =
        "DELETE FROM inventories WHERE resource_provider_id = ?3 AND resource_class_id = ?4",

    [STATEMENT_CHANGE + CHANGE_PROVIDER_TRAIT_DELETE] =
        "DELETE FROM resource_provider_traits WHERE resource_provider_id = ?3 AND trait_id = ?4",
    [STATEMENT_CHANGE + CHANGE_PROVIDER_AGGREGATE_DELETE] =
        "DELETE FROM resource_provider_aggregates"
        " WHERE resource_provider_id = ?3 AND aggregate_id = ?4",

    [STATEMENT_CHANGE + CHANGE_CONSUMER_UPDATE] =
        "UPDATE consumers SET project_id = ?5, user_id = ?6, generation = ?7,"
        " consumer_type_id = ?8, updated_at = ?2 WHERE id = ?3 AND " AS_READ("generation") " = ?9",
    [STATEMENT_CHANGE + CHANGE_CONSUMER_DELETE] = "DELETE FROM consumers WHERE id = ?3",

    [STATEMENT_CHANGE + CHANGE_ALLOCATIONS_OF_DELETE] =
        "DELETE FROM allocations WHERE consumer_id = ?4",
};

bool statement_has_many(enum change_kind kind)
{
    return kind == CHANGE_CONSUMER_INSERT || kind == CHANGE_ALLOCATION_INSERT;
}

/* The statement of a change that is not in the list above. */
static void make_change(struct buf *made, enum change_kind kind)
{
    enum rows_table table = rows_inserted_by(kind);
    if (table == ROWS_TABLE_COUNT) {
        record_sql_statement(kind, made);
        return;
    }
    buf_append_lit(made, "INSERT ");
    rows_append_into(made, table, 1, '?');
}

/* OR FAIL saves SQLite from copying pages in order to undo the first rows; whoever ends the
 * transaction does that. */
static void make_many(struct buf *made, enum change_kind kind)
{
    buf_append_lit(made, "INSERT OR FAIL ");
    rows_append_into(made, rows_inserted_by(kind), STATEMENT_ROWS, '?');
}

sqlite3_stmt *sqlite_statement(struct sqlite_store *store, int which, struct err *err)
{
    if (store->statements[which] != NULL)
        return store->statements[which];
    struct buf made = {0};
    if (which >= STATEMENT_MANY)
        make_many(&made, (enum change_kind)(which - STATEMENT_MANY));
    else if (statement_sql[which] == NULL)
        make_change(&made, (enum change_kind)(which - STATEMENT_CHANGE));
    buf_append_char(&made, '\0');
    store->statements[which] =
        db_prepare(&store->writer, made.len > 1 ? made.data : statement_sql[which], err);
    buf_free(&made);
    return store->statements[which];
}

/* The connection may cache pages of a broken file, and find them there when the file has been
 * repaired. */
static bool statements_fail(struct sqlite_store *store, const char *what, struct err *err)
{
    int primary = sqlite3_errcode(store->writer.handle) & 0xff;
    if (primary == SQLITE_IOERR || primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
        store->transaction.broken = true;
    return db_fail(&store->writer, what, err);
}

bool sqlite_read_failed(struct sqlite_store *store, struct err *err)
{
    return statements_fail(store, "read", err);
}

bool sqlite_step(struct sqlite_store *store, sqlite3_stmt *statement, struct err *err)
{
    int rc = sqlite3_step(statement);
    if (rc != SQLITE_DONE)
        statements_fail(store, "written", err);
    sqlite3_reset(statement);
    return rc == SQLITE_DONE;
}

bool sqlite_run(struct sqlite_store *store, int which, struct err *err)
{
    sqlite3_stmt *statement = sqlite_statement(store, which, err);
    return statement != NULL && sqlite_step(store, statement, err);
}

bool sqlite_data_version(struct sqlite_store *store, int64_t *version, struct err *err)
{
    sqlite3_stmt *statement = sqlite_statement(store, STATEMENT_DATA_VERSION, err);
    if (statement == NULL)
        return false;
    bool ok = sqlite3_step(statement) == SQLITE_ROW;
    if (ok)
        *version = sqlite3_column_int64(statement, 0);
    else
        sqlite_read_failed(store, err);
    sqlite3_reset(statement);
    return ok;
}

void sqlite_bind_instant(struct sqlite_store *store, sqlite3_stmt *statement, int at, int64_t us)
{
    if (us == 0) {
        sqlite3_bind_null(statement, at);
        return;
    }
    if (us != store->formatted_us) {
        instant_format(us, store->formatted);
        store->formatted_us = us;
    }
    /* Two timestamps may be bound before the step, so the text is copied. */
    sqlite3_bind_text(statement, at, store->formatted, INSTANT_LEN, SQLITE_TRANSIENT);
}
