/* Writes, loads and follows rows of our own tables of records.
 *
 * A file may contain anything: an invalid value of a field counts as null, or, in a field without
 * null, as the value of a new row; texts longer than any that berth writes count as null; a row is
 * invisible without a valid uuid or another required value, or with an id below 1. Writer thread,
 * inside its transaction. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "store/sqlite/internal.h"

static void bind_text(sqlite3_stmt *statement, int at, struct slice text)
{
    /* The record is kept beyond the step. */
    if (text.data == NULL)
        sqlite3_bind_null(statement, at);
    else
        sqlite3_bind_text64(statement, at, text.data, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static void bind_number(sqlite3_stmt *statement, int at, int64_t number, int64_t is)
{
    if (number == 0)
        sqlite3_bind_null(statement, at);
    else
        sqlite3_bind_int64(statement, at, is);
}

void store_bind_row(struct store *store, sqlite3_stmt *statement, const struct change *change)
{
    const struct record_table_info *table = record_table_of(change->kind);
    const struct record *record = change->row.record;
    sqlite3_bind_int64(statement, 1, change->row.id);
    for (unsigned i = 0; record != NULL && i < table->shape->stored; i++) {
        int at = (int)i + 2;
        int64_t number = record_number(record, i);
        switch ((enum record_kind)table->shape->fields[i].kind) {
        case RECORD_TEXT:
        case RECORD_JSON:
        case RECORD_WORDS:
            bind_text(statement, at, record_text(record, i));
            break;
        case RECORD_BOOL:
            bind_number(statement, at, number, number == RECORD_TRUE);
            break;
        case RECORD_TIME:
            store_bind_instant(store, statement, at, number);
            break;
        case RECORD_REFERENCE:
            bind_number(statement, at, number, number);
            break;
        case RECORD_DERIVED:
            check(false);
        }
    }
}

/* Complete UTF-8 without NUL: a text that SQLite accepted as JSON may end at a NUL. */
static bool can_be_copied(struct slice text)
{
    for (size_t at = 0; at < text.len;) {
        size_t length = text.data[at] == '\0' ? 0 : utf8_length(text.data + at, text.len - at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

static struct slice read_words(const struct record_field *field, struct slice text,
                               struct arena *arena)
{
    struct slice *words = arena_array(arena, text.len / 2 + 1, sizeof(*words));
    size_t count = 0;
    struct slice word;
    while (record_next_word(&text, &word))
        if (word.len > 0)
            words[count++] = word;
    return record_join_words(arena, words, count, (field->flags & RECORD_SORTED) != 0);
}

static struct slice record_rows_read_text(const struct record_field *field, sqlite3_stmt *row,
                                          int column, struct arena *arena)
{
    static const struct slice none = {NULL, 0};
    if (sqlite3_column_type(row, column) != SQLITE_TEXT)
        return none;
    struct slice text = db_column_text(row, column);
    if ((field->flags & RECORD_IS_UUID) != 0 && !rows_read_uuid(row, column, &text))
        return none;
    if (text.len > RECORD_TEXT_MAX || (field->kind == RECORD_JSON && !can_be_copied(text)))
        return none;
    return field->kind == RECORD_WORDS ? read_words(field, text, arena) : text;
}

static struct record_value read_value(const struct record_field *field, sqlite3_stmt *row,
                                      int column, struct arena *arena)
{
    struct record_value value = {{NULL, 0}, RECORD_NULL};
    switch ((enum record_kind)field->kind) {
    case RECORD_TEXT:
    case RECORD_JSON:
    case RECORD_WORDS:
        value.text = record_rows_read_text(field, row, column, arena);
        break;
    case RECORD_BOOL:
        if (sqlite3_column_type(row, column) == SQLITE_INTEGER)
            value.number = sqlite3_column_int64(row, column) != 0 ? RECORD_TRUE : RECORD_FALSE;
        break;
    case RECORD_TIME:
        value.number = instant_parse(db_column_text(row, column));
        break;
    case RECORD_REFERENCE:
        value.number = rows_read_optional_id(row, column);
        break;
    case RECORD_DERIVED:
        check(false);
    }
    return value;
}

static bool is_needed(const struct record_field *field)
{
    bool is_own_uuid =
        (field->flags & RECORD_IS_UUID) != 0 && (field->flags & RECORD_NULLABLE) == 0;
    return is_own_uuid || (field->flags & RECORD_NEEDED) != 0;
}

/* The record of the statement's current row, in the arena; NULL for an invisible row. */
static const struct record *read_row(const struct record_table_info *table, sqlite3_stmt *row,
                                     struct arena *arena)
{
    struct record_value values[RECORD_FIELDS_MAX];
    int64_t id = sqlite3_column_int64(row, 0);
    if (id < 1)
        return NULL;
    for (unsigned i = 0; i < table->shape->stored; i++) {
        const struct record_field *field = &table->shape->fields[i];
        values[i] = read_value(field, row, (int)i + 1, arena);
        if (is_needed(field) && values[i].text.data == NULL && values[i].number == 0)
            return NULL;
    }
    return record_pack(table->shape, id, values, arena);
}

/* One of our tables was altered: the next begin creates what is missing, as a start does. */
static bool refuse_broken(struct store *store, const struct record_table_info *table,
                          struct err *err)
{
    store_forget_file(store);
    return err_set(err, 503, NULL,
                   "the database '%s' lacks the table %s or a column of it, which is created again",
                   store->writer.path, table->name);
}

/* Prepares reading the table's rows; *rows NULL with true: the file cannot be written and does not
 * have the table. */
static bool prepare(struct store *store, const struct record_table_info *table, const char *tail,
                    sqlite3_stmt **rows, struct err *err)
{
    struct buf sql = {0};
    bool exists = false;
    bool is_whole = false;
    *rows = NULL;
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

static void note_skipped(struct store *store, const struct record_table_info *table,
                         sqlite3_stmt *row, struct arena *arena)
{
    skipped_add(&store->skipped, table->name, true, sqlite3_column_int64(row, 0));
    for (unsigned i = 0; i < table->shape->stored; i++) {
        const struct record_field *field = &table->shape->fields[i];
        if ((field->flags & RECORD_UNIQUE) != 0)
            skipped_take(&store->skipped, table->put, i,
                         read_value(field, row, (int)i + 1, arena).text);
    }
}

static bool load_table(struct store *store, const struct record_table_info *table, store_sink *sink,
                       void *cls, struct err *err)
{
    sqlite3_stmt *rows;
    if (!prepare(store, table, "ORDER BY t.id", &rows, err))
        return false;
    if (rows == NULL)
        return true;
    struct arena *arena = arena_create();
    int rc;
    while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
        const struct record *record = read_row(table, rows, arena);
        if (record != NULL)
            sink(cls, &(struct change){.kind = table->put, .row = {record->id, record}});
        else
            note_skipped(store, table, rows, arena);
        arena_reset(arena);
    }
    if (rc != SQLITE_DONE)
        store_read_failed(store, err);
    sqlite3_finalize(rows);
    arena_destroy(arena);
    return rc == SQLITE_DONE;
}

bool store_load_rows(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    for (int i = 0; i < RECORD_TABLE_COUNT; i++)
        if (!load_table(store, &record_tables[i], sink, cls, err))
            return false;
    return true;
}

bool store_reread_row(struct store *store, enum record_table at, int64_t id,
                      struct change_list *list, struct err *err)
{
    const struct record_table_info *table = &record_tables[at];
    sqlite3_stmt **rows = &store->row_statements[at];
    if (*rows == NULL && !prepare(store, table, "WHERE t.id = ?1", rows, err))
        return false;
    const struct record *record = NULL;
    int rc = SQLITE_DONE;
    if (*rows != NULL) {
        sqlite3_bind_int64(*rows, 1, id);
        rc = sqlite3_step(*rows);
        if (rc == SQLITE_ROW)
            record = read_row(table, *rows, list->arena);
        else if (rc != SQLITE_DONE)
            store_read_failed(store, err);
        sqlite3_reset(*rows);
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return false;
    struct change *change = change_append(list, record == NULL ? table->delete : table->put);
    change->row = (struct change_row){id, record};
    return true;
}

static int record_rows_compare_ids(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static bool follow_table(struct store *store, enum record_table at, struct change_list *list,
                         struct err *err)
{
    const struct log_entries *entries = &store->transaction.to_follow;
    int64_t *ids = arena_array(list->arena, entries->count, sizeof(*ids));
    size_t count = 0;
    for (size_t i = 0; i < entries->count; i++)
        if (entries->data[i].kind == record_tables[at].log)
            ids[count++] = entries->data[i].id;
    if (count > 0)
        qsort(ids, count, sizeof(*ids), record_rows_compare_ids);
    for (size_t i = 0; i < count; i++)
        if ((i == 0 || ids[i] != ids[i - 1]) && !store_reread_row(store, at, ids[i], list, err))
            return false;
    return true;
}

bool store_follow_rows(struct store *store, struct change_list *list, struct err *err)
{
    for (int i = 0; i < RECORD_TABLE_COUNT; i++)
        if (!follow_table(store, (enum record_table)i, list, err))
            return false;
    return true;
}
