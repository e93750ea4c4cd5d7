/* Binds rows of our own tables of records to the statements that write them. Writer thread, inside
 * its transaction. */
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

void sqlite_bind_row(struct sqlite_store *store, sqlite3_stmt *statement,
                     const struct change *change)
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
            sqlite_bind_instant(store, statement, at, number);
            break;
        case RECORD_REFERENCE:
            bind_number(statement, at, number, number);
            break;
        case RECORD_DERIVED:
            check(false);
        }
    }
}
