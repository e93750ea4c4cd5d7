/* A column of SQLite may contain a value of any type. sqlite3_column_value() takes the connection's
 * mutex once for each column, and the functions on a value take none: they may be used because only
 * one thread uses the connection. Any one thread. */
#include "store/sqlite/cells.h"

#include <string.h>

void cells_begin(struct cells *cells, enum rows_table table)
{
    cells->count = rows_cell_kinds(table, cells->kinds);
    cells->time.us = 0;
}

static struct slice text_of(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return (struct slice){text, text == NULL ? 0 : (size_t)sqlite3_value_bytes(value)};
}

static int64_t read_time(struct instant_text *last, struct slice text)
{
    if (text.len != INSTANT_LEN)
        return instant_parse(text);
    if (last->us == 0 || memcmp(last->text, text.data, INSTANT_LEN) != 0) {
        last->us = instant_parse(text);
        memcpy(last->text, text.data, INSTANT_LEN);
    }
    return last->us;
}

static void read_cell(struct instant_text *last, sqlite3_value *value, enum cell_kind kind,
                      struct cell *cell)
{
    int type = sqlite3_value_type(value);
    cell->is_null = true;
    cell->text = (struct slice){NULL, 0};
    if (type == SQLITE_NULL)
        return;
    switch (kind) {
    case CELL_INTEGER:
        if (type != SQLITE_INTEGER)
            return;
        cell->integer = sqlite3_value_int64(value);
        break;
    case CELL_NUMBER:
        cell->integer = sqlite3_value_int64(value);
        break;
    case CELL_RATIO:
        if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
            return;
        cell->ratio = sqlite3_value_double(value);
        break;
    case CELL_TEXT:
        if (type != SQLITE_TEXT)
            return;
        cell->text = text_of(value);
        break;
    case CELL_TIME:
        if (type != SQLITE_TEXT)
            return;
        cell->integer = read_time(last, text_of(value));
        cell->is_null = cell->integer == 0;
        return;
    }
    cell->is_null = false;
}

void cells_read(struct cells *cells, sqlite3_stmt *row)
{
    for (unsigned i = 0; i < cells->count; i++)
        read_cell(&cells->time, sqlite3_column_value(row, (int)i), (enum cell_kind)cells->kinds[i],
                  &cells->at[i]);
}
