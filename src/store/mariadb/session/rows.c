/* Results are copied as their rows arrive, so that their size can be limited, and none of them
 * keeps anything of the connection. What the server sends is not trusted to be what the caller
 * expects: a wrong type, form or position is reported as no value. Any thread. */
#include "store/mariadb/session/rows.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

struct mariadb_cell {
    size_t at; /* in `bytes` */
    size_t len;
    bool is_null;
};

void mariadb_rows_free(struct mariadb_rows *rows)
{
    buf_free(&rows->bytes);
    buf_free(&rows->types);
    free(rows->cells);
    *rows = (struct mariadb_rows){0};
}

void mariadb_rows_clear(struct mariadb_rows *rows)
{
    rows->bytes.len = 0;
    rows->cells_n = 0;
}

void mariadb_rows_begin(struct mariadb_rows *rows, MYSQL_RES *result)
{
    unsigned columns = mysql_num_fields(result);
    const MYSQL_FIELD *fields = mysql_fetch_fields(result);
    mariadb_rows_clear(rows);
    rows->types.len = 0;
    rows->affected = rows->insert_id = 0;
    for (unsigned i = 0; i < columns; i++)
        buf_append_char(&rows->types, (char)fields[i].type);
}

void mariadb_rows_append(struct mariadb_rows *rows, MYSQL_ROW row, const unsigned long *lengths)
{
    size_t columns = rows->types.len;
    if (rows->cells_room - rows->cells_n < columns) {
        rows->cells_room = 2 * rows->cells_room + columns;
        rows->cells = reallocarray(rows->cells, rows->cells_room, sizeof(*rows->cells));
        check(rows->cells != NULL);
    }
    for (size_t i = 0; i < columns; i++) {
        size_t len = row[i] == NULL ? 0 : lengths[i];
        rows->cells[rows->cells_n++] =
            (struct mariadb_cell){.at = rows->bytes.len, .len = len, .is_null = row[i] == NULL};
        buf_append(&rows->bytes, row[i], len);
        buf_append_char(&rows->bytes, '\0');
    }
}

size_t mariadb_rows_count(const struct mariadb_rows *rows)
{
    return rows->types.len == 0 ? 0 : rows->cells_n / rows->types.len;
}

struct slice mariadb_rows_bytes(const struct mariadb_rows *rows, size_t row, size_t column)
{
    if (row >= mariadb_rows_count(rows) || column >= rows->types.len)
        return (struct slice){0};
    const struct mariadb_cell *cell = &rows->cells[row * rows->types.len + column];
    return cell->is_null ? (struct slice){0}
                         : (struct slice){rows->bytes.data + cell->at, cell->len};
}

static unsigned type_of(const struct mariadb_rows *rows, size_t column)
{
    return (unsigned char)rows->types.data[column];
}

static bool is_int_type(unsigned type)
{
    return type == MYSQL_TYPE_TINY || type == MYSQL_TYPE_SHORT || type == MYSQL_TYPE_INT24 ||
           type == MYSQL_TYPE_LONG || type == MYSQL_TYPE_LONGLONG || type == MYSQL_TYPE_YEAR ||
           type == MYSQL_TYPE_NEWDECIMAL;
}

static bool is_float_type(unsigned type)
{
    return type == MYSQL_TYPE_FLOAT || type == MYSQL_TYPE_DOUBLE || type == MYSQL_TYPE_NEWDECIMAL;
}

static bool begins_number(struct slice text)
{
    return text.len > 0 && (text.data[0] == '-' || isdigit((unsigned char)text.data[0]));
}

bool mariadb_rows_int(const struct mariadb_rows *rows, size_t row, size_t column, int64_t *value)
{
    struct slice text = mariadb_rows_bytes(rows, row, column);
    if (text.data == NULL || !is_int_type(type_of(rows, column)) || !begins_number(text))
        return false;
    char *end;
    errno = 0;
    *value = strtoll(text.data, &end, 10);
    return end == text.data + text.len && errno == 0;
}

bool mariadb_rows_float(const struct mariadb_rows *rows, size_t row, size_t column, double *value)
{
    struct slice text = mariadb_rows_bytes(rows, row, column);
    if (text.data == NULL || !is_float_type(type_of(rows, column)) || !begins_number(text))
        return false;
    char *end;
    *value = strtod(text.data, &end);
    return end == text.data + text.len;
}
